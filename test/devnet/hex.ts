/** Hex digits without `0x`, as they are otherwise. */
export function strip(hex: string): string {
  return hex.startsWith('0x') ? hex.slice(2) : hex
}

/** A `0x` quantity without leading zeros. */
export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** 32 bytes of zero. */
export const zero32 = `0x${'0'.repeat(64)}`
/** The bloom that every Tron block and receipt shows, whatever its logs. */
export const zeroBloom = `0x${'0'.repeat(512)}`
