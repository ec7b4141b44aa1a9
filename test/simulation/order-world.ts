import type { Address } from '../../src/worker/chain/address.ts'
import type { Random } from './random.ts'
import type { StoredOrder } from './stored.ts'

/**
 * An order as a backend asks for it. Amounts in ledger units, `until` in milliseconds since 1970.
 */
export interface SentOrder {
  readonly uid: number
  readonly cuy: number
  readonly order: string
  readonly amount: bigint
  readonly atLeast: bigint
  readonly until: number | null
  readonly take: boolean
  /**
   * Whether an answer has said that it is stored, and no older copy of the database was put back.
   */
  isAccepted: boolean
}

/** The orders that backends have asked for, in a run with orders. */
export interface OrderWorld {
  /** A stream of its own, so that orders change no other draw. */
  readonly random: Random
  /** Each order that was ever sent; a key can have several contents. */
  readonly sent: SentOrder[]
  /** Keys (`keyOf`) that a backend has tried to cancel. */
  readonly cancelled: Set<string>
  /** The addresses for orders that answers have shown. */
  readonly addresses: Set<Address>
}

export const createOrderWorld = (random: Random): OrderWorld => ({
  random,
  sent: [],
  cancelled: new Set(),
  addresses: new Set(),
})

/** The key of an order, as one text. */
export const keyOf = ({ uid, order }: { readonly uid: number; readonly order: string }) => `${uid} ${order}`

/** Whether the stored order has the content of the sent one. */
export const isContentOf = (stored: StoredOrder, sent: SentOrder): boolean =>
  stored.cuy === sent.cuy &&
  stored.amount === sent.amount &&
  stored.atLeast === sent.atLeast &&
  (stored.take === 1) === sent.take &&
  stored.until === (sent.until ?? stored.createdAt + dayMs)

const dayMs = 86_400_000
