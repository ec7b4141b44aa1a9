import * as z from 'zod/mini'
import { entryTypes, reservedUid } from '../../common/ids.ts'
import { remarkCharsMax } from '../../common/remark.ts'
import type { PostedType } from '../../ledger/entry.ts'
import { postEntriesMax, postedEntry, typesWith } from '../../ledger/parse-post.ts'
import { postedFlow } from '../../schemas/entry.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { toPostProblem } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'

/**
 * Posts ledger entries for a backend: all or none. A repeated post gets the answer of the first
 * one, with `replayed: true`.
 */
export const postLedgerEntries = {
  path: '/ledger/entries',
  method: 'POST',
  ...useCases.post,
  handle: handleWrite(useCases.post, (c) => c.get('backend'), toPostProblem),
} satisfies LedgerRoute

const entryToPost = () => {
  const { cuy, osn } = postedEntry.shape
  const one = <Type extends z.ZodMiniType<PostedType>, User extends z.ZodMiniType<number>>(
    id: string,
    sign: 'negative' | 'positive',
    members: { readonly uid: User; readonly type: Type },
  ) =>
    schemas.object(id, () => ({
      uid: members.uid,
      cuy: schemas.described(cuy, `The currency. ${docs.cuyExpected}`),
      type: members.type,
      osn: schemas.described(osn, 'The order serial reference, unique per type and wallet.'),
      amt: schemas.sentAmountSchema(sign),
      mark: z.optional(schemas.remarkSchema(`A remark for people, at most ${remarkCharsMax} characters.`)),
    }))
  const user = () => schemas.described(z.int().check(z.minimum(1), z.maximum(reservedUid - 1)), 'The user.')
  const giver = () =>
    schemas.described(
      z.int().check(z.minimum(1), z.maximum(reservedUid)),
      `The user, or ${reservedUid}: the owner of reserved addresses, who only gives, in transfers.`,
    )
  const adjustment = '9 adjustment by an operator.'
  const isTransfer = (type: PostedType) => type === entryTypes.transfer
  return schemas.component('EntryToPost', () =>
    z.union([
      one('EntryToTake', 'negative', {
        uid: user(),
        type: typesSchema(
          'TypeToTake',
          typesWith('negative').filter((type) => !isTransfer(type)),
          'Out',
          `2 withdraw, 4 payment, ${adjustment}`,
        ),
      }),
      one('EntryToTransfer', 'negative', {
        uid: giver(),
        type: schemas.described(z.literal(entryTypes.transfer), '3 transfer between wallets, from this one.'),
      }),
      one('EntryToGive', 'positive', {
        uid: user(),
        type: typesSchema(
          'TypeToGive',
          typesWith('positive'),
          'In',
          `3 transfer between wallets, to this one, 5 refund, ${adjustment}`,
        ),
      }),
    ]),
  )
}

/**
 * A schema of these entry types. In generated clients their names end with `direction`: in some
 * languages the names of both directions share one namespace.
 */
function typesSchema(id: string, types: readonly PostedType[], direction: 'In' | 'Out', description: string) {
  const wordOf = (type: PostedType) => Object.entries(entryTypes).find(([, one]) => one === type)?.[0] ?? ''
  const names = types.map((type) => wordOf(type).replace(/^./, (first) => first.toUpperCase()) + direction)
  return schemas.numberWords(id, types, names, description)
}

const body = () =>
  schemas.object('PostEntriesRequest', () => ({
    entries: schemas.sentListSchema(entryToPost(), postEntriesMax, 'The entries, in this order.'),
  }))

const response = () =>
  schemas.dataBody('PostEntriesResponse', () => ({
    list: z.array(postedFlow()),
    count: schemas.countSchema('The number of entries in the list.'),
    replayed: schemas.described(z.boolean(), 'Whether the entries were posted before.'),
  }))

const payment = { uid: 7, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5', mark: 'two cups' }
const refund = { uid: 7, cuy: 2, type: 5, osn: 'order-1001', amt: 1, mark: 'a cold cup' }
const adjustment = { uid: 7, cuy: 2, type: 9, osn: 'adjustment-1', amt: '1.5', mark: 'a surplus, by the office' }
const before = 'two deposits, credited'
const after = 'two deposits and a payment'

const gift = { uid: 7, cuy: 2, type: 3, osn: 'gift-7', amt: '-10' }

const examples = [
  { name: 'a payment', given: before, request: { entries: [payment] } },
  { name: 'the same again', given: after, request: { entries: [payment] } },
  { name: 'a refund', given: after, request: { entries: [refund] } },
  { name: 'an adjustment', given: before, request: { entries: [adjustment] } },
  { name: 'a transfer', given: before, request: { entries: [gift, { ...gift, uid: 8, amt: '10' }] } },
] satisfies readonly docs.Example[]

const formFailures = (): readonly docs.Failure[] => [
  {
    name: 'bad-entry',
    cause:
      'An entry has a wrong member: its form, its sign for the type, its currency, too many decimals. Or entries do not fit ' +
      'together: transfers that do not sum to zero, a key twice.',
    cure: 'The message has the number of the entry, the member, and what it takes.',
    given: before,
    request: { entries: [payment, { ...refund, amt: '-1' }] },
  },
  ...bodyFailures({ entries: [payment] }, before, '{"entries": [...]}'),
]

const ledgerFailures = (): readonly docs.Failure[] => [
  refused('content-differs', { given: after, request: { entries: [{ ...payment, amt: '-3' }] } }),
  refused('partly-known', { given: after, request: { entries: [payment, refund] } }),
  refused('backend-differs', { given: 'a payment by another backend', request: { entries: [payment] } }),
  refused('insufficient', { given: before, request: { entries: [{ ...payment, amt: '-25.000001' }] } }),
  refused('other-cell', {
    given: 'three databases',
    request: { entries: [payment, { ...payment, uid: 1_000_007 }] },
  }),
  refused('wallet-full', { given: before, request: { entries: [{ ...refund, amt: '9007199254.740991' }] } }),
]

/**
 * `POST /ledger/entries` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const postLedgerEntriesDocs = () =>
  ({
    id: 'postLedgerEntries',
    summary: 'Post entries: all or none',
    description:
      `Posts 1 to ${postEntriesMax} entries in the order sent. The identity of an entry is its \`uid\`, \`cuy\`, \`osn\` and \`type\`: a post ` +
      'whose entries are all known with the same amounts and marks gets the first answer again, with `replayed: true`, so a post ' +
      'whose answer was lost can always be sent again. The transfers (type 3) of a post have one `osn` and sum to zero in each ' +
      'currency. A balance never becomes negative, not between two entries either. A refusal changes nothing.',
    body: body(),
    success: response(),
    examples,
    failures: [...formFailures(), ...ledgerFailures()],
  }) satisfies docs.Operation
