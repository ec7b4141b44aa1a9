import * as z from 'zod/mini'
import { type EventType, eventTypes, heldReasons, refusedReasons } from '../../d1/tables.ts'
import { postedFlow } from '../routes/ledger-entries.ts'
import { amountSchema, component, countSchema, idSchema, instantSchema, textSchema } from './docs.ts'

const place = () => ({
  txid: textSchema('The transaction, 64 hex digits.', /^[0-9a-f]{64}$/),
  position: countSchema('The position of the log among those of the transaction; 0 for TRX.'),
})
const cuy = () => idSchema('The currency.')
const address = () => textSchema('The address of the user that is paid.', /^T\w{33}$/)

const uncredited = (reasons: readonly string[]) =>
  z.strictObject({
    ...place(),
    cuy: cuy(),
    address: address(),
    reason: textSchema(`One of ${reasons.join(', ')}.`),
    why: textSchema('The same for people: the sentence of `/tron/recharge?txid=…`.'),
  })

/** The data of each type of event. */
const dataOf = {
  'deposit.seen': () =>
    z.strictObject({
      ...place(),
      cuy: cuy(),
      amt: amountSchema('What is transferred, in whole units.'),
      address: address(),
      seconds: countSchema('About how long until the block is final.'),
    }),
  'deposit.dropped': () => z.strictObject(place()),
  'deposit.credited': () => z.strictObject({ ...place(), address: address(), entry: postedFlow() }),
  'deposit.held': () => uncredited(heldReasons),
  'deposit.refused': () => uncredited(refusedReasons),
  'entry.posted': () => z.strictObject({ entry: postedFlow() }),
} as const satisfies Record<EventType, () => z.ZodMiniType>

/** When each type of event is stored. */
const eventDescriptions: Readonly<Record<EventType, string>> = {
  'deposit.seen':
    'A transfer to a user in a block that is not final yet. It can still be dropped, or turn out to be worth nothing.',
  'deposit.dropped':
    'The height where it was seen is final, and it is not there. Where it is mined again, it is seen again.',
  'deposit.credited': 'A deposit, with its ledger entry.',
  'deposit.held': 'A final transfer that cannot be decided for now; once for each reason.',
  'deposit.refused': 'A final transfer that is worth nothing.',
  'entry.posted': 'Any other ledger entry.',
}

/** `DepositSeen` for `deposit.seen`. */
const nameOf = (type: EventType) => type.replaceAll(/(?:^|[.])(.)/g, (_, first: string) => first.toUpperCase())

/** An event of one type. */
const eventOf = <Type extends EventType>(type: Type) =>
  component(nameOf(type), () =>
    z.strictObject({
      id: idSchema('Its number: 1, 2, 3 … in the order in which events are stored.'),
      type: z.literal(type),
      uid: idSchema('The user.'),
      created_at: instantSchema(),
      // safe: the data of this type
      data: dataOf[type]() as ReturnType<(typeof dataOf)[Type]>,
    }),
  )

/** An event of any type. */
export const eventSchema = () =>
  z.discriminatedUnion('type', [
    eventOf('deposit.seen'),
    eventOf('deposit.dropped'),
    eventOf('deposit.credited'),
    eventOf('deposit.held'),
    eventOf('deposit.refused'),
    eventOf('entry.posted'),
  ])

/** A JSON object of the document. */
type JsonMember = Readonly<Record<string, unknown>>

const header = (name: string, description: string, schema: JsonMember) => {
  return { name, in: 'header', required: true, description, schema: { type: 'string', ...schema } }
}

const headers = () => [
  header('webhook-id', 'The same for each delivery of an event: a receiver ignores an id that it knows.', {
    pattern: '^evt_[1-9]\\d*_\\d+$',
  }),
  header('webhook-timestamp', 'When it was sent, in seconds since 1970.', { pattern: '^\\d+$' }),
  header(
    'webhook-signature',
    'By Standard Webhooks: one `v1,…` for each secret of the endpoint, with spaces between.',
    {},
  ),
]

/** The requests to the endpoints of `WEBHOOKS`. `refTo` makes a reference to a schema. */
export function describeWebhooks(refTo: (schema: z.ZodMiniType) => JsonMember): JsonMember {
  const describe = (type: EventType) => ({
    operationId: type.replace(/[.](.)/, (_, first: string) => first.toUpperCase()),
    tags: ['Ledger'],
    summary: type,
    description: `${eventDescriptions[type]} Delivered at least once and in order; the body is the event as in the feed.`,
    security: [],
    parameters: headers(),
    requestBody: { required: true, content: { 'application/json': { schema: refTo(eventOf(type)) } } },
    responses: {
      '2XX': { description: 'Received, within 10 seconds.' },
      '4XX': { description: 'A failure, as is every other answer, redirects included: the event is sent again.' },
    },
  })
  return Object.fromEntries(eventTypes.map((type) => [type, { post: describe(type) }]))
}
