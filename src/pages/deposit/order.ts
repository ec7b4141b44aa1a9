import { decimalText, unitsOf } from '../kit/decimal.ts'
import { isSafeLink } from '../kit/loopback.ts'
import { type Arrival, isCreditable, type OfferedCurrency, type PayerOrder } from './data.ts'

/**
 * The link of an order back to the site that made it; null if it has none, or if its URL is not one
 * of these origins, with https or on this machine.
 */
export function backOf({ return: back }: PayerOrder, origins: readonly string[]): string | null {
  return back !== null && isSafeLink(back) && origins.includes(new URL(back).origin) ? back : null
}

/**
 * How an order stands for its payer. `coming`: what is credited and seen is enough, and not all of
 * it is credited. `ended`: it has expired. Only `waiting` and `partly` ask for something.
 */
type OrderPhase = 'waiting' | 'partly' | 'coming' | 'paid' | 'ended' | 'cancelled'

/** How much of an order is paid. Amounts are in whole units. */
export interface Progress {
  readonly phase: OrderPhase
  readonly credited: string
  /** The amount that is seen on the chain, and not credited yet. */
  readonly seen: string
  /** Whether something of what is seen waits for a decision. */
  readonly isHeld: boolean
  /** The amount that is neither credited nor seen. It is asked for in phases that ask. */
  readonly missing: string
  /** The amount credited beyond the order. */
  readonly over: string
}

/**
 * How much of an order is paid at `now`, in milliseconds since 1970. What is seen counts only while
 * deposits in its currency can be credited. The page stops asking at `until` by itself, because the
 * service notes the end only with its next tick.
 */
export function progressOf(order: PayerOrder, currency: OfferedCurrency, now: number): Progress {
  const { scale } = currency
  const { state, until } = order
  const units = (amount: string) => unitsOf(amount, scale)
  const credited = units(order.credited)
  const seen = isCreditable(currency) ? units(order.seen) : 0n
  const sum = credited + seen
  const phase = (): OrderPhase => {
    if (state === 'paid' || state === 'cancelled') return state
    if (sum >= units(order.at_least)) return 'coming'
    if (state === 'expired' || Date.parse(until) <= now) return 'ended'
    return sum > 0n ? 'partly' : 'waiting'
  }
  const text = (units: bigint) => decimalText(units > 0n ? units : 0n, scale)
  return {
    phase: phase(),
    credited: text(credited),
    seen: text(seen),
    isHeld: order.deposits.some((one) => one.state === 'held'),
    missing: text(units(order.amt) - sum),
    over: text(credited - units(order.amt)),
  }
}

/** Whether a transfer counts for an order, or may count. */
export function countsFor({ address, cuy, deposits, state }: PayerOrder, arrival: Arrival): boolean {
  const isOwn = state !== 'cancelled' && arrival.address === address && arrival.cuy === cuy
  return isOwn && deposits.some(({ txid }) => txid === arrival.txid)
}

/** Whether a transfer came to the address of an order after the order was made. */
export function isOfOrder({ address, created_at }: PayerOrder, arrival: Arrival): boolean {
  return arrival.address === address && Date.parse(arrival.created_at) >= Date.parse(created_at)
}
