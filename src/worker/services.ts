import type { ChosenBy } from './cells/choose.ts'
import type { ScannerCalls } from './chain/chain.ts'
import type { EndpointKey } from './common/ids.ts'
import type { NetworkName } from './config/chain.ts'
import type { Invocation } from './d1/sessions.ts'
import type { AppContext, ReadContext, WriteContext } from './ledger/context.ts'
import type { SharedRead } from './platform/shared-read.ts'
import type { SharedHealth } from './scan/health.ts'
import type { Intake } from './scan/intake.ts'

/** One cell (a database with its scanner, for a range of users) as requests see it. */
export interface Cell extends ChosenBy {
  readonly services: Services
}

/** The parts of one cell that handlers work with, made by `compose.ts`. A use case that gets a `ReadContext` cannot write. */
export interface Services {
  readonly settings: AppContext
  /** Whether the configuration belongs to the stored data. If not, nothing is served. */
  readonly configMatchesData: () => Promise<boolean>
  /** The names of the settings that differed from the stored data at the last check, for operators. */
  readonly differingSettings: () => readonly string[]
  /** The name of the network, which decides the explorer for addresses and transactions. */
  readonly network: NetworkName
  /** Reads from any copy of the database that is at least as new as the invocation's bookmark. */
  read<T>(invocation: Invocation, work: (context: ReadContext) => Promise<T>): Promise<T>
  /** Reads and writes at the primary database, and sees its own writes. */
  write<T>(invocation: Invocation, work: (context: WriteContext) => Promise<T>): Promise<T>
  /** The primary database without a session and its bookmark, for work that concerns no caller. */
  primary(invocation: Invocation): WriteContext
  /** The only part that talks to nodes. */
  readonly scanner: ScannerCalls
  /** The endpoints of `WEBHOOKS` that a summary shows. */
  readonly endpoints: readonly { readonly key: EndpointKey }[]
  /** The stored state of the scan that all health checks of an isolate share. */
  readonly sharedHealth: SharedHealth
  /** Which deposits can be credited now, and how late credits are. All requests to `/currencies` share one answer. */
  readonly sharedIntake: SharedRead<Intake>
  /** The number of nodes that must agree before money is credited. */
  readonly quorum: number
  /** The cells of the deployment, each with its range of users. */
  readonly ranges: readonly ChosenBy[]
  /** Seconds from the start of one scan to the start of the next, while no transfer has been seen in a block that is not final yet. */
  readonly scanEverySeconds: number
  /** Tells each webhook endpoint to look for new events. Returns at once, before any endpoint has looked. */
  wakeEndpoints(): void
  /** Has the scanner note the newest event, so that a restored older copy of the database is noticed. A failure is only logged. */
  noteWrite(): Promise<void>
  /** Has the scanner send due transactions of payouts. Returns at once, before any is sent. */
  sendPayouts(): void
}
