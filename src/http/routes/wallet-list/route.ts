import type { CallerRoute } from '../../context.ts'
import { jsonAmount, success } from '../../envelope.ts'

/** The caller's balance in each configured currency, as the ledger has it. */
export const walletList: CallerRoute = {
  path: '/wallet/list',
  rateClass: () => 'lists',
  answer: async (parts, uid, _url, visit) => {
    const wallets = await parts.listWallets(uid, visit)
    const list = wallets.map((wallet) => ({
      amt: jsonAmount(wallet.amount, wallet.currency.scale),
      cuy: wallet.currency.cuy,
    }))
    return success({ list, count: list.length })
  },
}
