import type { BackendName, CurrencyId, EntryId, EntryType, Uid, WalletId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { Amount } from '../common/amount.ts'

/** Longest `osn`, in characters. */
export const osnCharsMax = 200
/** The characters of an `osn`: printable ASCII. */
export const osnForm = /^[\x20-\x7e]+$/

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
