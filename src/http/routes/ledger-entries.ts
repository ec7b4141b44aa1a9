import * as z from 'zod/mini'
import type { LedgerRoute } from '../context.ts'
import * as docs from '../openapi/docs.ts'
import { uidParam, withQuery } from '../query.ts'
import { answerEntries, flow, flowListQuery, selectionDocs, selectionFailures } from './wallet-flow-list.ts'

/** The parameters of `GET /ledger/entries`. */
export const ledgerEntriesQuery = z.object({ uid: uidParam(), ...flowListQuery.shape })

/** The ledger entries of a named user, newest first. */
export const ledgerEntries = {
  path: '/ledger/entries',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: withQuery(ledgerEntriesQuery, (c, { uid, ...selection }) => answerEntries(c, uid, selection, (item) => item)),
} satisfies LedgerRoute

/** The item of an entry with the name of its backend. */
export const postedFlow = () =>
  docs.component('PostedFlow', () =>
    z.extend(flow(), { by: docs.textSchema('The name of the backend that posted the entry; empty for a recharge.') }),
  )

/** The documentation of `GET /ledger/entries`. */
export const ledgerEntriesDocs = () =>
  ({
    id: 'listLedgerEntries',
    summary: 'The ledger entries of a user',
    description: 'As `/wallet/flow/list`, for a named user. Each entry has the name of its backend in `by`.',
    query: ledgerEntriesQuery,
    parameters: { ...docs.uidNote, ...selectionDocs() },
    success: docs.listBody('LedgerEntriesResponse', postedFlow, 'The number of entries that match, on all pages.'),
    examples: ['type=4', 'osn=order-1001'].map((filter) =>
      docs.dataExample(`a payment by ${filter}`, 'two deposits and a payment', `?uid=7&${filter}`, {
        list: [docs.paidEntry],
        count: 1,
      }),
    ),
    failures: selectionFailures('?uid=7&'),
  }) satisfies docs.Operation
