import * as z from 'zod/mini'
import type { LedgerRoute } from '../context.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { uidExpected, uidParam, withQuery } from '../query.ts'
import { answerWallets, walletsDocs } from './wallet-list.ts'

/** The parameters of `GET /ledger/wallets`. */
export const ledgerWalletsQuery = z.object({ uid: uidParam() })

/** The balances of a user. */
export const ledgerWallets = {
  path: '/ledger/wallets',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: withQuery(ledgerWalletsQuery, (c, { uid }) => answerWallets(c, uid)),
} satisfies LedgerRoute

/** The documentation of `GET /ledger/wallets`. */
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
