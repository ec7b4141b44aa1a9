import type { Address } from '../addresses/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { CurrencyId } from '../ledger/currencies.ts'
import type { AcceptedDifference, RecordedBalance, SuspectedDifference } from './judge-reading.ts'

/** One comparison of all addresses in one currency, slice by slice over as many ticks and days as it takes. */
export interface ReconciliationRun {
  readonly id: number
  readonly cuy: CurrencyId
  readonly startedAt: UnixMs
  /** Null while addresses are left. */
  readonly finishedAt: UnixMs | null
  /** Turns stored so far, those after its end included. */
  readonly slices: number
  /** Index of the last address that was compared; -1 before the first. */
  readonly cursor: number
  /** Index of the last address that there was when the run started. */
  readonly lastIndex: number
  /** Addresses compared so far. */
  readonly addresses: number
  /** What the books held of them, in chain units. */
  readonly recorded: bigint
  /** What they held on the chain, in chain units. */
  readonly onChain: bigint
  /** How many of them differed by more than fees. */
  readonly differing: number
}

/** A balance that was read while the chain was somewhere above `low` and at most at `high`. */
export interface BalanceReading {
  readonly balance: bigint
  readonly low: BlockHeight
  readonly high: BlockHeight
}

/** A difference under examination: its newest look isn't judged yet. */
export interface OpenDifference {
  readonly address: Address
  readonly suspicion: SuspectedDifference
  readonly reading: BalanceReading
}

/** An address and what is accepted of its difference. */
export interface AddressDifference {
  readonly address: Address
  readonly accepted: AcceptedDifference
}

/** What a turn has to do. */
export interface Slice {
  /** The currency's newest run. */
  readonly run: ReconciliationRun
  /** Differences whose look can be judged now: the scan is past all that it can have seen. */
  readonly due: readonly (OpenDifference & AddressDifference)[]
  /** The run's next addresses in the order of their indices, and whether each is under examination already. */
  readonly next: readonly (AddressDifference & { readonly index: number; readonly examined: boolean })[]
}

/** What a turn found: all of it is stored, or nothing. */
export interface SliceResult {
  /** How many turns the run had when this one began; any other number is `superseded`. */
  readonly after: number
  readonly run: ReconciliationRun
  /** New differences, and those with a new look. */
  readonly open: readonly OpenDifference[]
  /** Differences that are settled. */
  readonly closed: readonly Address[]
  readonly accepted: readonly AddressDifference[]
}

/** Which blocks a look can have seen, and of which address. */
export type ReadingSpan = Pick<BalanceReading, 'low' | 'high'> & { readonly address: Address }

/** What reconciliation keeps between ticks. Each method is one round trip. Nothing here ever moves a balance. */
export interface ReconciliationStore {
  /**
   * Of `asked`, the currencies for which there is something to do at a scan that stands at `position`: a run to go on
   * with, a look to judge, something to tell, or a run to start (none that started after `before`).
   */
  currenciesDue(asked: readonly CurrencyId[], before: UnixMs, position: BlockHeight): Promise<readonly CurrencyId[]>
  /** Starts a run at `at` where one is to start, and says what is to do. Null where no address was ever issued. */
  beginSlice(cuy: CurrencyId, at: UnixMs, before: UnixMs, position: BlockHeight): Promise<Slice | null>
  /** What is stored of addresses, exact at any size, in the order asked. */
  recordedBalances(cuy: CurrencyId, asked: readonly ReadingSpan[]): Promise<readonly RecordedBalance[]>
  /** Stores a turn. `superseded` where another one was stored since it began: nothing is counted twice. */
  storeSlice(result: SliceResult): Promise<'stored' | 'superseded'>
  /** Confirmed differences that changed since the operator was told, at most 20. */
  unreported(cuy: CurrencyId): Promise<readonly AddressDifference[]>
  /** Remembers that the operator was told; one that changed meanwhile stays untold. */
  markReported(cuy: CurrencyId, told: readonly AddressDifference[]): Promise<void>
}
