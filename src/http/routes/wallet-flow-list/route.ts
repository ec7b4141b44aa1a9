import { formatInstant } from '../../../common/time.ts'
import type { Currencies } from '../../../ledger/currencies.ts'
import type { Flow } from '../../../ledger/entry.ts'
import type { CallerRoute } from '../../context.ts'
import { failure, jsonAmount, success } from '../../envelope.ts'
import { toProblem } from '../../errors.ts'
import { parseFlowListQuery } from '../../params.ts'

/** The caller's ledger entries, newest first. */
export const walletFlowList: CallerRoute = {
  path: '/wallet/flow/list',
  rateClass: () => 'lists',
  answer: async (parts, uid, url, visit) => {
    const query = parseFlowListQuery(url, parts.currencies)
    if (!query.ok) return failure(toProblem(query.error))
    const { list, count } = await parts.listFlows(uid, query.value.filter, query.value.page, visit)
    return success({ list: list.map((flow) => write(flow, parts.currencies)), count })
  },
}

function write(flow: Flow, currencies: Currencies) {
  const currency = currencies.byId.get(flow.cuy)
  // The scale is configuration: without it an amount can't be written, and a guess could be wrong by powers of ten.
  if (currency === undefined) throw new Error(`entry ${flow.id} is in currency ${flow.cuy}, which is not configured`)
  return {
    id: flow.id,
    uid: flow.uid,
    wid: flow.wid,
    osn: flow.osn,
    type: flow.type,
    cuy: flow.cuy,
    amt: jsonAmount(flow.amount, currency.scale),
    balance: jsonAmount(flow.balance, currency.scale),
    mark: flow.mark,
    created_at: formatInstant(flow.createdAt),
  }
}
