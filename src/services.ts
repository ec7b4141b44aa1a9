import type { AddressBook } from './addresses/address-book.ts'
import type { KeyUse } from './addresses/key-use.ts'
import type { RecentBalances } from './addresses/recent-balances.ts'
import type { Address } from './chain/address.ts'
import type { BlockHeight } from './chain/block.ts'
import type { Chain } from './chain/chain.ts'
import type { DepositReader, DepositStore } from './deposits/deposit-store.ts'
import type { PendingDeposits } from './deposits/pending-deposits.ts'
import type { TokenFacts } from './deposits/token-facts.ts'
import type { EventReader, EventStore } from './events/event-store.ts'
import type { Currencies } from './ledger/currencies.ts'
import type { EntryStore } from './ledger/entry-store.ts'
import type { LedgerReader } from './ledger/ledger-reader.ts'
import type { Alarms } from './platform/alarms.ts'
import type { Clock } from './platform/clock.ts'
import type { Logger } from './platform/logger.ts'
import type { Usage } from './platform/usage.ts'
import type { ReconciliationStore } from './reconciliation/reconciliation-store.ts'
import type { SharedScanState } from './scan/check-now.ts'
import type { SharedHealth } from './scan/health.ts'
import type { Rescans } from './scan/rescans.ts'
import type { ScanStore } from './scan/scan-store.ts'
import type { Sightings } from './scan/sightings.ts'
import type { WebhookStore } from './webhooks/webhook-store.ts'

/** The stores that only read. A use case that gets nothing else cannot write. */
export interface ReadStores {
  readonly ledger: LedgerReader
  readonly deposits: DepositReader
  readonly addresses: Pick<AddressBook, 'current' | 'all' | 'match'>
  readonly pending: Pick<PendingDeposits, 'of' | 'refusals'>
  readonly sightings: Pick<Sightings, 'of'>
  readonly scanStore: Pick<ScanStore, 'state'>
  readonly events: EventReader
}

/** All stores over one database or session. */
export interface Stores extends ReadStores {
  readonly deposits: DepositStore
  readonly entryStore: EntryStore
  readonly addresses: AddressBook
  readonly pending: PendingDeposits
  readonly sightings: Sightings
  readonly scanStore: ScanStore
  readonly rescans: Rescans
  readonly tokenFacts: TokenFacts
  readonly reconciliation: ReconciliationStore
  readonly events: EventStore
  readonly webhookStore: WebhookStore
}

/** What the configuration and the platform give to every use case. */
export interface Settings {
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Alarms
  readonly currencies: Currencies
  /** The operator's own wallets. */
  readonly operators: ReadonlySet<Address>
  /** `TRON_START_BLOCK`, or null. */
  readonly startBlock: BlockHeight | null
  /** The address at an index of the deployment's extended public key. */
  readonly addressAt: (index: number) => Address
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
  /** What the calls of this isolate share about the key. */
  readonly keyUse: KeyUse
  /** What the calls of this isolate share about the running scan. */
  readonly shared: SharedScanState
  readonly recentBalances: RecentBalances
  /** What the health checks of this isolate share. */
  readonly sharedHealth: SharedHealth
}

/** One request or tick: what it has cost, and how new the data is that its caller has seen. */
export interface Invocation {
  readonly usage: Usage
  /** The caller's bookmark in the history of the database, or null. */
  readonly bookmark: string | null
  /** The bookmark after the answer, or null where the database was not read. */
  bookmarkAfter: string | null
}

/** What a use case that reads for a caller is given. */
export type ReadParts = Settings & ReadStores
/** What a use case that may write is given. `lease` is unique and unguessable. */
export type WriteParts = Settings & Stores & { readonly lease: string }

/** How an invocation gets stores and nodes: made by `compose.ts`, used by routes and ticks. */
export interface Services {
  readonly settings: Settings
  /** Reads at any copy of the database that is at least as new as the invocation's bookmark. */
  read<T>(invocation: Invocation, work: (parts: ReadParts) => Promise<T>): Promise<T>
  /** Starts at the primary database and sees what it writes. */
  write<T>(invocation: Invocation, work: (parts: WriteParts) => Promise<T>): Promise<T>
  /** The primary database without a session, for what acts for no caller. */
  primary(invocation: Invocation): WriteParts
  /** The nodes for one request: what it may use for its own questions, and what for proofs. */
  chains(invocation: Invocation): RouteChains
}

/** The nodes, with separate numbers of requests for separate purposes. */
export interface RouteChains {
  readonly chain: Chain
  readonly proofChain: Chain
}
