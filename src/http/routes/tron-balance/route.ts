import type { CallerRoute } from '../../context.ts'
import { failure, jsonAmount, success } from '../../envelope.ts'
import { toProblem } from '../../errors.ts'
import { parseBalanceQuery } from '../../params.ts'

/** What the chain says now that the caller's addresses hold, in one currency. */
export const tronBalance: CallerRoute = {
  path: '/tron/balance',
  rateClass: () => 'lists',
  answer: async (parts, uid, url, visit) => {
    const query = parseBalanceQuery(url, parts.currencies)
    if (!query.ok) return failure(toProblem(query.error))
    const units = await parts.readBalance(uid, query.value, visit)
    if (!units.ok) return failure(toProblem(units.error))
    return success({ amt: jsonAmount(units.value, query.value.currency.decimals) }) // chain units: not the ledger's scale
  },
}
