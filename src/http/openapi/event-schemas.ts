import * as z from 'zod/mini'
import type { EventType } from '../../events/event.ts'
import { postedFlow } from '../routes/ledger-entries/docs.ts'
import { amountSchema, countSchema, idSchema, notes, textSchema } from './response.ts'

const txid = textSchema('The transaction, 64 hex digits.', /^[0-9a-f]{64}$/)
const position = countSchema('The position of the log among those of the transaction; 0 for TRX.')
const cuy = idSchema('The currency.')
const address = textSchema('The address of the user that is paid.', /^T\w{33}$/)

/** An event of one type. */
const eventOf = <Type extends EventType, Data extends z.ZodMiniType>(id: string, type: Type, data: Data) =>
  z
    .strictObject({
      id: idSchema('Its number: 1, 2, 3 … in the order in which events are stored.'),
      type: z.literal(type),
      uid: idSchema('The user.'),
      created_at: z.iso.datetime({ precision: 3 }).register(notes, { description: 'UTC, with milliseconds.' }),
      data,
    })
    .register(notes, { id })

const uncredited = (reason: string) =>
  z.strictObject({
    txid,
    position,
    cuy,
    address,
    reason: textSchema(reason),
    why: textSchema('The same for people: the sentence of `/tron/recharge?txid=…`.'),
  })

/** The body of each type of event. */
export const eventSchemas = {
  'deposit.seen': eventOf(
    'DepositSeen',
    'deposit.seen',
    z.strictObject({
      txid,
      position,
      cuy,
      amt: amountSchema('What is transferred, in whole units.'),
      address,
      seconds: countSchema('About how long until the block is final.'),
    }),
  ),
  'deposit.dropped': eventOf('DepositDropped', 'deposit.dropped', z.strictObject({ txid, position })),
  'deposit.credited': eventOf(
    'DepositCredited',
    'deposit.credited',
    z.strictObject({ txid, position, address, entry: postedFlow }),
  ),
  'deposit.held': eventOf(
    'DepositHeld',
    'deposit.held',
    uncredited(
      'One of no-api, api-unavailable, bytes-unreadable, disagreement, decimals-differ, decimals-unknown, retired, too-large.',
    ),
  ),
  'deposit.refused': eventOf(
    'DepositRefused',
    'deposit.refused',
    uncredited('One of failed, other-contract, below-minimum, dust.'),
  ),
  'entry.posted': eventOf('EntryPosted', 'entry.posted', z.strictObject({ entry: postedFlow })),
} as const satisfies Record<EventType, z.ZodMiniType>

/** When each type of event is stored. */
export const eventDescriptions: Readonly<Record<EventType, string>> = {
  'deposit.seen':
    'A transfer to a user in a block that is not final yet. It can still be dropped, or turn out to be worth nothing.',
  'deposit.dropped':
    'The height where it was seen is final, and it is not there. Where it is mined again, it is seen again.',
  'deposit.credited': 'A deposit, with its ledger entry.',
  'deposit.held': 'A final transfer that cannot be decided for now; once for each reason.',
  'deposit.refused': 'A final transfer that is worth nothing.',
  'entry.posted': 'Any other ledger entry.',
}

/** An event of any type. */
export const eventSchema = z.discriminatedUnion('type', [
  eventSchemas['deposit.seen'],
  eventSchemas['deposit.dropped'],
  eventSchemas['deposit.credited'],
  eventSchemas['deposit.held'],
  eventSchemas['deposit.refused'],
  eventSchemas['entry.posted'],
])
