import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Currencies } from './currencies.ts'

/** What the configuration and the platform give to every use case. */
export interface Settings {
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Alarms
  readonly currencies: Currencies
  /** The operator's own wallets as configured (`OPERATOR_ADDRESSES`). */
  readonly operators: ReadonlySet<Address>
  /** `TRON_START_BLOCK`, or null. */
  readonly startBlock: BlockHeight | null
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
  /** Whether new addresses are issued (`ISSUE_ADDRESSES`). */
  readonly issuesAddresses: boolean
  /** The address at an index of the deployment's extended public key. */
  readonly addressAt: (index: number) => Address
}

/** What a use case is given that only reads. */
export type ReadContext = Settings & { readonly db: ReadDatabase }
/** What a use case is given that may write. */
export type WriteContext = Settings & { readonly db: WriteDatabase }
