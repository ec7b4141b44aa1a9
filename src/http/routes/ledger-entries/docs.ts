import * as z from 'zod/mini'
import { markCharsMax, postEntriesMax, postedEntry } from '../../../ledger/parse-post.ts'
import { bodyBytesMax, bodyTooLarge, brokenBody, wrongMediaType } from '../../errors.ts'
import { paidEntry } from '../../openapi/example-data.ts'
import { backendFailures, badQuery } from '../../openapi/failures.ts'
import { dataExample, operation, postExample, postOperation } from '../../openapi/operation.ts'
import { amountSchema, countSchema, failureBody, notes, successBody, textSchema } from '../../openapi/response.ts'
import { flow, walletFlowListOperation } from '../wallet-flow-list/docs.ts'
import { ledgerEntriesQuery } from './query.ts'

/** A ledger entry with the name of its backend. */
export const postedFlow = z
  .extend(flow, { by: textSchema('The name of the backend that posted the entry; empty for a recharge.') })
  .register(notes, { id: 'PostedFlow' })

const { uid, cuy, type, osn, mark } = postedEntry.shape

const entryToPost = z
  .strictObject({
    uid: uid.register(notes, { description: 'The user.' }),
    cuy: cuy.register(notes, { description: 'The currency.' }),
    type: type.register(notes, {
      description:
        '2 withdraw (negative), 3 transfer between wallets (either), 4 payment (negative), 5 refund (positive), 9 adjustment ' +
        'by an operator (either).',
    }),
    osn: osn.register(notes, { description: 'The order serial reference, unique per type and wallet.' }),
    amt: z
      .union([
        textSchema('A decimal, with a minus sign where it is negative.', /^-?\d+(\.\d+)?$/),
        amountSchema('The same as a number, which is read digit by digit.'),
      ])
      .register(notes, { description: 'The change of the balance, signed, in whole units, without an exponent.' }),
    mark: mark.register(notes, { description: `A remark for people, at most ${markCharsMax} characters.` }),
  })
  .register(notes, { id: 'EntryToPost' })

const body = z
  .strictObject({ entries: z.array(entryToPost).check(z.minLength(1), z.maxLength(postEntriesMax)) })
  .register(notes, { id: 'PostEntriesRequest' })

const payment = { uid: 7, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5', mark: 'two cups' } as const
const refund = { uid: 7, cuy: 2, type: 5, osn: 'order-1001', amt: 1, mark: 'a cold cup' } as const
const refunded = { ...paidEntry, id: 4, type: 5, amt: 1, balance: 23.5, mark: 'a cold cup' } as const
const gift = [
  { uid: 7, cuy: 2, type: 3, osn: 'gift-7', amt: '-10' },
  { uid: 8, cuy: 2, type: 3, osn: 'gift-7', amt: '10' },
] as const
const given = { ...paidEntry, osn: 'gift-7', type: 3, amt: -10, balance: 15, mark: '' } as const

/** The documentation of `GET /ledger/entries`. */
export const listLedgerEntriesOperation = operation({
  id: 'listLedgerEntries',
  tag: 'Ledger',
  summary: 'The ledger entries of a user',
  description: 'As `/wallet/flow/list`, for a named user. Each entry has the name of its backend in `by`.',
  query: ledgerEntriesQuery,
  parameters: { uid: { description: 'The user.', example: 7 }, ...walletFlowListOperation.parameters },
  success: successBody(
    'LedgerEntriesResponse',
    z.strictObject({
      list: z.array(postedFlow),
      count: countSchema('The number of entries that match, on all pages.'),
    }),
  ),
  failure: failureBody,
  examples: [
    dataExample('a payment', 'two deposits and a payment', '?uid=7&type=4', { list: [paidEntry], count: 1 }),
    dataExample('an order', 'two deposits and a payment', '?uid=7&osn=order-1001', { list: [paidEntry], count: 1 }),
  ],
  failures: [
    badQuery('?uid=7&limit=1000', 'limit: a whole number from 1 to 100', ' Or `page` and `before` are both given.'),
    ...backendFailures('ledger:read'),
  ],
})

/** The documentation of `POST /ledger/entries`. */
export const postLedgerEntriesOperation = postOperation({
  id: 'postLedgerEntries',
  tag: 'Ledger',
  summary: 'Post entries: all or none',
  description:
    `Posts 1 to ${postEntriesMax} entries in the order sent. The identity of an entry is its \`uid\`, \`cuy\`, \`osn\` and \`type\`: a post ` +
    'whose entries are all known with the same amounts and marks gets the first answer again, with `replayed: true`, so a post ' +
    'whose answer was lost can always be sent again. The transfers (type 3) of a post have one `osn` and sum to zero in each ' +
    'currency. A balance never becomes negative, not between two entries either. A refusal changes nothing.',
  body,
  success: successBody(
    'PostEntriesResponse',
    z.strictObject({
      list: z.array(postedFlow),
      count: countSchema('The number of entries in the list.'),
      replayed: z.boolean().register(notes, { description: 'Whether the entries were posted before.' }),
    }),
  ),
  failure: failureBody,
  examples: [
    postExample(
      'a payment',
      'two deposits, credited',
      { entries: [payment] },
      { list: [paidEntry], count: 1, replayed: false },
    ),
    postExample(
      'the same again',
      'two deposits and a payment',
      { entries: [payment] },
      { list: [paidEntry], count: 1, replayed: true },
    ),
    postExample(
      'a refund',
      'two deposits and a payment',
      { entries: [refund] },
      { list: [refunded], count: 1, replayed: false },
    ),
    postExample(
      'a transfer',
      'two deposits, credited',
      { entries: gift },
      { list: [given, { ...given, id: 4, uid: 8, wid: 3, amt: 10, balance: 10 }], count: 2, replayed: false },
    ),
  ],
  failures: [
    {
      status: 400,
      name: 'bad-entry',
      cause:
        'An entry has a wrong member: its form, its sign for the type, its currency, too many decimals. Or entries do not fit ' +
        'together: transfers that do not sum to zero, a key twice.',
      cure: 'The message has the number of the entry, the member, and what it takes.',
      given: 'two deposits, credited',
      request: { entries: [payment, { ...refund, amt: '-1' }] },
      msg: 'entry 2: amt: positive for type 5',
    },
    {
      status: 400,
      name: 'broken-body',
      cause: 'The body is not JSON, not an object with `entries` alone, or nested deeper than that.',
      cure: 'Send `{"entries": [...]}` in UTF-8.',
      given: 'two deposits, credited',
      request: '{"entries": [',
      msg: brokenBody.msg,
    },
    {
      status: 409,
      name: 'conflict',
      cause:
        'An entry of the post is known with another amount or mark, or some of its entries are known and others are not.',
      cure: 'Look at the stored entry by its `osn`. A different order needs another `osn`.',
      given: 'two deposits and a payment',
      request: { entries: [{ ...payment, amt: '-3' }] },
      msg: 'entry 1: its uid, cuy, osn and type are known with another amount or mark',
    },
    {
      status: 413,
      name: 'too-large',
      cause: `The body has more than ${bodyBytesMax} bytes.`,
      cure: `Send at most ${postEntriesMax} entries in one post.`,
      given: 'two deposits, credited',
      request: ' '.repeat(bodyBytesMax + 1),
      msg: bodyTooLarge.msg,
    },
    {
      status: 415,
      name: 'wrong-media-type',
      cause: 'The body is declared as something else than JSON, or not at all.',
      cure: 'Send `content-type: application/json`.',
      given: 'two deposits, credited',
      request: { entries: [payment] },
      requestHeaders: { 'content-type': 'text/plain' },
      msg: wrongMediaType.msg,
    },
    {
      status: 422,
      name: 'insufficient',
      cause: 'The wallet holds less than the entry takes, the entries before it in the post included.',
      cure: 'Nothing of the post was stored. The message has what the wallet holds and what is needed.',
      given: 'two deposits, credited',
      request: { entries: [{ ...payment, amt: '-25.000001' }] },
      msg: 'entry 1: wallet of user 7 in USDT holds 25, 25.000001 are needed',
    },
    {
      status: 422,
      name: 'wallet-full',
      cause: 'The wallet would hold more than 2^53−1 smallest units.',
      cure: 'Nothing of the post was stored. Use another wallet.',
      given: 'two deposits, credited',
      request: { entries: [{ ...refund, amt: '9007199254.740991' }] },
      msg: 'entry 1: wallet of user 7 in USDT holds 25, 9007199254.740991 do not fit: a wallet can hold at most 9007199254.740991',
    },
    ...backendFailures('ledger:post'),
  ],
})
