import { eventsMax } from '../../events/events.ts'
import { eventSchema } from '../../schemas/event.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { handleRead } from '../handlers.ts'
import type * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'

/**
 * The events after the event `after`, oldest first. An empty list means that there is no newer
 * event yet.
 */
export const ledgerEvents = {
  path: '/ledger/events',
  method: 'GET',
  ...useCases.events,
  handle: handleRead(useCases.events),
} satisfies LedgerRoute

/**
 * `GET /ledger/events` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const ledgerEventsDocs = () => {
  return {
    id: 'listLedgerEvents',
    summary: 'What happened, in order',
    description:
      `At most ${eventsMax} events after one, of all users, oldest first. An empty list is the end for now: ask again with the same ` +
      '`after`. Events are numbered as they are stored, so none appears below one that was read, and they never change. Old ones are ' +
      'removed after `EVENTS_KEEP_DAYS`. The same events come as webhooks.',
    query: useCases.events.input,
    parameters: {
      after: { description: 'The id of the last event that was read; by default 0, the beginning.', example: 2 },
      limit: { description: `Events in the list at most, 1 to ${eventsMax}.`, example: 10 },
    },
    success: schemas.listBody('LedgerEventsResponse', eventSchema, 'The number of events in the list.'),
    examples: [
      { name: 'a payment', given: 'two deposits and a payment', query: '?after=2' },
      { name: 'the end for now', given: 'two deposits and a payment', query: '?after=3' },
    ],
    failures: [badQuery('?limit=1000')],
  } satisfies docs.Operation
}
