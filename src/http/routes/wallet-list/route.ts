import type { Route } from '../../context.ts'
import { answerWallets } from './answer.ts'

/** The caller's balance in each configured currency, from the ledger. */
export const walletList = {
  path: '/wallet/list',
  rateClass: () => 'lists',
  handle: (c) => answerWallets(c, c.get('uid')),
} satisfies Route
