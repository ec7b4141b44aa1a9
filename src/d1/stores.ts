import type { CreditKey } from '../deposits/deposit.ts'
import type { Stores } from '../services.ts'
import { createAddressBook } from './address-book.ts'
import { createAddressFilter } from './address-filter.ts'
import type { Database } from './database.ts'
import { createDepositStore } from './deposit-store.ts'
import { createEntryStore } from './entry-store.ts'
import { createEventStore } from './event-store.ts'
import { createLedgerReader } from './ledger-reader.ts'
import { createPendingDeposits } from './pending-deposits.ts'
import { createReconciliationStore } from './reconciliation-store.ts'
import { createRescans } from './rescans.ts'
import { createScanStore } from './scan-store.ts'
import { createSightings } from './sightings.ts'
import { createTokenFacts } from './token-facts.ts'
import { createWebhookStore } from './webhook-store.ts'

/**
 * The stores over `db`. `onWalletFull` gets the key of each deposit that was stored uncredited because its wallet was full.
 * `firstIndex` is the index of the first address of an empty database; `filter` is what the isolate knows of its addresses.
 */
export function createStores(
  db: Database,
  onWalletFull: (key: CreditKey) => void,
  firstIndex = 0,
  filter = createAddressFilter(),
): Stores {
  return {
    ledger: createLedgerReader(db),
    entryStore: createEntryStore(db),
    deposits: createDepositStore(db, onWalletFull),
    addresses: createAddressBook(db, firstIndex, filter),
    pending: createPendingDeposits(db),
    sightings: createSightings(db),
    scanStore: createScanStore(db),
    rescans: createRescans(db),
    tokenFacts: createTokenFacts(db),
    reconciliation: createReconciliationStore(db),
    events: createEventStore(db),
    webhookStore: createWebhookStore(db),
  }
}
