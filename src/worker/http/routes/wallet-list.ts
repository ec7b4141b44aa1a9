import { wallet } from '../../schemas/entry.ts'
import * as schemas from '../../schemas/parts.ts'
import type { Route } from '../context.ts'
import { answerRead } from '../handlers.ts'
import type * as docs from '../openapi/docs.ts'
import { useCases } from '../use-cases.ts'

/** The user's balance in each configured currency, from the ledger and not from the chain. */
export const walletList = {
  path: '/wallet/list',
  rateClass: () => 'lists',
  handle: (c) => answerRead(c, useCases.wallets, { uid: c.get('uid') }),
} satisfies Route

/** Documentation shared by `/wallet/list` and `/ledger/wallets`, with an example. */
export const walletsDocs = (given: docs.Situation, query: string) => ({
  success: schemas.listBody('WalletListResponse', wallet, 'The number of wallets in the list.'),
  examples: [{ name: 'two wallets', given, query }],
})

/**
 * `GET /wallet/list` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const walletListDocs = () =>
  ({
    ...walletsDocs('two deposits, credited', ''),
    id: 'listWallets',
    summary: 'Your balances',
    description: 'One wallet for each configured currency, ordered by `cuy`; 0 where there is no entry yet.',
    failures: [],
  }) satisfies docs.Operation
