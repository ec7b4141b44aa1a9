/** The form of an exact decimal number, as the service writes amounts: no exponent, no plus sign. */
export const decimalForm = /^-?\d{1,80}(?:\.\d{1,80})?$/

/** How many decimals it has. */
export const decimalsOf = (decimal: string): number => decimal.split('.')[1]?.length ?? 0

/** Its value in units of 10^-`decimals`: exact, where it has no more decimals than that. */
export function unitsOf(decimal: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}

/** Whether it is zero, whatever its form. */
export const isZero = (decimal: string): boolean => !/[1-9]/.test(decimal)

/** One decimal less another: exact. */
export function difference(from: string, taken: string): string {
  const decimals = Math.max(decimalsOf(from), decimalsOf(taken))
  return decimalText(unitsOf(from, decimals) - unitsOf(taken, decimals), decimals)
}

/** Decimals added up: exact. */
export function sumOf(amounts: readonly string[]): string {
  const decimals = Math.max(0, ...amounts.map(decimalsOf))
  return decimalText(
    amounts.reduce((sum, amount) => sum + unitsOf(amount, decimals), 0n),
    decimals,
  )
}

/** A value in units of 10^-`decimals` as a decimal, without zeros at its end. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`
}
