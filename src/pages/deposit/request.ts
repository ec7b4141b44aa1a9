import { decimalForm, decimalsOf, decimalText, isZero, unitsOf } from '../kit/decimal.ts'
import { isSafeLink } from '../kit/loopback.ts'
import { type Members, readForm, readInteger, readMembers, readText } from '../kit/read.ts'
import { type Arrival, isCreditable, type Offer, type OfferedCurrency } from './data.ts'

/** A payment that a backend asks for: the claim `deposit` of a token. */
export interface PaymentRequest {
  readonly cuy: number
  /** In whole units; null for any amount. */
  readonly amount: string | null
  readonly order: string | null
  /** Only transfers found from this time on count, in milliseconds since 1970. */
  readonly since: number
  /** The URL to which the payer returns after paying. */
  readonly back: string | null
}

/**
 * A `since` from here on must be in milliseconds by mistake: as seconds it would be after the year
 * 5000.
 */
const secondsEnd = 1e11
const orderCharsMax = 100

/** A request that cannot be read. */
export interface UnreadableRequest {
  /** The claim that is malformed. */
  readonly member: string
  /** The URL of the site that made the request, to which the payer can return. */
  readonly back: string | null
}

const names = ['cuy', 'amt', 'order', 'since', 'return']

/**
 * Parses the request in the claims of a token; null if there is none. A link back to another origin
 * than these is left out, and the console says so.
 */
export function readRequest(
  claims: Members | null,
  origins: readonly string[],
): PaymentRequest | UnreadableRequest | null {
  if (claims?.deposit === undefined) return null
  let member = 'deposit'
  let back: string | null = null
  try {
    const deposit = readMembers(claims.deposit)
    if (isBelow(deposit.return, origins)) back = deposit.return
    else if (deposit.return !== undefined) {
      // biome-ignore lint/suspicious/noConsole: nothing else tells a backend's developer
      console.warn(`deposit.return is left out, because it is no https URL of PAGE_ORIGINS: ${deposit.return}`)
    }
    const read = <Value>(name: string, parse: (value: unknown) => Value): Value => {
      member = `deposit.${name}`
      return parse(deposit[name])
    }
    for (const name of Object.keys(deposit)) if (!names.includes(name)) read(name, refuse)
    return {
      cuy: read('cuy', readInteger),
      amount: read('amt', readAmount),
      order: read('order', readOrder),
      since: read('since', readSince),
      back,
    }
  } catch {
    return { member, back }
  }
}

function refuse(): never {
  throw new TypeError('not of its form')
}

function readAmount(amt: unknown): string | null {
  if (amt === undefined) return null
  const amount = readForm(amt, decimalForm)
  return amount.startsWith('-') || isZero(amount) ? refuse() : amount
}

/**
 * The reference of an order as text, which the token may also have as a number; null if it is
 * absent.
 */
function readOrder(order: unknown): string | null {
  if (order === undefined) return null
  const text = readText(typeof order === 'number' ? String(readInteger(order)) : order)
  return text.length < 1 || text.length > orderCharsMax ? refuse() : text
}

function readSince(since: unknown = 0): number {
  return typeof since !== 'number' || since < 0 || since >= secondsEnd ? refuse() : since * 1_000
}

/** Whether a value is a URL of one of these origins. */
function isBelow(address: unknown, origins: readonly string[]): address is string {
  return typeof address === 'string' && isSafeLink(address) && origins.includes(new URL(address).origin)
}

/**
 * The claim of a request that does not fit what the service offers: an unknown currency, or too
 * many decimals. Null if all fit.
 */
export function misfitOf({ cuy, amount }: PaymentRequest, { list }: Offer): string | null {
  const currency = list.find((one) => one.cuy === cuy)
  if (currency === undefined) return 'deposit.cuy'
  return amount !== null && decimalsOf(amount) > currency.scale ? 'deposit.amt' : null
}

/** How much of a request is paid. Amounts are in whole units. */
export interface Progress {
  readonly credited: string
  /** The amount that is seen on the chain, but not final yet. */
  readonly seen: string
  /** The amount that is neither credited nor seen. */
  readonly missing: string
  /** The amount credited beyond the request. */
  readonly over: string
  readonly state: 'unpaid' | 'partly paid' | 'on its way' | 'paid'
}

/**
 * How much of the requested amount `asked` these transfers pay. Transfers before `since` or in
 * another currency do not count, and seen ones count only while deposits in the currency can be
 * credited.
 */
export function progressOf(
  { cuy, since }: PaymentRequest,
  asked: string,
  currency: OfferedCurrency,
  arrivals: readonly Arrival[],
): Progress {
  const { scale } = currency
  const counted = arrivals.filter((one) => one.cuy === cuy && Date.parse(one.created_at) >= since)
  // The amount of a seen transfer has the decimals of the chain. Digits beyond those of the ledger
  // are cut off, as they are when it is credited.
  const sum = (state: Arrival['state']) =>
    counted.filter((one) => one.state === state).reduce((total, { amt }) => total + unitsOf(amt, scale), 0n)
  const credited = sum('credited')
  const seen = isCreditable(currency) ? sum('seen') : 0n
  const left = unitsOf(asked, scale) - credited
  const missing = left > seen ? left - seen : 0n
  const text = (units: bigint) => decimalText(units, scale)
  const hasAny = credited > 0n || seen > 0n
  return {
    credited: text(credited),
    seen: text(seen),
    missing: text(missing),
    over: text(left < 0n ? -left : 0n),
    state: left <= 0n ? 'paid' : missing === 0n ? 'on its way' : hasAny ? 'partly paid' : 'unpaid',
  }
}
