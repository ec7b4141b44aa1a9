const quantity = /^0x(?:0+|0*[1-9a-fA-F][0-9a-fA-F]{0,63})$/
/** Characters of the longest quantity that is read: 256 digits, most of them leading zeros. */
const charactersMax = 258

/**
 * Whether a value is a `0x` quantity below 2^256. Leading zeros are legal. `0x` alone means that a field has no value, so
 * it is no quantity (PROTOCOL.md, Numbers and fields).
 */
function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && value.length <= charactersMax && quantity.test(value)
}

/** The number in a quantity, or null where the value is none. */
export function parseQuantity(value: unknown): bigint | null {
  return isQuantity(value) ? BigInt(value) : null
}

/** A quantity that is a height, an index or a time: as `parseQuantity`, and null from 2^53 on. */
export function parseSmallQuantity(value: unknown): number | null {
  const number = isQuantity(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : null
}

/** Whether a quantity equals `expected`. The usual spelling is compared as text, since this runs for each transaction and log. */
export function isQuantityOf(value: unknown, expected: number): boolean {
  return value === formatQuantity(expected) || parseSmallQuantity(value) === expected
}

/** A height, index or count as a quantity. */
export function formatQuantity(value: number): string {
  return `0x${value.toString(16)}`
}
