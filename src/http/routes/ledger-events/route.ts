import { eventItem } from '../../../events/event-item.ts'
import { eventsMax } from '../../../events/event-store.ts'
import type { LedgerRoute } from '../../context.ts'
import { jsonAmount, refusal, success } from '../../envelope.ts'
import { parseQuery } from '../../query.ts'
import { ledgerEventsQuery } from './query.ts'

/** The events after one, in order. */
export const listLedgerEvents = {
  path: '/ledger/events',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: async (c) => {
    const query = parseQuery(ledgerEventsQuery, c.req.url)
    if (!query.ok) return refusal(query.error)
    const { services } = c.env
    const { after = 0, limit = eventsMax } = query.value
    const events = await services.read(c.get('invocation'), (parts) => parts.events.after(after, limit))
    const list = events.map((event) => eventItem(event, services.settings.currencies, jsonAmount))
    return success({ list, count: list.length })
  },
} satisfies LedgerRoute
