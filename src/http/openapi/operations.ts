import { healthDocs } from '../routes/health.ts'
import { ledgerAddressDocs } from '../routes/ledger-address.ts'
import { ledgerEntriesDocs } from '../routes/ledger-entries.ts'
import { ledgerEventsDocs } from '../routes/ledger-events.ts'
import { ledgerWalletsDocs } from '../routes/ledger-wallets.ts'
import { postLedgerEntriesDocs } from '../routes/post-ledger-entries.ts'
import { tronBalanceDocs } from '../routes/tron-balance.ts'
import { tronGenerateDocs } from '../routes/tron-generate.ts'
import { tronRechargeDocs } from '../routes/tron-recharge.ts'
import { walletFlowListDocs } from '../routes/wallet-flow-list.ts'
import { walletListDocs } from '../routes/wallet-list.ts'
import type { RoutePath } from '../routes.ts'
import type { Operation } from './docs.ts'

/** The documentation of every route, by its methods. It is a list of its own so that the Worker does not contain it. */
export const operations = {
  '/tron/generate': { get: tronGenerateDocs() },
  '/tron/balance': { get: tronBalanceDocs() },
  '/tron/recharge': { get: tronRechargeDocs() },
  '/wallet/list': { get: walletListDocs() },
  '/wallet/flow/list': { get: walletFlowListDocs() },
  '/ledger/entries': { get: ledgerEntriesDocs(), post: postLedgerEntriesDocs() },
  '/ledger/events': { get: ledgerEventsDocs() },
  '/ledger/wallets': { get: ledgerWalletsDocs() },
  '/ledger/address': { get: ledgerAddressDocs() },
  '/health': { get: healthDocs() },
} satisfies Record<RoutePath, { readonly get: Operation; readonly post?: Operation }>
