import { amount, success } from '../envelope.ts'
import type { Route } from '../parts.ts'

/** The caller's balance in each configured currency, as the ledger has it. */
export const walletList: Route = {
  path: '/wallet/list',
  answer: async (parts, uid) => {
    const wallets = await parts.listWallets(uid)
    const list = wallets.map((wallet) => ({
      amt: amount(wallet.amount, wallet.currency.scale),
      cuy: wallet.currency.cuy,
    }))
    return success({ list, count: list.length })
  },
}
