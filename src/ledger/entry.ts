import type { Brand } from '../common/brand.ts'
import type { UnixMs } from '../common/time.ts'
import type { Amount } from './amount.ts'
import type { CurrencyId } from './currencies.ts'

/** A caller (`uid`): 1 to 2^53−1. */
export type Uid = Brand<number, 'Uid'>
/** A wallet (`wid`): one per caller and currency. */
export type WalletId = Brand<number, 'WalletId'>
/** Id of a ledger entry. Newer entries have higher ids. */
export type EntryId = Brand<number, 'EntryId'>

/** The reasons why a balance changes, by their number in the interface. 6 to 8 are not used. */
export const entryTypes = { recharge: 1, withdraw: 2, transfer: 3, payment: 4, refund: 5, adjustment: 9 } as const
/** One of `entryTypes`. */
export type EntryType = (typeof entryTypes)[keyof typeof entryTypes]

/** Longest `osn`, in characters. */
export const osnCharsMax = 200
/** The characters of an `osn`: printable ASCII. */
export const osnForm = /^[\x20-\x7e]+$/

/** The name of a backend. */
export type BackendName = Brand<string, 'BackendName'>

/** What a backend's name is. */
export const backendNameTakes = 'a name of 1 to 64 letters, digits, ".", "_" or "-"'

/** The name of a backend, or null for any other value. */
export function parseBackendName(value: unknown): BackendName | null {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? (value as BackendName) : null // safe: this is the definition
}

/** One ledger entry. `amount` is signed; `balance` is the balance of the wallet after the entry. */
export interface Entry {
  readonly id: EntryId
  readonly uid: Uid
  readonly wid: WalletId
  readonly osn: string
  readonly type: EntryType
  readonly cuy: CurrencyId
  readonly amount: Amount
  readonly balance: Amount
  readonly mark: string
  readonly createdAt: UnixMs
  /** The name of the backend that posted it; empty for a recharge. */
  readonly by: BackendName | ''
}
