import type { LedgerRoute } from '../context.ts'
import { handleRead } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'
import { walletsDocs } from './wallet-list.ts'

/** The balance of one user in each configured currency, for a backend. */
export const ledgerWallets = {
  path: '/ledger/wallets',
  method: 'GET',
  ...useCases.wallets,
  handle: handleRead(useCases.wallets),
} satisfies LedgerRoute

/**
 * `GET /ledger/wallets` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerWalletsDocs = () =>
  ({
    ...walletsDocs('two deposits and a payment', '?uid=7'),
    id: 'listLedgerWallets',
    summary: 'The balances of a user',
    description: 'As `/wallet/list`, for a named user.',
    query: useCases.wallets.input,
    parameters: docs.uidNote,
    failures: [badQuery('')],
  }) satisfies docs.Operation
