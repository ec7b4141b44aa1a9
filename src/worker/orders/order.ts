import type { Address } from '../chain/address.ts'
import type { Position, Txid } from '../chain/block.ts'
import type { OrderId } from '../common/ids.ts'
import type { OrderState } from '../common/order-states.ts'
import type { OrderRow } from './lifecycle.ts'

/** A deposit of an order: it counts, or will once it is credited, unless the order is cancelled. */
export interface OrderDeposit {
  readonly txid: Txid
  readonly position: Position
  readonly state: 'seen' | 'held' | 'credited'
  /** Ledger units: what is credited, or what would be. */
  readonly amount: bigint
}

/** An order as answers show it, with its deposits from the oldest on. */
export interface Order extends OrderRow {
  readonly address: Address
  /** Sum of what was seen and will count once it is credited, in ledger units. */
  readonly seen: bigint
  readonly deposits: readonly OrderDeposit[]
}

/** At most this many deposits of an order are shown: the newest ones. */
export const orderDepositsMax = 50

/**
 * Selects orders by every member that is present: those of a user, with a reference, in a state, at
 * an address, and with an id below `before`.
 */
export interface OrderSelection {
  readonly uid?: OrderRow['uid'] | undefined
  readonly order?: string | undefined
  readonly state?: OrderState | undefined
  readonly address?: Address | undefined
  readonly before?: OrderId | undefined
  /** The size of the page; `pageRowsDefault` if absent. */
  readonly limit?: number | undefined
}
