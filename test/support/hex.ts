/** A number as JSON-RPC writes it: `0x` and hex digits without leading zeros. */
export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** The digits without a leading `0x`, if there is one. */
export function strip0x(hex: string): string {
  return hex.startsWith('0x') ? hex.slice(2) : hex
}
