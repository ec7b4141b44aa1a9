import type { Brand } from '../common/brand.ts'
import type { UnixMs } from '../common/time.ts'
import type { Amount } from './amount.ts'
import type { CurrencyId } from './currencies.ts'

/** The caller a wallet belongs to: 1 to 2^53−1. */
export type Uid = Brand<number, 'Uid'>
/** One wallet per user and currency (`wid`). */
export type WalletId = Brand<number, 'WalletId'>
/** A ledger entry's id, growing. */
export type FlowId = Brand<number, 'FlowId'>

/** What moved a balance, as numbered in the contract. 6 to 8 are not used. */
export const flowTypes = { recharge: 1, withdraw: 2, transfer: 3, payment: 4, refund: 5, adjustment: 9 } as const
export type FlowType = (typeof flowTypes)[keyof typeof flowTypes]

/** One ledger entry. `amount` is signed; `balance` is the wallet's after it. */
export interface Flow {
  readonly id: FlowId
  readonly uid: Uid
  readonly wid: WalletId
  readonly osn: string
  readonly type: FlowType
  readonly cuy: CurrencyId
  readonly amount: Amount
  readonly balance: Amount
  readonly mark: string
  readonly createdAt: UnixMs
}
