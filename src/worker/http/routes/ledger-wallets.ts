import * as z from 'zod/mini'
import type { LedgerRoute } from '../context.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { uidExpected, uidParam, withQuery } from '../query.ts'
import { answerWallets, walletsDocs } from './wallet-list.ts'

/** The parameters of the list of wallets, over HTTP and over RPC. */
export const ledgerWalletsQuery = z.object({ uid: uidParam() })

/** The balance of one user in each configured currency, for a backend. */
export const ledgerWallets = {
  path: '/ledger/wallets',
  method: 'GET',
  usersIn: 'uid',
  scope: () => 'ledger:read',
  handle: withQuery(ledgerWalletsQuery, (c, { uid }) => answerWallets(c, uid)),
} satisfies LedgerRoute

/** `GET /ledger/wallets` in the OpenAPI document. The Worker never calls this function, so its bundle has none of these texts. */
export const ledgerWalletsDocs = () =>
  ({
    ...walletsDocs('two deposits and a payment', '?uid=7', 22.5),
    id: 'listLedgerWallets',
    summary: 'The balances of a user',
    description: 'As `/wallet/list`, for a named user.',
    query: ledgerWalletsQuery,
    parameters: docs.uidNote,
    failures: [badQuery('', 'uid', uidExpected)],
  }) satisfies docs.Operation
