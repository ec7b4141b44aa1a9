import { amount, success } from '../../envelope.ts'
import type { Route } from '../../context.ts'

/** The caller's balance in each configured currency, as the ledger has it. */
export const walletList: Route = {
  path: '/wallet/list',
  rateClass: () => 'lists',
  answer: async (parts, uid, _url, visit) => {
    const wallets = await parts.listWallets(uid, visit)
    const list = wallets.map((wallet) => ({
      amt: amount(wallet.amount, wallet.currency.scale),
      cuy: wallet.currency.cuy,
    }))
    return success({ list, count: list.length })
  },
}
