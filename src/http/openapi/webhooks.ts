import { eventTypes } from '../../events/event.ts'
import { eventDescriptions, eventSchemas } from './event-schemas.ts'

/** A JSON object of the document. */
type JsonMember = Readonly<Record<string, unknown>>

const header = (name: string, description: string, schema: JsonMember) => {
  return { name, in: 'header', required: true, description, schema }
}

const headers = [
  header('webhook-id', 'The same for each delivery of an event: a receiver ignores an id that it knows.', {
    type: 'string',
    pattern: '^evt_[1-9]\\d*_\\d+$',
  }),
  header('webhook-timestamp', 'When it was sent, in seconds since 1970.', { type: 'string', pattern: '^\\d+$' }),
  header(
    'webhook-signature',
    'By Standard Webhooks: one `v1,…` for each secret of the endpoint, separated by a space.',
    {
      type: 'string',
    },
  ),
]

/** The requests to the endpoints of `WEBHOOKS`. `refTo` makes a reference to a schema. */
export function describeWebhooks(
  refTo: (schema: (typeof eventSchemas)[keyof typeof eventSchemas]) => JsonMember,
): JsonMember {
  return Object.fromEntries(
    eventTypes.map((type) => [
      type,
      {
        post: {
          operationId: type.replace(/[.](.)/, (_, first: string) => first.toUpperCase()),
          tags: ['Ledger'],
          summary: type,
          description: `${eventDescriptions[type]} Delivered at least once and in order; the body is the event as in the feed.`,
          security: [],
          parameters: headers,
          requestBody: { required: true, content: { 'application/json': { schema: refTo(eventSchemas[type]) } } },
          responses: {
            '2XX': { description: 'Received, within 10 seconds.' },
            '4XX': { description: 'A failure, as is every other answer, redirects included: the event is sent again.' },
          },
        },
      },
    ]),
  )
}
