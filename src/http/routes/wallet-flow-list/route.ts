import { entryItem } from '../../../ledger/entry-item.ts'
import type { Route } from '../../context.ts'
import { jsonAmount, refusal } from '../../envelope.ts'
import { answerEntries } from './answer.ts'
import { parseFlowListQuery } from './query.ts'

/** The caller's ledger entries, newest first. */
export const walletFlowList = {
  path: '/wallet/flow/list',
  rateClass: () => 'lists',
  handle: async (c) => {
    const query = parseFlowListQuery(c.req.url, c.env.services.settings.currencies)
    if (!query.ok) return refusal(query.error)
    return answerEntries(c, c.get('uid'), query.value, (entry, currencies) => ({
      ...entryItem(entry, currencies, jsonAmount),
    }))
  },
} satisfies Route
