import * as z from 'zod/mini'
import { eventsMax } from '../../../events/event-store.ts'
import { eventSchema } from '../../openapi/event-schemas.ts'
import { paidEntry } from '../../openapi/example-data.ts'
import { backendFailures, badQuery } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import { countSchema, failureBody, successBody } from '../../openapi/response.ts'
import { ledgerEventsQuery } from './query.ts'

const posted = {
  id: 3,
  type: 'entry.posted',
  uid: 7,
  created_at: '2026-09-21T14:14:20.417Z',
  data: { entry: paidEntry },
} as const

/** The documentation of `GET /ledger/events`. */
export const listLedgerEventsOperation = operation({
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
  success: successBody(
    'LedgerEventsResponse',
    z.strictObject({ list: z.array(eventSchema), count: countSchema('The number of events in the list.') }),
  ),
  failure: failureBody,
  examples: [
    dataExample('a payment', 'two deposits and a payment', '?after=2', { list: [posted], count: 1 }),
    dataExample('the end for now', 'two deposits and a payment', '?after=3', { list: [], count: 0 }),
  ],
  failures: [badQuery('?limit=1000', 'limit: a whole number from 1 to 100'), ...backendFailures('ledger:read')],
})
