import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Uid } from '../common/ids.ts'

/** An address that was issued to a caller. `index` is the last step of its derivation path. */
export interface IssuedAddress {
  readonly id: number
  readonly uid: Uid
  readonly index: number
  readonly address: Address
}

/** The caller of an address. */
export interface AddressOwner {
  readonly uid: Uid
  /** The finalized height when the address was issued. What was final then is not this caller's. */
  readonly issuedHeight: BlockHeight
}

/** Why no address was issued. */
export type IssueRefusal = 'gap-limit'

/** All issued addresses. They are never changed or removed. */
export interface AddressBook {
  /** The caller's newest address, or null where none was issued yet. One query. */
  current(uid: Uid): Promise<IssuedAddress | null>
  /** Whether no address was issued to any caller. */
  isEmpty(): Promise<boolean>
  /** All of the caller's addresses, oldest first. */
  all(uid: Uid): Promise<readonly IssuedAddress[]>
  /**
   * The caller's first address. `addressAt` derives the address of an index. Two calls at once for one caller issue one
   * address; two callers never share one; indices grow from the first one without gaps. The scan must have started.
   */
  issueFirst(uid: Uid, addressAt: (index: number) => Address): Promise<IssuedAddress>
  /** A further address, unless `gapLimit` of the caller's addresses are without a deposit. */
  issueFurther(uid: Uid, addressAt: (index: number) => Address, gapLimit: number): Promise<IssuedAddress | IssueRefusal>
  /** Which of `addresses` were issued, and to which caller. One trip to the database, two at most, whatever their number. */
  match(addresses: readonly Address[]): Promise<ReadonlyMap<Address, AddressOwner>>
}
