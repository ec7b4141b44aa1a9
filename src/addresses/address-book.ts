import type { Uid } from '../ledger/entry.ts'
import type { Address } from './address.ts'

/** An address that was issued to a caller. `index` is the last step of its derivation path. */
export interface IssuedAddress {
  readonly id: number
  readonly uid: Uid
  readonly index: number
  readonly address: Address
}

/** Why no address was issued. */
export type IssueRefusal = 'gap-limit'

/** Every address ever issued. Rows are never changed or removed. */
export interface AddressBook {
  /** The caller's newest address, or null where none was issued yet. One query. */
  current(uid: Uid): Promise<IssuedAddress | null>
  /** All of the caller's addresses, oldest first. */
  all(uid: Uid): Promise<readonly IssuedAddress[]>
  /**
   * The caller's first address. `derive` gives the address of an index. Two calls at once for one caller issue one
   * address; two callers never share one; indices grow from 0 without holes.
   */
  issueFirst(uid: Uid, derive: (index: number) => Address): Promise<IssuedAddress>
  /** A further address, unless `gapLimit` of the caller's are without a deposit. */
  issueFurther(uid: Uid, derive: (index: number) => Address, gapLimit: number): Promise<IssuedAddress | IssueRefusal>
  /** Which of `addresses` were issued, and to whom. One query however many are asked for or were issued. */
  match(addresses: readonly Address[]): Promise<ReadonlyMap<Address, Uid>>
}
