import * as z from 'zod/mini'
import { type EventType, eventTypes } from '../common/event-types.ts'
import { heldReasons, type Reason, refusedReasons } from '../common/reasons.ts'
import { postedFlow } from './entry.ts'
import { orderSchema } from './order.ts'
import * as schemas from './parts.ts'
import { payoutSchema } from './payout.ts'
import type { WithAmounts } from './written.ts'

/**
 * The member `data` of an event, by the event's type. A payout and an order are shown as they were
 * at the event. `A` is the type of an amount.
 */
export type EventData<A> = { readonly [T in EventType]: WithAmounts<z.output<ReturnType<(typeof dataOf)[T]>>, A> }

const transferPlace = () => ({
  txid: schemas.textSchema('The transaction, 64 hex digits.', /^[0-9a-f]{64}$/),
  position: schemas.positionSchema(),
})
const cuy = () => schemas.idSchema('The currency.')
const address = () => schemas.textSchema('The address of the user that is paid.', /^T\w{33}$/)

/** The order that a transfer belongs to. */
const order = () =>
  z.exactOptional(
    schemas.textSchema(
      'The reference of the order for which it counts, or for which it came after that was cancelled.',
    ),
  )

const uncredited = <const Word extends Reason>(reasons: readonly Word[]) =>
  z.strictObject({
    ...transferPlace(),
    cuy: cuy(),
    address: address(),
    reason: schemas.described(z.enum(reasons), 'Why, as one word for programs.'),
    why: schemas.textSchema('The same for people: the sentence of `/tron/recharge?txid=…`.'),
  })

/** The data of an event about what a token's issuer did to a user's address. */
const ofAddress = () => ({
  address: schemas.textSchema('The address of the user.', /^T\w{33}$/),
  cuy: cuy(),
  txid: schemas.textSchema('The transaction of the issuer, 64 hex digits.', /^[0-9a-f]{64}$/),
})

/** The schema of the data of each type of event. A type that is missing here does not compile. */
const dataOf = {
  'deposit.seen': () =>
    z.strictObject({
      ...transferPlace(),
      cuy: cuy(),
      amt: schemas.amountSchema('What is transferred, in whole units.'),
      address: address(),
      seconds: schemas.countSchema('About how long until the block is final.'),
      order: order(),
    }),
  'deposit.dropped': () => z.strictObject(transferPlace()),
  'deposit.credited': () =>
    z.strictObject({ ...transferPlace(), address: address(), order: order(), entry: postedFlow() }),
  'deposit.held': () => uncredited(heldReasons),
  'deposit.refused': () => uncredited(refusedReasons),
  'entry.posted': () => z.strictObject({ entry: postedFlow() }),
  'payout.waiting': payoutSchema,
  'payout.approved': payoutSchema,
  'payout.signed': payoutSchema,
  'payout.paid': payoutSchema,
  'payout.stuck': payoutSchema,
  'payout.cancelled': payoutSchema,
  'order.partly': orderSchema,
  'order.paid': orderSchema,
  'order.expired': orderSchema,
  'order.cancelled': orderSchema,
  'address.frozen': () => z.strictObject(ofAddress()),
  'address.released': () => z.strictObject(ofAddress()),
  'address.destroyed': () =>
    z.strictObject({ ...ofAddress(), amt: schemas.amountSchema('What was destroyed, in whole units.') }),
} as const satisfies Record<EventType, () => z.ZodMiniObject>

/** The name of a type's schema: `DepositSeen` for `deposit.seen`. */
const nameOf = (type: EventType) => type.replaceAll(/(?:^|[.])(.)/g, (_, first: string) => first.toUpperCase())

/** The schema of events of one type: the common members, and the `data` of this type. */
export const eventOf = <Type extends EventType>(type: Type) =>
  schemas.object(nameOf(type), () => ({
    id: schemas.idSchema('Its number: 1, 2, 3 … in the order in which events are stored.'),
    type: schemas.component(`${nameOf(type)}Type`, () => z.literal(type)),
    uid: schemas.idSchema('The user.'),
    created_at: schemas.instantSchema(),
    cell: z.optional(schemas.idSchema('The number of its database, in a webhook of a deployment that has several.')),
    // safe: `dataOf[type]` makes the schema of this type
    data: dataOf[type]() as ReturnType<(typeof dataOf)[Type]>,
  }))

/** The schemas of events of these types, in their order. */
type EventSchemas<Types extends readonly EventType[]> = {
  readonly [I in keyof Types]: ReturnType<typeof eventOf<Types[I]>>
}

/** The schema of an event of any type. Its `type` says which schema its data has. */
export const eventSchema = () =>
  schemas.component('Event', () =>
    // safe: the list has one schema for each type, in the order of `eventTypes`
    z.discriminatedUnion('type', eventTypes.map((type) => eventOf(type)) as unknown as EventSchemas<typeof eventTypes>),
  )
