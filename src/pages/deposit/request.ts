import { decimalForm, decimalsOf, decimalText, isZero, unitsOf } from '../kit/decimal.ts'
import { type Members, readForm, readInteger, readMembers, readText } from '../kit/read.ts'
import type { Arrival, Offer, OfferedCurrency } from './data.ts'

/** What a backend asks to be paid: the member `deposit` of the claims of a token. */
export interface PaymentRequest {
  readonly cuy: number
  /** In whole units; null for any amount. */
  readonly amount: string | null
  readonly order: string | null
  /** Only what was found from then on counts, in milliseconds since 1970. */
  readonly since: number
  /** Where the payer goes when it is paid. */
  readonly back: string | null
}

/** Later than any time in seconds, and earlier than any in milliseconds. */
const secondsEnd = 1e11
const orderCharsMax = 100

/** The request in the claims of a token, null without one of exactly its form. `origins`: where it may lead back to. */
export function readRequest(claims: Members | null, origins: readonly string[]): PaymentRequest | null {
  if (claims?.deposit === undefined) return null
  try {
    const { cuy, amt, order, since = 0, return: back } = readMembers(claims.deposit)
    if (typeof since !== 'number' || since < 0 || since >= secondsEnd) return null
    const amount = amt === undefined ? null : readForm(amt, decimalForm)
    if (amount !== null && (amount.startsWith('-') || isZero(amount))) return null
    return {
      cuy: readInteger(cuy),
      amount,
      order: order === undefined ? null : readOrder(order),
      since: since * 1_000,
      back: typeof back === 'string' && isBelow(back, origins) ? back : null,
    }
  } catch {
    return null
  }
}

/** A text or a number of at most so many characters. */
function readOrder(order: unknown): string {
  const text = readText(typeof order === 'number' ? String(readInteger(order)) : order)
  if (text.length < 1 || text.length > orderCharsMax) throw new TypeError('not an order')
  return text
}

/** Whether an address is an https URL of one of these origins. */
function isBelow(address: string, origins: readonly string[]): boolean {
  try {
    const { protocol, origin } = new URL(address)
    return protocol === 'https:' && origins.includes(origin)
  } catch {
    return false
  }
}

/** The currency of a request; null where the service has none for it: then there is no request. */
export function currencyOf(request: PaymentRequest, offer: Offer): OfferedCurrency | null {
  const currency = offer.currencies.find(({ cuy }) => cuy === request.cuy) ?? null
  if (currency === null) return null
  return request.amount !== null && decimalsOf(request.amount) > currency.scale ? null : currency
}

/** How far a request is paid. Amounts are in whole units. */
export interface Progress {
  readonly credited: string
  /** Found, and not final yet. */
  readonly seen: string
  /** What has to be sent yet: neither credited nor found. */
  readonly missing: string
  /** What is credited beyond the request. */
  readonly over: string
  readonly state: 'unpaid' | 'partly paid' | 'on its way' | 'paid'
}

/** How far transfers pay a request for this amount. */
export function progressOf(
  { cuy, since }: PaymentRequest,
  asked: string,
  { scale, isOpen }: OfferedCurrency,
  arrivals: readonly Arrival[],
): Progress {
  const counted = arrivals.filter((one) => one.cuy === cuy && Date.parse(one.at) >= since)
  // What is only seen has the decimals of the chain: what the ledger does not keep is left out.
  const sum = (state: Arrival['state']) =>
    counted.filter((one) => one.state === state).reduce((total, { amount }) => total + unitsOf(amount, scale), 0n)
  const credited = sum('credited')
  const seen = isOpen ? sum('seen') : 0n
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
