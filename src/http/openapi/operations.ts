import { healthOperation } from '../routes/health/docs.ts'
import { ledgerAddressOperation } from '../routes/ledger-address/docs.ts'
import { listLedgerEntriesOperation, postLedgerEntriesOperation } from '../routes/ledger-entries/docs.ts'
import { listLedgerEventsOperation } from '../routes/ledger-events/docs.ts'
import { listLedgerWalletsOperation } from '../routes/ledger-wallets/docs.ts'
import { tronBalanceOperation } from '../routes/tron-balance/docs.ts'
import { tronGenerateOperation } from '../routes/tron-generate/docs.ts'
import { tronRechargeOperation } from '../routes/tron-recharge/docs.ts'
import { walletFlowListOperation } from '../routes/wallet-flow-list/docs.ts'
import { walletListOperation } from '../routes/wallet-list/docs.ts'
import type { RoutePath } from '../routes.ts'
import type { Operation } from './operation.ts'

/** The documentation of GET at every route. It is a list of its own so that the Worker does not contain it. */
export const operations = {
  '/tron/generate': tronGenerateOperation,
  '/tron/balance': tronBalanceOperation,
  '/tron/recharge': tronRechargeOperation,
  '/wallet/list': walletListOperation,
  '/wallet/flow/list': walletFlowListOperation,
  '/ledger/entries': listLedgerEntriesOperation,
  '/ledger/events': listLedgerEventsOperation,
  '/ledger/wallets': listLedgerWalletsOperation,
  '/ledger/address': ledgerAddressOperation,
  '/health': healthOperation,
} satisfies Record<RoutePath, Operation>

/** The documentation of POST, where a route has it. */
export const postOperations = { '/ledger/entries': postLedgerEntriesOperation } satisfies Partial<
  Record<RoutePath, Operation>
>
