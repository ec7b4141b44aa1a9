import type { Operation } from './openapi/docs.ts'
import { acceptedCurrencies, currenciesDocs } from './routes/currencies.ts'
import { decideLedgerDeposits, decideLedgerDepositsDocs } from './routes/decide-deposits.ts'
import { health, healthDocs } from './routes/health.ts'
import { ledgerAddress, ledgerAddressDocs } from './routes/ledger-address.ts'
import { ledgerAddresses, ledgerAddressesDocs } from './routes/ledger-addresses.ts'
import { ledgerCheckpoint, ledgerCheckpointDocs } from './routes/ledger-checkpoint.ts'
import { ledgerDeposits, ledgerDepositsDocs } from './routes/ledger-deposits.ts'
import { ledgerEntries, ledgerEntriesDocs } from './routes/ledger-entries.ts'
import { ledgerEvents, ledgerEventsDocs } from './routes/ledger-events.ts'
import { ledgerOrders, ledgerOrdersDocs } from './routes/ledger-orders.ts'
import { ledgerOrdersCancel, ledgerOrdersCancelDocs } from './routes/ledger-orders-cancel.ts'
import { ledgerPayouts, ledgerPayoutsDocs } from './routes/ledger-payouts.ts'
import { ledgerPayoutsApprove, ledgerPayoutsApproveDocs } from './routes/ledger-payouts-approve.ts'
import { ledgerPayoutsCancel, ledgerPayoutsCancelDocs } from './routes/ledger-payouts-cancel.ts'
import { ledgerPayoutsSigned, ledgerPayoutsSignedDocs } from './routes/ledger-payouts-signed.ts'
import { ledgerPayoutsUnsigned, ledgerPayoutsUnsignedDocs } from './routes/ledger-payouts-unsigned.ts'
import { ledgerSearch, ledgerSearchDocs } from './routes/ledger-search.ts'
import { ledgerStatement, ledgerStatementDocs } from './routes/ledger-statement.ts'
import { ledgerSummary, ledgerSummaryDocs } from './routes/ledger-summary.ts'
import { ledgerTransaction, ledgerTransactionDocs } from './routes/ledger-transaction.ts'
import { ledgerWallets, ledgerWalletsDocs } from './routes/ledger-wallets.ts'
import { postLedgerEntries, postLedgerEntriesDocs } from './routes/post-ledger-entries.ts'
import { postLedgerOrders, postLedgerOrdersDocs } from './routes/post-ledger-orders.ts'
import { postLedgerPayouts, postLedgerPayoutsDocs } from './routes/post-ledger-payouts.ts'
import { tronBalance, tronBalanceDocs } from './routes/tron-balance.ts'
import { tronDeposits, tronDepositsDocs } from './routes/tron-deposits.ts'
import { tronGenerate, tronGenerateDocs } from './routes/tron-generate.ts'
import { tronOrders, tronOrdersDocs } from './routes/tron-orders.ts'
import { tronPayouts, tronPayoutsDocs } from './routes/tron-payouts.ts'
import { tronRecharge, tronRechargeDocs } from './routes/tron-recharge.ts'
import { walletFlowList, walletFlowListDocs } from './routes/wallet-flow-list.ts'
import { walletList, walletListDocs } from './routes/wallet-list.ts'
import { walletStatement, walletStatementDocs } from './routes/wallet-statement.ts'

/** Every route for users and monitoring. Those for backends are in `ledgerRoutes`. */
export const routes = [
  ...[tronGenerate, tronBalance, tronRecharge, tronDeposits, tronOrders, tronPayouts],
  ...[walletList, walletFlowList, walletStatement, acceptedCurrencies, health],
] as const

/** Every route for backends and people at the desk. */
export const ledgerRoutes = [
  ...[ledgerEntries, postLedgerEntries, ledgerEvents, ledgerWallets, ledgerAddress, ledgerAddresses],
  ...[ledgerDeposits, decideLedgerDeposits, ledgerSummary, ledgerTransaction, ledgerStatement, ledgerCheckpoint],
  ...[ledgerSearch],
  ...[ledgerOrders, postLedgerOrders, ledgerOrdersCancel],
  ...[ledgerPayouts, postLedgerPayouts, ledgerPayoutsApprove, ledgerPayoutsCancel],
  ...[ledgerPayoutsUnsigned, ledgerPayoutsSigned],
] as const

/**
 * The documentation of every route, by path and method. The Worker never calls this function, so
 * the Worker's bundle has none of the documentation.
 */
export const operations = () =>
  ({
    '/tron/generate': { get: tronGenerateDocs() },
    '/tron/balance': { get: tronBalanceDocs() },
    '/tron/recharge': { get: tronRechargeDocs() },
    '/tron/deposits': { get: tronDepositsDocs() },
    '/tron/orders': { get: tronOrdersDocs() },
    '/tron/payouts': { get: tronPayoutsDocs() },
    '/wallet/list': { get: walletListDocs() },
    '/wallet/flow/list': { get: walletFlowListDocs() },
    '/wallet/statement': { get: walletStatementDocs() },
    '/ledger/entries': { get: ledgerEntriesDocs(), post: postLedgerEntriesDocs() },
    '/ledger/events': { get: ledgerEventsDocs() },
    '/ledger/checkpoint': { get: ledgerCheckpointDocs() },
    '/ledger/wallets': { get: ledgerWalletsDocs() },
    '/ledger/deposits': { get: ledgerDepositsDocs() },
    '/ledger/deposits/decide': { post: decideLedgerDepositsDocs() },
    '/ledger/summary': { get: ledgerSummaryDocs() },
    '/ledger/statement': { get: ledgerStatementDocs() },
    '/ledger/transaction': { get: ledgerTransactionDocs() },
    '/ledger/address': { get: ledgerAddressDocs() },
    '/ledger/search': { get: ledgerSearchDocs() },
    '/ledger/orders': { get: ledgerOrdersDocs(), post: postLedgerOrdersDocs() },
    '/ledger/orders/cancel': { post: ledgerOrdersCancelDocs() },
    '/ledger/payouts': { get: ledgerPayoutsDocs(), post: postLedgerPayoutsDocs() },
    '/ledger/payouts/approve': { post: ledgerPayoutsApproveDocs() },
    '/ledger/payouts/cancel': { post: ledgerPayoutsCancelDocs() },
    '/ledger/payouts/unsigned': { get: ledgerPayoutsUnsignedDocs() },
    '/ledger/payouts/signed': { post: ledgerPayoutsSignedDocs() },
    '/ledger/addresses': { get: ledgerAddressesDocs() },
    '/currencies': { get: currenciesDocs() },
    '/health': { get: healthDocs() },
  }) satisfies Record<
    (typeof routes | typeof ledgerRoutes)[number]['path'],
    { readonly get?: Operation; readonly post?: Operation }
  >
