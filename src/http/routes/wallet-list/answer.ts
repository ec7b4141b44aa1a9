import type { Uid } from '../../../common/ids.ts'
import { listWallets } from '../../../ledger/list-wallets.ts'
import type { RequestContext } from '../../context.ts'
import { jsonAmount, success } from '../../envelope.ts'

/** Answers with a caller's balance in each configured currency. */
export async function answerWallets(c: RequestContext, uid: Uid): Promise<Response> {
  const wallets = await c.env.services.read(c.get('invocation'), (parts) => listWallets(parts, uid))
  const list = wallets.map(({ amount, currency }) => ({ amt: jsonAmount(amount, currency.scale), cuy: currency.cuy }))
  return success({ list, count: list.length })
}
