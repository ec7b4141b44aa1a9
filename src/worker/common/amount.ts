import type { Brand } from './ids.ts'
import { err, ok, type Result } from './result.ts'

/** A ledger amount: signed, within ±(2^53−1), in units of 10^−`scale` of its currency. */
export type Amount = Brand<bigint, 'Amount'>

/** Largest ledger amount. D1 returns integers as doubles, which lose digits above this. */
export const amountMax = 9_007_199_254_740_991n

export const noAmount = 0n as Amount // safe: within the bound

/** Checks that `units` is within ±(2^53−1); null if it is not. */
export function toAmount(units: bigint): Amount | null {
  return units <= amountMax && units >= -amountMax ? (units as Amount) : null // safe: the bound is the definition
}

/**
 * Writes an integer of smallest units as a decimal number of whole units: exact, without exponent
 * and trailing zeros. `formatUnits(25_000_000n, 6)` is `25`; `formatUnits(-1n, 6)` is `-0.000001`.
 */
export function formatUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

export type AmountFault = 'not-a-decimal' | 'too-many-decimals'

/**
 * Parses a non-negative decimal of whole units (`"1.5"`) to smallest units. Excess decimals are
 * refused, not rounded.
 */
export function parseUnits(text: string, decimals: number): Result<bigint, AmountFault> {
  const match = /^(0|[1-9]\d{0,77})(?:\.(\d{1,78}))?$/.exec(text)
  if (match === null) return err('not-a-decimal')
  const [, whole = '0', fraction = ''] = match
  if (fraction.length > decimals) return err('too-many-decimals')
  return ok(BigInt(whole + fraction.padEnd(decimals, '0')))
}

/**
 * Longest text that is parsed as a ledger amount, in characters. An amount needs 18 with point and
 * sign, and may have zeros around it.
 */
export const amountCharsMax = 80

export type SignedAmountFault = AmountFault | 'out-of-range'

/**
 * Parses a decimal of whole units with an optional minus sign (`"-2.50"`) to a ledger amount.
 * Trailing zeros do not count as decimals. An exponent, a plus sign and excess decimals are
 * refused.
 */
export function parseAmount(text: string, scale: number): Result<Amount, SignedAmountFault> {
  const match = text.length > amountCharsMax ? null : /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) return err('not-a-decimal')
  const [, sign = '', whole = '', decimals = ''] = match
  const fraction = decimals.replace(/0+$/, '')
  if (fraction.length > scale) return err('too-many-decimals')
  const units = BigInt(whole + fraction.padEnd(scale, '0'))
  const amount = toAmount(sign === '-' ? -units : units)
  return amount === null ? err('out-of-range') : ok(amount)
}

/** TRX has 6 decimals: 1 TRX is 1,000,000 sun (java-tron `Parameter`). */
export const trxDecimals = 6
/** Writes sun as a decimal number of TRX. */
export const formatTrx = (sun: bigint | string) => formatUnits(BigInt(sun), trxDecimals)

/**
 * `JSON.parse` whose function also gets the digits of a number as they were sent (TC39, source text
 * access). TypeScript has no type for that yet.
 */
export const parseWithSource = JSON.parse as (
  text: string,
  revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

/**
 * Parses JSON, but returns each number named `amt` as the text of its digits, so that no amount
 * becomes a double. Throws as `JSON.parse` does.
 */
export function parseAmountsAsText(text: string): unknown {
  return parseWithSource(text, (name, value, { source }) => {
    return name === 'amt' && typeof value === 'number' ? source : value
  })
}

const longNumber = /(?:^|[[:,\s])-?\d{16}/

/**
 * Parses JSON, but returns each integer that a double may not hold as a bigint. Throws as
 * `JSON.parse` does.
 */
export function parseIntegersExactly(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text)
  return parseWithSource(text, (_name, value, { source = '' }) => {
    return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value
  })
}
