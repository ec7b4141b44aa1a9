/**
 * The form of an exact decimal number, as the service writes amounts: no exponent, no plus sign.
 */
export const decimalForm = /^-?\d{1,80}(?:\.\d{1,80})?$/

/** The number of digits after the point, with zeros at the end; 0 without a point. */
export const decimalsOf = (decimal: string): number => decimal.split('.')[1]?.length ?? 0

/**
 * The value in units of 10^-`decimals`. It is exact unless `decimal` has more digits after the
 * point than `decimals`: these are cut off.
 */
export function unitsOf(decimal: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}

/** Whether the number is zero, also as `0.00` or `-0`. */
export const isZero = (decimal: string): boolean => !/[1-9]/.test(decimal)

/** `from` minus `taken`, exactly. */
export function difference(from: string, taken: string): string {
  const decimals = Math.max(decimalsOf(from), decimalsOf(taken))
  return decimalText(unitsOf(from, decimals) - unitsOf(taken, decimals), decimals)
}

/** The exact sum of decimals; `0` if there are none. */
export function sumOf(amounts: readonly string[]): string {
  const decimals = Math.max(0, ...amounts.map(decimalsOf))
  return decimalText(
    amounts.reduce((sum, amount) => sum + unitsOf(amount, decimals), 0n),
    decimals,
  )
}

/** Writes a value in units of 10^-`decimals` as a decimal, without zeros at its end. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`
}
