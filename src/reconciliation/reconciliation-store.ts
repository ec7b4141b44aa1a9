import type { Address } from '../addresses/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { CurrencyId } from '../ledger/currencies.ts'
import type { Baseline, Books, Suspicion } from './judge-reading.ts'
import type { UnixMs } from '../common/time.ts'

/** One comparison of all addresses in one currency, slice by slice over as many ticks and days as it takes. */
export interface Run {
  readonly id: number
  readonly cuy: CurrencyId
  readonly startedAt: UnixMs
  /** Null while addresses are left. */
  readonly finishedAt: UnixMs | null
  /** Turns stored so far, those after its end included. */
  readonly turns: number
  /** Index of the last address that was compared; -1 before the first. */
  readonly cursor: number
  /** Index of the last address that there was when the run started. */
  readonly through: number
  /** Addresses compared so far. */
  readonly addresses: number
  /** What the books held of them, in chain units. */
  readonly recorded: bigint
  /** What they held on the chain, in chain units. */
  readonly held: bigint
  /** How many of them differed by more than fees. */
  readonly differing: number
}

/** A balance that was read while the chain was somewhere above `low` and at most at `high`. */
export interface Look {
  readonly held: bigint
  readonly low: BlockHeight
  readonly high: BlockHeight
}

/** A difference under examination: its newest look isn't judged yet. */
export interface Difference {
  readonly address: Address
  readonly suspicion: Suspicion
  readonly look: Look
}

/** An address and what is accepted of its difference. */
export interface Standing {
  readonly address: Address
  readonly baseline: Baseline
}

/** What a turn has to do. */
export interface Turn {
  /** The currency's newest run. */
  readonly run: Run
  /** Differences whose look can be judged now: the scan is past all that it can have seen. */
  readonly due: readonly (Difference & Standing)[]
  /** The run's next addresses in the order of their indices, and whether each is under examination already. */
  readonly next: readonly (Standing & { readonly index: number; readonly examined: boolean })[]
}

/** What a turn found: all of it is stored, or nothing. */
export interface TurnResult {
  /** How many turns the run had when this one began; any other number is `superseded`. */
  readonly after: number
  readonly run: Run
  /** New differences, and those with a new look. */
  readonly open: readonly Difference[]
  /** Differences that are settled. */
  readonly closed: readonly Address[]
  readonly baselines: readonly Standing[]
}

/** Which blocks a look can have seen, and of which address. */
export type Span = Pick<Look, 'low' | 'high'> & { readonly address: Address }

/** What reconciliation keeps between ticks. Each method is one round trip. Nothing here ever moves a balance. */
export interface Reconciliations {
  /**
   * Of `asked`, the currencies for which there is something to do at a scan that stands at `position`: a run to go on
   * with, a look to judge, something to tell, or a run to start (none that started after `before`).
   */
  waiting(asked: readonly CurrencyId[], before: UnixMs, position: BlockHeight): Promise<readonly CurrencyId[]>
  /** Starts a run at `at` where one is to start, and says what is to do. Null where no address was ever issued. */
  begin(cuy: CurrencyId, at: UnixMs, before: UnixMs, position: BlockHeight): Promise<Turn | null>
  /** What is stored of addresses, exact at any size, in the order asked. */
  books(cuy: CurrencyId, asked: readonly Span[]): Promise<readonly Books[]>
  /** Stores a turn. `superseded` where another one was stored since it began: nothing is counted twice. */
  store(result: TurnResult): Promise<'stored' | 'superseded'>
  /** Confirmed differences that changed since the operator was told, at most 20. */
  untold(cuy: CurrencyId): Promise<readonly Standing[]>
  /** Remembers that the operator was told; one that changed meanwhile stays untold. */
  markTold(cuy: CurrencyId, told: readonly Standing[]): Promise<void>
}
