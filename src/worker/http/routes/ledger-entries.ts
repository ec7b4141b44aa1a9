import * as z from 'zod/mini'
import { postedItem } from '../../ledger/entry.ts'
import { orderRowsMax, selectAllEntries, selectOrder } from '../../ledger/store/entries.ts'
import { postedFlow } from '../../schemas/entry.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonAmount } from '../../schemas/written.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import { answerRead } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { badInput, uidParam, withQuery } from '../query.ts'
import { useCases } from '../use-cases.ts'
import { flowListQuery, selectionDocs, selectionFailures } from './wallet-flow-list.ts'

/** Over RPC `uid` is required. */
const query = z.object({ ...flowListQuery.shape, uid: z.optional(uidParam()) })

/** The parameters that are allowed without `uid`. Any other filter would read the whole history. */
const ofAll: readonly string[] = ['osn', 'limit', 'before']

/** The ledger entries of one user, or of all users, newest first. */
export const ledgerEntries = {
  path: '/ledger/entries',
  method: 'GET',
  ...useCases.entries,
  handle: withQuery(query, async (c, { uid, ...selection }) => {
    if (uid !== undefined) return answerRead(c, useCases.entries, { uid, ...selection })
    const other = Object.entries(selection).find(([name, value]) => value !== undefined && !ofAll.includes(name))
    if (other !== undefined) return refusal(badInput(other[0], onlyWithUid))
    const { currencies } = c.env.services.settings
    const { osn } = selection
    const { list, count } = await reading(c, ({ db }) =>
      osn === undefined ? selectAllEntries({ db, currencies }, selection) : selectOrder(db, osn, selection),
    )
    return success({ list: list.map((entry) => postedItem(entry, currencies, jsonAmount)), count })
  }),
} satisfies LedgerRoute

const onlyWithUid = 'only allowed with uid'

/**
 * `GET /ledger/entries` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerEntriesDocs = () =>
  ({
    id: 'listLedgerEntries',
    summary: 'The ledger entries of a user, or of all',
    description:
      'As `/wallet/flow/list`, for a named user. Without `uid` those of all users: then only `osn`, `limit` and `before` are allowed. Each ' +
      'entry has the name of its backend in `by`.',
    query,
    parameters: {
      ...selectionDocs(),
      osn: {
        description:
          'A full `osn`, or a txid in any form for all of its entries. Without `uid` exactly this `osn`, among the entries of backends: ' +
          '`GET /ledger/deposits` finds the recharges of a transaction.',
        example: docs.usdtTxid,
      },
      uid: {
        ...docs.uidNote.uid,
        description: 'Only of this user. Required by all other parameters but `osn`, `limit` and `before`.',
      },
    },
    success: schemas.listBody(
      'LedgerEntriesResponse',
      postedFlow,
      `The number of entries that match, on all pages; with \`osn\` and without \`uid\`, ${orderRowsMax} means that many or more.`,
    ),
    examples: ['uid=7&type=4', 'uid=7&osn=order-1001', 'osn=order-1001'].map((filter) => ({
      name: `a payment by ${filter}`,
      given: 'two deposits and a payment',
      query: `?${filter}`,
    })),
    failures: [...selectionFailures('?uid=7&'), { ...badQuery('?type=4'), name: 'type-without-uid' }],
  }) satisfies docs.Operation
