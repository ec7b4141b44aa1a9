import { knownCount } from '../kit/counted.ts'
import { type ListPage, readerOf, readForm, readMembers } from '../kit/read.ts'
import { depositsShape, entriesShape, offerShape, ownOrdersShape, ownPayoutsShape, walletsShape } from '../shapes.ts'

/** What the service accepts, from `GET /currencies`. */
export type Offer = ReturnType<typeof readOffer>
/** A currency of the service. A retired one is shown but not offered. */
export type OfferedCurrency = Offer['list'][number]
/**
 * A transfer to one of the user's addresses. `finalAt` is the estimated time of `performance.now()`
 * when it is final; null if nobody can estimate it.
 */
export type Arrival = ReturnType<typeof readDeposits>['list'][number] & { readonly finalAt: number | null }
/** An order of the user. Amounts are in whole units. */
export type PayerOrder = ReturnType<typeof readOrders>['list'][number]
/**
 * An entry of the user's ledger. Amounts are in whole units; `amt` is signed, and `balance` is that
 * after the entry.
 */
export type HistoryEntry = ReturnType<typeof readHistory>['list'][number]
/**
 * A payout to the user's own wallet. Its withdrawal in the history has the same currency and the
 * same `osn` (reference).
 */
export type OwnPayout = ReturnType<typeof readOwnPayouts>['list'][number]

/** Whether deposits in a currency can be credited now. */
export const isCreditable = ({ open, retired }: OfferedCurrency) => open && !retired

/**
 * Reads the data of `GET /currencies`. Like each reader here, throws a `TypeError` if the data is
 * malformed.
 */
export const readOffer = readerOf(offerShape)

/** A text without the form of an address is refused, so that it is never shown as one. */
const addressForm = /^T[1-9A-HJ-NP-Za-km-z]{33}$/

/** Reads the address in the data of `GET /tron/generate`. */
export const readAddress = (data: unknown): string => readForm(readMembers(data).address, addressForm)

const readOrders = readerOf(ownOrdersShape)

/** Reads the data of `GET /tron/orders` with an `order`: that order; null if the user has none. */
export function readPayerOrder(data: unknown): PayerOrder | null {
  const [order] = readOrders(data).list
  return order === undefined ? null : { ...order, address: readForm(order.address, addressForm) }
}

const readDeposits = readerOf(depositsShape)

/**
 * Reads the data of `GET /tron/deposits`. `count` is infinite if the service has stopped counting.
 */
export function readArrivals(data: unknown): ListPage<Arrival> {
  const { list, count } = readDeposits(data)
  const finalAt = (seconds: number | null) => (seconds === null ? null : performance.now() + seconds * 1_000)
  return {
    list: list.map((one) => ({ ...one, finalAt: finalAt(one.seconds) })),
    count: knownCount(count) ?? Number.POSITIVE_INFINITY,
  }
}

/** The answer to a held request for transfers. */
export interface HeldArrivals {
  /** What the next held request names; null if the service has held nothing. */
  readonly mark: string | null
  /** Null if nothing has changed. */
  readonly page: ListPage<Arrival> | null
}

/** Reads the data of `GET /tron/deposits` with `wait`. */
export function readHeldArrivals(data: unknown): HeldArrivals {
  const { mark, unchanged } = readMembers(data)
  const known = typeof mark === 'string' && /^[0-9a-z-]{1,40}$/.test(mark) ? mark : null
  return { mark: known, page: unchanged === true ? null : readArrivals(data) }
}

/** Reads the data of `GET /wallet/list`: the balance by the number of its currency. */
export function readWallets(data: unknown): ReadonlyMap<number, string> {
  return new Map(readBalances(data).list.map(({ cuy, amt }) => [cuy, amt]))
}

const readBalances = readerOf(walletsShape)

/** Reads the data of `GET /wallet/flow/list`. */
export const readHistory = readerOf(entriesShape)

/** Reads the data of `GET /tron/payouts`. */
export const readOwnPayouts = readerOf(ownPayoutsShape)
