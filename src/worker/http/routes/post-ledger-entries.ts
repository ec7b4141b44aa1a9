import * as z from 'zod/mini'
import { otherCells } from '../../cells/choose.ts'
import { entryTypes, reservedUid } from '../../common/ids.ts'
import type { ConflictReason } from '../../common/reasons.ts'
import { remarkCharsMax } from '../../common/remark.ts'
import type { PostedType } from '../../ledger/entry.ts'
import { postEntriesMax, postedEntry, typesWith } from '../../ledger/parse-post.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { inSeveralCells, toPostProblem, wrongBody } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'
import { postedFlow } from './ledger-entries.ts'

/** Posts ledger entries for a backend: all or none. A repeated post gets the answer of the first one, with `replayed: true`. */
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

/** A schema of these entry types. In generated clients their names end with `direction`: in some languages the names of both directions share one namespace. */
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

const examples = () => {
  const refunded = { ...docs.paidEntry, id: 4, type: 5, amt: 1, balance: 23.5, mark: 'a cold cup' }
  const adjusted = { ...docs.paidEntry, osn: 'adjustment-1', type: 9, amt: 1.5, balance: 26.5, mark: adjustment.mark }
  const gift = { uid: 7, cuy: 2, type: 3, osn: 'gift-7', amt: '-10' }
  const given = { ...docs.paidEntry, osn: 'gift-7', type: 3, amt: -10, balance: 15, mark: '' }
  const received = { ...given, id: 4, uid: 8, wid: 3, amt: 10, balance: 10 }
  const example = (
    name: string,
    given: docs.Situation,
    entries: readonly object[],
    list: readonly object[],
    replayed = false,
  ) => docs.dataExample(name, given, '', { list, count: list.length, replayed }, { entries })
  return [
    example('a payment', before, [payment], [docs.paidEntry]),
    example('the same again', after, [payment], [docs.paidEntry], true),
    example('a refund', after, [refund], [refunded]),
    example('an adjustment', before, [adjustment], [adjusted]),
    example('a transfer', before, [gift, { ...gift, uid: 8, amt: '10' }], [given, received]),
  ]
}

const formFailures = (): readonly docs.Failure[] => [
  {
    name: 'bad-entry',
    problem: toPostProblem({ kind: 'bad-input', entry: 2, member: 'amt', why: 'positive for type 5' }),
    cause:
      'An entry has a wrong member: its form, its sign for the type, its currency, too many decimals. Or entries do not fit ' +
      'together: transfers that do not sum to zero, a key twice.',
    cure: 'The message has the number of the entry, the member, and what it takes.',
    given: before,
    request: { entries: [payment, { ...refund, amt: '-1' }] },
  },
  ...bodyFailures({ entries: [payment] }, before, wrongBody('entries'), '{"entries": [...]}'),
]

const ledgerFailures = (): readonly docs.Failure[] => {
  const holds = 'wallet of user 7 in USDT holds 25,'
  const most = '9007199254.740991'
  const full = `${holds} ${most} do not fit: a wallet can hold at most ${most}`
  return [
    refused(conflict('content-differs', 1, 'its uid, cuy, osn and type are known with another amount or mark'), {
      given: after,
      request: { entries: [{ ...payment, amt: '-3' }] },
    }),
    refused(conflict('partly-known', 2, 'new, while other entries of the post are known: nothing was stored'), {
      given: after,
      request: { entries: [payment, refund] },
    }),
    refused(conflict('backend-differs', 1, 'another backend has posted its uid, cuy, osn and type'), {
      given: 'a payment by another backend',
      request: { entries: [payment] },
    }),
    refused(
      { status: 422, reason: 'insufficient', msg: `entry 1: ${holds} 25.000001 are needed` },
      { given: before, request: { entries: [{ ...payment, amt: '-25.000001' }] } },
    ),
    refused(inSeveralCells(otherCells), {
      given: 'three databases',
      request: { entries: [payment, { ...payment, uid: 1_000_007 }] },
    }),
    refused(
      { status: 422, reason: 'wallet-full', msg: `entry 1: ${full}` },
      { given: before, request: { entries: [{ ...refund, amt: most }] } },
    ),
  ]
}

const conflict = (reason: ConflictReason, entry: number, why: string) =>
  ({ status: 409, reason, msg: `entry ${entry}: ${why}` }) as const

/** `POST /ledger/entries` in the OpenAPI document. The Worker never calls this function, so its bundle has none of these texts. */
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
    examples: examples(),
    failures: [...formFailures(), ...ledgerFailures()],
  }) satisfies docs.Operation
