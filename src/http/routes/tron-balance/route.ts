import { amount, failure, success } from '../../envelope.ts'
import { toProblem } from '../../errors.ts'
import { parseBalance } from '../../params.ts'
import type { Route } from '../../context.ts'

/** What the chain says now that the caller's addresses hold, in one currency. */
export const balance: Route = {
  path: '/tron/balance',
  rateClass: () => 'lists',
  answer: async (parts, uid, url, visit) => {
    const query = parseBalance(url, parts.currencies)
    if (!query.ok) return failure(toProblem(query.error))
    const units = await parts.readBalance(uid, query.value, visit)
    if (!units.ok) return failure(toProblem(units.error))
    return success({ amt: amount(units.value, query.value.currency.decimals) }) // chain units: not the ledger's scale
  },
}
