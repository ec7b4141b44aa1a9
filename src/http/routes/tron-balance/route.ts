import { readChainBalance } from '../../../addresses/read-balance.ts'
import { ok } from '../../../common/result.ts'
import type { Route } from '../../context.ts'
import { jsonAmount, refusal, success } from '../../envelope.ts'
import { parseBalanceQuery } from './query.ts'

/** The balance of the caller's addresses on the chain now, in one currency. */
export const tronBalance = {
  path: '/tron/balance',
  rateClass: () => 'nodes',
  handle: async (c) => {
    const { services } = c.env
    const query = parseBalanceQuery(c.req.url, services.settings.currencies)
    if (!query.ok) return refusal(query.error)
    const invocation = c.get('invocation')
    const { clock, recentBalances } = services.settings
    const { currency, address } = query.value
    const key = `${c.get('uid')} ${currency.cuy} ${address}`
    const recent = recentBalances.get(key, clock.now())
    const units =
      recent === null
        ? await services.read(invocation, (parts) =>
            readChainBalance({ ...parts, ...services.chains(invocation) }, c.get('uid'), query.value),
          )
        : ok(recent)
    if (!units.ok) return refusal(units.error)
    if (recent === null) recentBalances.set(key, units.value, clock.now())
    return success({ amt: jsonAmount(units.value, currency.decimals) }) // chain units, not ledger units
  },
} satisfies Route
