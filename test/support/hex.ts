/** A `0x` quantity without leading zeros. */
export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** Hex digits without a `0x` prefix. */
export function strip0x(hex: string): string {
  return hex.startsWith('0x') ? hex.slice(2) : hex
}
