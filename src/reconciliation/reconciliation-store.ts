import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { AcceptedDifference, RecordedBalance, SuspectedDifference } from './judge-reading.ts'

/** One comparison of all addresses in one currency, slice by slice, over as many ticks and days as it takes. */
export interface ReconciliationRun {
  readonly id: number
  readonly cuy: CurrencyId
  readonly startedAt: UnixMs
  /** Null while addresses are left. */
  readonly finishedAt: UnixMs | null
  /** Index of the last address that was compared; -1 before the first. */
  readonly cursor: number
  /** Index of the newest address at the start of the run. */
  readonly lastIndex: number
  /** Addresses compared so far. */
  readonly addresses: number
  /** The sum that is recorded of them, in chain units. */
  readonly recorded: bigint
  /** The sum of their balances on the chain, in chain units. */
  readonly onChain: bigint
  /** How many of them differ by more than fees. */
  readonly differing: number
}

/**
 * A balance and the blocks that it can include: all up to `fromHeight`, none above `toHeight`, and an unknown part of those
 * between.
 */
export interface BalanceReading {
  readonly balance: bigint
  readonly fromHeight: BlockHeight
  readonly toHeight: BlockHeight
}

/** A difference that is not confirmed yet, and its newest reading, which is not judged yet. */
export interface OpenDifference {
  readonly address: Address
  readonly suspicion: SuspectedDifference
  readonly reading: BalanceReading
}

/** An address and its accepted difference. */
export interface AddressDifference {
  readonly address: Address
  readonly accepted: AcceptedDifference
}

/** An address to compare. `open`: it has an open difference already. */
export interface ComparedAddress extends AddressDifference {
  readonly open: boolean
}

/** An address of which a deposit or movement was stored since it was last compared. */
export interface MovedAddress extends ComparedAddress {
  /** How many were stored. */
  readonly changes: number
}

/** The work of one slice. Each list has at most as many addresses as one slice can have. */
export interface Slice {
  /** The newest run of the currency. */
  readonly run: ReconciliationRun
  /** Open differences whose reading can be judged now: the scan has passed every block that it can include. */
  readonly due: readonly (OpenDifference & AddressDifference)[]
  /**
   * Addresses whose oldest change is in a block that each reading includes, oldest first. Those with an open difference
   * are left out until it is closed.
   */
  readonly moved: readonly MovedAddress[]
  /** The next addresses of the run by index. */
  readonly next: readonly (ComparedAddress & { readonly index: number })[]
}

/** The result of one slice. It is stored whole or not at all. */
export interface SliceResult {
  readonly run: ReconciliationRun
  /** New open differences, and those with a new reading. */
  readonly open: readonly OpenDifference[]
  /** Addresses whose open difference is removed. */
  readonly closed: readonly Address[]
  readonly accepted: readonly AddressDifference[]
  /** Addresses that were compared because they had moved, as the slice had them. */
  readonly moved: readonly Pick<MovedAddress, 'address' | 'changes'>[]
  /** The readings of these include every block up to this height. */
  readonly fromHeight: BlockHeight
}

/** An address and the blocks that a reading of its balance can include. */
export type ReadingSpan = Omit<BalanceReading, 'balance'> & { readonly address: Address }

/** The state of reconciliation between ticks. Each method is one round trip. None of them changes a wallet's balance. */
export interface ReconciliationStore {
  /** Takes the lease until `until` unless another tick has it at `at`. `lease` is the unique name of its owner. */
  acquireLease(lease: string, at: UnixMs, until: UnixMs): Promise<'acquired' | 'taken'>
  /** Releases the lease. A no-op where it was lost. */
  releaseLease(lease: string): Promise<void>
  /**
   * The currencies of `list` that have work while the scan is at `position`: a run to continue, a run to start (the last
   * one started at `before` or earlier), a moved address to compare, a reading to judge, or a difference to report.
   */
  currenciesDue(list: readonly CurrencyId[], before: UnixMs, position: BlockHeight): Promise<readonly CurrencyId[]>
  /** Starts a run at `at` where one is due, and returns the work of a slice. Null where no address was ever issued. */
  beginSlice(cuy: CurrencyId, at: UnixMs, before: UnixMs, position: BlockHeight): Promise<Slice | null>
  /** What is recorded of addresses, exact at any size, in the order of `spans`. */
  recordedBalances(cuy: CurrencyId, spans: readonly ReadingSpan[]): Promise<readonly RecordedBalance[]>
  /**
   * Stores a slice. A moved address is to be compared again where it has changed since the slice began, or where a change
   * is above `fromHeight`. `superseded` where `lease` was lost: nothing is stored.
   */
  storeSlice(lease: string, result: SliceResult): Promise<'stored' | 'superseded'>
  /** Differences whose confirmed amount changed since the last report, at most 20. */
  unreported(cuy: CurrencyId): Promise<readonly AddressDifference[]>
  /** Marks differences as reported, except for those that changed meanwhile. */
  markReported(cuy: CurrencyId, list: readonly AddressDifference[]): Promise<void>
}
