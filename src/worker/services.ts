import type { ChosenBy } from './cells/choose.ts'
import type { DepositsChange, ScannerCalls } from './chain/chain.ts'
import type { EndpointKey, Uid } from './common/ids.ts'
import type { Result } from './common/result.ts'
import type { NetworkName } from './config/chain.ts'
import type { Invocation } from './d1/sessions.ts'
import type { AppContext, ReadContext, WriteContext } from './ledger/context.ts'
import type { Intake } from './scan/intake.ts'
import type { StoredHealth } from './scan/store/position.ts'

/** One cell (a database with its scanner, for a range of users) as requests see it. */
export interface Cell extends ChosenBy {
  readonly services: Services
}

/**
 * Follows a write of a request:
 * - `nothing`: the write stores no event.
 * - `wake`: each webhook endpoint is told to look for new events. Nobody waits until one has
 *   looked.
 * - `note-and-wake`: before that, the scanner notes the newest event in its memory, so that a
 *   restored older copy of the database is noticed. A failure to note it is only logged.
 * - `expect-payment`: the scanner is told that somebody was given an address. Nobody waits for
 *   that.
 */
export type FollowUp = 'nothing' | 'wake' | 'note-and-wake' | 'expect-payment'

/** For a use case that may write during a request. */
export type RequestWriteContext = WriteContext & {
  /** Asks the scanner whether the database is a restored older copy. */
  readonly isRestored: () => Promise<boolean>
  /** Prepares the issue of an address. */
  readonly scanner: Pick<ScannerCalls, 'prepareIssue'>
}

/**
 * The parts of one cell that handlers work with, made by `compose.ts`. A use case that gets a
 * `ReadContext` cannot write.
 */
export interface Services {
  readonly settings: AppContext
  /** Whether the configuration belongs to the stored data. If not, nothing is served. */
  readonly configMatchesData: () => Promise<boolean>
  /**
   * The names of the settings that differed from the stored data at the last check, for operators.
   */
  readonly differingSettings: () => readonly string[]
  /** The name of the network, which decides the explorer for addresses and transactions. */
  readonly network: NetworkName
  /** Reads from any copy of the database that is at least as new as the invocation's bookmark. */
  read<T>(invocation: Invocation, work: (context: ReadContext) => Promise<T>): Promise<T>
  /**
   * Reads and writes at the primary database, and sees its own writes. If `work` succeeds,
   * `followUp` is done before its result is returned.
   */
  write<T, E>(
    invocation: Invocation,
    followUp: FollowUp,
    work: (context: RequestWriteContext) => Promise<Result<T, E>>,
  ): Promise<Result<T, E>>
  /** The primary database without a session and its bookmark, for work that concerns no caller. */
  primary(invocation: Invocation): RequestWriteContext
  /** The only part that talks to nodes. */
  readonly scanner: ScannerCalls
  /** The endpoints of `WEBHOOKS` that a summary shows. */
  readonly endpoints: readonly { readonly key: EndpointKey }[]
  /**
   * The stored state of the scan, at most `sharedReadMs` old. All requests of an isolate share it,
   * so it is read at the primary database: no caller's bookmark makes it older or fail for others.
   */
  storedHealth(invocation: Invocation): Promise<StoredHealth>
  /**
   * Which deposits can be credited now, and how late credits are. It is read and shared as
   * `storedHealth` is.
   */
  intake(invocation: Invocation): Promise<Intake>
  /** The number of nodes that must agree before money is credited. */
  readonly quorum: number
  /** The cells of the deployment, each with its range of users. */
  readonly ranges: readonly ChosenBy[]
  /**
   * Holds a page's request until a transfer of the user may have changed since `mark`, at most
   * `seconds`. Null if it cannot be held, because the scanner does not answer, or this isolate
   * holds too many: then nobody knows whether something has changed.
   */
  waitForDeposit(uid: Uid, mark: string | null, seconds: number): Promise<DepositsChange | null>
  /** Has the scanner send due transactions of payouts. Returns at once, before any is sent. */
  sendPayouts(): void
}
