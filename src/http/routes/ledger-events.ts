import * as z from 'zod/mini'
import type { EventId } from '../../common/ids.ts'
import { eventsMax } from '../../events/event.ts'
import { eventItem } from '../../events/event-item.ts'
import { selectEvents } from '../../events/events.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { jsonAmount, refusal, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { eventSchema } from '../openapi/event-schemas.ts'
import { backendFailures, badQuery } from '../openapi/failures.ts'
import { parseQuery, textParam, wholeNumber } from '../query.ts'

const afterTakes = `0 or the id of an event: a whole number up to ${Number.MAX_SAFE_INTEGER}`
const after = z.pipe(
  textParam(afterTakes, /^(0|[1-9]\d{0,15})$/, Number),
  z.int(afterTakes).check(z.minimum(0, afterTakes), z.maximum(Number.MAX_SAFE_INTEGER, afterTakes)),
) as unknown as z.ZodMiniType<EventId | 0, string> // safe: the range is the definition

/** The parameters of `GET /ledger/events`. */
export const ledgerEventsQuery = z.object({ after: z.optional(after), limit: z.optional(wholeNumber(eventsMax)) })

/** The events after one, in order. */
export const ledgerEvents = {
  path: '/ledger/events',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: async (c) => {
    const query = parseQuery(ledgerEventsQuery, c.req.url)
    if (!query.ok) return refusal(query.error)
    const { after = 0, limit = eventsMax } = query.value
    const events = await reading(c, ({ db }) => selectEvents(db, after, limit))
    const { currencies } = c.env.services.settings
    const list = events.map((event) => eventItem(event, currencies, jsonAmount))
    return success({ list, count: list.length })
  },
} satisfies LedgerRoute

/** The documentation of `GET /ledger/events`. */
export const ledgerEventsDocs = () => {
  const posted = {
    ...({ id: 3, type: 'entry.posted', uid: 7 } as const),
    created_at: '2026-09-21T14:14:20.417Z',
    data: { entry: docs.paidEntry },
  }
  return docs.operation({
    id: 'listLedgerEvents',
    tag: 'Ledger',
    summary: 'What happened, in order',
    description:
      `At most ${eventsMax} events after one, of all users, oldest first. An empty list is the end for now: ask again with the same ` +
      '`after`. Events are numbered as they are stored, so none appears below one that was read, and they never change. Old ones are ' +
      'removed after `EVENTS_KEEP_DAYS`. The same events come as webhooks.',
    query: ledgerEventsQuery,
    parameters: {
      after: { description: 'The id of the last event that was read; by default 0, the beginning.', example: 2 },
      limit: { description: `Events in the list at most, 1 to ${eventsMax}.`, example: 10 },
    },
    success: docs.listBody('LedgerEventsResponse', eventSchema, 'The number of events in the list.'),
    failure: docs.failureBody(),
    examples: [
      docs.dataExample('a payment', 'two deposits and a payment', '?after=2', { list: [posted], count: 1 }),
      docs.dataExample('the end for now', 'two deposits and a payment', '?after=3', { list: [], count: 0 }),
    ],
    failures: [badQuery('?limit=1000', 'limit: a whole number from 1 to 100'), ...backendFailures('ledger:read')],
  })
}
