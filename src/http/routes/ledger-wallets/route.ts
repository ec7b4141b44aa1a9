import type { LedgerRoute } from '../../context.ts'
import { refusal } from '../../envelope.ts'
import { parseQuery } from '../../query.ts'
import { answerWallets } from '../wallet-list/answer.ts'
import { ledgerWalletsQuery } from './query.ts'

/** The balances of a named user. */
export const listLedgerWallets = {
  path: '/ledger/wallets',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: async (c) => {
    const query = parseQuery(ledgerWalletsQuery, c.req.url)
    return query.ok ? answerWallets(c, query.value.uid) : refusal(query.error)
  },
} satisfies LedgerRoute
