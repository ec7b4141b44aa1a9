import { type WebhookType, webhookTypes } from '../../common/event-types.ts'
import { sealedSchema } from '../../schemas/checkpoint.ts'
import { eventOf } from '../../schemas/event.ts'
import type { JsonObject } from './for-generators.ts'
import { describedText, schemaOf } from './references.ts'

/** The report of each type, as readers of the OpenAPI document see it. */
const descriptions: Readonly<Record<WebhookType, string>> = {
  'deposit.seen':
    'A transfer to a user in a block that is not final yet. It can still be dropped, or turn out to be worth nothing.',
  'deposit.dropped':
    'The height where it was seen is final, and it is not there. Where it is mined again, it is seen again.',
  'deposit.credited': 'A deposit, with its ledger entry.',
  'deposit.held': 'A final transfer that cannot be decided for now; once for each reason.',
  'deposit.refused': 'A final transfer that is worth nothing.',
  'entry.posted': 'Any other ledger entry.',
  'payout.waiting': 'A payout was asked for that a person must approve.',
  'payout.approved':
    'A payout may be signed: it is within the limits, somebody has approved it, or a transaction of it has expired.',
  'payout.signed': 'The bytes of a payout are stored, and are sent.',
  'payout.paid': 'The transaction of a payout is final and has paid.',
  'payout.stuck': 'The transaction of a payout is final and has failed or paid something else, or three have expired.',
  'payout.cancelled': 'The money of a payout is back in its wallet.',
  'order.partly': 'A deposit counts for an order, which needs more: `at_least` − `credited` is missing.',
  'order.paid':
    'An order is paid: at least `at_least` is credited. Surplus that comes later makes no further event of the order. Of an order with ' +
    '`take` `taken` is false where the user had spent the money meanwhile.',
  'order.expired': 'The time of an order has passed. What comes within 24 hours still counts, and can pay it.',
  'order.cancelled': 'An order was cancelled.',
  'address.frozen':
    'The issuer of a token has frozen an address: its tokens cannot be collected. One for each log, in the order in which blocks are read; ' +
    'what holds now is `frozen` of `GET /ledger/address`.',
  'address.released': 'The issuer has released the address.',
  'address.destroyed':
    'The issuer has destroyed the tokens of a frozen address. Nothing in the ledger changes by itself.',
  'ledger.sealed':
    'The newest checkpoint of the archive, for an endpoint whose `types` names this type. Keep it: nobody can then change an older line ' +
    'of the archive unseen. It is no event of the feed.',
}

const eventPattern = '^evt_[1-9]\\d*_\\d+(_\\d+)?$'
const sealPattern = '^seal_[1-9]\\d*_[0-9a-f]{16}$'

const headersOf = (pattern: string) => ({
  'webhook-id': describedText('The same for each delivery: a receiver ignores an id that it knows.', { pattern }),
  'webhook-timestamp': describedText('When it was sent, in seconds since 1970.', { pattern: '^\\d+$' }),
  'webhook-signature': describedText(
    'By Standard Webhooks: one `v1,…` for each secret of the endpoint, with spaces between.',
  ),
})

/** Describes the requests that the service sends to the endpoints of `WEBHOOKS`. */
export function describeWebhooks(): JsonObject {
  const describe = (type: WebhookType) => {
    const isSeal = type === 'ledger.sealed'
    const delivery = isSeal
      ? 'Only the newest is delivered, at least once.'
      : 'Delivered at least once and in order; the body is the event as in the feed.'
    const headers = headersOf(isSeal ? sealPattern : eventPattern)
    return {
      operationId: type.replace(/[.](.)/, (_, first: string) => first.toUpperCase()),
      tags: ['Webhooks'],
      summary: type,
      description: `${descriptions[type]} ${delivery}`,
      security: [],
      parameters: Object.entries(headers).map(([name, one]) => ({ name, in: 'header', required: true, ...one })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(isSeal ? sealedSchema() : eventOf(type)) } },
      },
      responses: {
        '2XX': { description: 'Received, within 10 seconds.' },
        '4XX': { description: 'A failure, as is every other answer, redirects included: it is sent again.' },
      },
    }
  }
  return Object.fromEntries(webhookTypes.map((type) => [type, { post: describe(type) }]))
}
