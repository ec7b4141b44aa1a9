import * as z from 'zod/mini'
import { postedItem } from '../../ledger/entry-item.ts'
import { markCharsMax, postEntriesMax, postedEntry } from '../../ledger/parse-post.ts'
import { postEntries } from '../../ledger/post-entries.ts'
import { type LedgerRoute, writing } from '../context.ts'
import { failure, jsonAmount, success } from '../envelope.ts'
import { bodyBytesMax, bodyTooLarge, brokenBody, toPostProblem, wrongMediaType } from '../errors.ts'
import * as docs from '../openapi/docs.ts'
import { backendFailures } from '../openapi/failures.ts'
import { readEntries } from '../post-body.ts'
import { postedFlow } from './ledger-entries.ts'

/** Posts entries: all or none. */
export const postLedgerEntries = {
  path: '/ledger/entries',
  method: 'POST',
  scope: () => 'ledger:post',
  handle: async (c) => {
    const { services } = c.env
    const entries = await readEntries(c.req.raw)
    if (!entries.ok) return failure(entries.error)
    const posted = await writing(c, (context) =>
      postEntries(context, entries.value, c.get('backend'), context.clock.now()),
    )
    if (!posted.ok) return failure(toPostProblem(posted.error))
    services.wakeEndpoints()
    const { replayed } = posted.value
    const { currencies } = services.settings
    const list = posted.value.entries.map((entry) => ({ ...postedItem(entry, currencies, jsonAmount) }))
    return success({ list, count: list.length, replayed })
  },
} satisfies LedgerRoute

const entryToPost = () =>
  docs.component('EntryToPost', () => {
    const { uid, cuy, type, osn, mark } = postedEntry.shape
    return z.strictObject({
      uid: docs.described(uid, 'The user.'),
      cuy: docs.described(cuy, 'The currency.'),
      type: docs.described(
        type,
        '2 withdraw (negative), 3 transfer between wallets (either), 4 payment (negative), 5 refund (positive), 9 adjustment ' +
          'by an operator (either).',
      ),
      osn: docs.described(osn, 'The order serial reference, unique per type and wallet.'),
      amt: docs.described(
        z.union([
          docs.textSchema('A decimal, with a minus sign where it is negative.', /^-?\d+(\.\d+)?$/),
          docs.amountSchema('The same as a number, which is read digit by digit.'),
        ]),
        'The change of the balance, signed, in whole units, without an exponent.',
      ),
      mark: docs.described(mark, `A remark for people, at most ${markCharsMax} characters.`),
    })
  })

const body = () =>
  docs.component('PostEntriesRequest', () =>
    z.strictObject({ entries: z.array(entryToPost()).check(z.minLength(1), z.maxLength(postEntriesMax)) }),
  )

const response = () =>
  docs.successBody('PostEntriesResponse', () =>
    z.strictObject({
      list: z.array(postedFlow()),
      count: docs.countSchema('The number of entries in the list.'),
      replayed: docs.described(z.boolean(), 'Whether the entries were posted before.'),
    }),
  )

const payment = { uid: 7, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5', mark: 'two cups' } as const
const refund = { uid: 7, cuy: 2, type: 5, osn: 'order-1001', amt: 1, mark: 'a cold cup' } as const

const examples = () => {
  const refunded = { ...docs.paidEntry, id: 4, type: 5, amt: 1, balance: 23.5, mark: 'a cold cup' } as const
  const gift = { uid: 7, cuy: 2, type: 3, osn: 'gift-7', amt: '-10' } as const
  const given = { ...docs.paidEntry, osn: 'gift-7', type: 3, amt: -10, balance: 15, mark: '' } as const
  const received = { ...given, id: 4, uid: 8, wid: 3, amt: 10, balance: 10 }
  const gifts = { entries: [gift, { ...gift, uid: 8, amt: '10' }] }
  const pays = { entries: [payment] }
  const answer = <Item>(...list: Item[]) => ({ list, count: list.length, replayed: false })
  const known = { ...answer(docs.paidEntry), replayed: true }
  return [
    docs.postExample('a payment', 'two deposits, credited', pays, answer(docs.paidEntry)),
    docs.postExample('the same again', 'two deposits and a payment', pays, known),
    docs.postExample('a refund', 'two deposits and a payment', { entries: [refund] }, answer(refunded)),
    docs.postExample('a transfer', 'two deposits, credited', gifts, answer(given, received)),
  ]
}

const bodyFailures = () =>
  [
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
  ] as const satisfies readonly docs.Failure[]

const ledgerFailures = () =>
  [
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
  ] as const satisfies readonly docs.Failure[]

/** The documentation of `POST /ledger/entries`. */
export const postLedgerEntriesDocs = () =>
  docs.operation({
    id: 'postLedgerEntries',
    tag: 'Ledger',
    summary: 'Post entries: all or none',
    description:
      `Posts 1 to ${postEntriesMax} entries in the order sent. The identity of an entry is its \`uid\`, \`cuy\`, \`osn\` and \`type\`: a post ` +
      'whose entries are all known with the same amounts and marks gets the first answer again, with `replayed: true`, so a post ' +
      'whose answer was lost can always be sent again. The transfers (type 3) of a post have one `osn` and sum to zero in each ' +
      'currency. A balance never becomes negative, not between two entries either. A refusal changes nothing.',
    query: z.object({}),
    parameters: {},
    body: body(),
    success: response(),
    failure: docs.failureBody(),
    examples: examples(),
    failures: [...bodyFailures(), ...ledgerFailures(), ...backendFailures('ledger:post')],
  })
