import type { ScannerCalls } from './chain/chain.ts'
import type { EndpointKey } from './common/ids.ts'
import type { NetworkName } from './config/chain.ts'
import type { Invocation } from './d1/sessions.ts'
import type { ReadContext, Settings, WriteContext } from './ledger/context.ts'
import type { SharedRead } from './platform/shared-read.ts'
import type { SharedHealth } from './scan/health.ts'
import type { Intake } from './scan/intake.ts'

/** What handlers work with: made by `compose.ts`. A use case that gets a `ReadContext` cannot write. */
export interface Services {
  readonly settings: Settings
  /** Where the addresses are. */
  readonly network: NetworkName
  /** Reads at any copy of the database that is at least as new as the invocation's bookmark. */
  read<T>(invocation: Invocation, work: (context: ReadContext) => Promise<T>): Promise<T>
  /** Starts at the primary database and sees what it writes. */
  write<T>(invocation: Invocation, work: (context: WriteContext) => Promise<T>): Promise<T>
  /** The primary database without a session, for what acts for no caller. */
  primary(invocation: Invocation): WriteContext
  /** The only place that talks to nodes. */
  readonly scanner: ScannerCalls
  /** The endpoints of `WEBHOOKS`. */
  readonly endpoints: readonly { readonly key: EndpointKey }[]
  /** What health checks share. */
  readonly sharedHealth: SharedHealth
  /** What all who ask for the currencies share. */
  readonly sharedIntake: SharedRead<Intake>
  /** How many nodes must agree before money is credited. */
  readonly quorum: number
  /** How often a scan begins while nothing is known to be on its way. */
  readonly scanEverySeconds: number
  /** Makes each webhook endpoint look for new events, without waiting for it. */
  wakeEndpoints(): void
  /** Has the scanner note the newest event: so a copy of the database from before it is noticed. A failure is only logged. */
  noteWrite(): Promise<void>
  /** Makes the scanner send what was handed in for payouts, without waiting for it. */
  sendPayouts(): void
}
