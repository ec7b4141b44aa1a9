import { readChainBalance } from '../../../addresses/read-balance.ts'
import type { Route } from '../../context.ts'
import { jsonAmount, refusal, success } from '../../envelope.ts'
import { parseBalanceQuery } from './query.ts'

/** The balance of the caller's addresses on the chain now, in one currency. */
export const tronBalance = {
  path: '/tron/balance',
  rateClass: () => 'lists',
  handle: async (c) => {
    const { services } = c.env
    const query = parseBalanceQuery(c.req.url, services.settings.currencies)
    if (!query.ok) return refusal(query.error)
    const invocation = c.get('invocation')
    const units = await services.read(invocation, (parts) =>
      readChainBalance({ ...parts, chain: services.chain(invocation) }, c.get('uid'), query.value),
    )
    if (!units.ok) return refusal(units.error)
    return success({ amt: jsonAmount(units.value, query.value.currency.decimals) }) // chain units, not ledger units
  },
} satisfies Route
