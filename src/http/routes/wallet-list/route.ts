import { listWallets } from '../../../ledger/list-wallets.ts'
import type { Route } from '../../context.ts'
import { jsonAmount, success } from '../../envelope.ts'

/** The caller's balance in each configured currency, from the ledger. */
export const walletList = {
  path: '/wallet/list',
  rateClass: () => 'lists',
  handle: async (c) => {
    const uid = c.get('uid')
    const wallets = await c.env.services.read(c.get('invocation'), (parts) => listWallets(parts, uid))
    const list = wallets.map(({ amount, currency }) => ({ amt: jsonAmount(amount, currency.scale), cuy: currency.cuy }))
    return success({ list, count: list.length })
  },
} satisfies Route
