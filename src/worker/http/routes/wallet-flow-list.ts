import * as z from 'zod/mini'
import { type CurrencyId, type EntryId, type EntryType, entryTypes, type WalletId } from '../../common/ids.ts'
import { type EntrySelection, osnCharsMax, osnForm, postedItem } from '../../ledger/entry.ts'
import { listEntries, offsetMax } from '../../ledger/list-entries.ts'
import { pageRowsDefault } from '../../ledger/store/entries.ts'
import { flow } from '../../schemas/entry.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonAmount } from '../../schemas/written.ts'
import { type Route, reading } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { choiceParam, idParam, instantParam, type ParametersOf, textParam, wholeNumber, withQuery } from '../query.ts'

/** Most items on one page of a list. Events and statements have limits of their own. */
export const pageRowsMax = 100

const osnExpected = `an osn or txid of at most ${osnCharsMax} printable ASCII characters`
const typeParam = z.pipe(
  choiceParam(Object.values(entryTypes).map((type) => `${type}`)),
  z.transform((type) => Number(type) as EntryType), // safe: the schema lists the types
)

/** The parameters that select entries. `/ledger/entries` has `uid` in addition. */
export const flowListQuery = z.object({
  page: z.optional(wholeNumber()),
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<EntryId>()),
  cuy: z.optional(idParam<CurrencyId>()),
  wid: z.optional(idParam<WalletId>()),
  type: z.optional(typeParam),
  osn: z.optional(textParam(osnExpected, osnForm, (osn) => osn, osnCharsMax)),
  from: z.optional(instantParam()),
  to: z.optional(instantParam()),
} satisfies ParametersOf<EntrySelection>)

/** The user's ledger entries, newest first. */
export const walletFlowList = {
  path: '/wallet/flow/list',
  rateClass: () => 'lists',
  handle: withQuery(flowListQuery, async (c, selection) => {
    const found = await reading(c, (context) => listEntries(context, c.get('uid'), selection))
    if (!found.ok) return refusal(found.error)
    const { currencies } = c.env.services.settings
    const list = found.value.list.map((entry) => {
      const { by: _, ...item } = postedItem(entry, currencies, jsonAmount)
      return item
    })
    return success({ list, count: found.value.count })
  }),
} satisfies Route

/** Notes for the OpenAPI document on `flowListQuery`. */
export const selectionDocs = () => ({
  page: { description: 'From 1, which is the default. Not allowed with `before`.', example: 1 },
  limit: { description: `Entries on a page, at most ${pageRowsMax}; the default is ${pageRowsDefault}.`, example: 20 },
  before: {
    description: 'Only entries with a smaller `id`: the last one of the previous page. Not allowed with `page`.',
    example: 1000,
  },
  cuy: { description: `Only this currency. ${docs.cuyExpected}`, example: 2 },
  wid: { description: 'Only this wallet.', example: 2 },
  type: { description: 'Only this type; the response schema lists them.', example: '1' },
  osn: { description: 'A full `osn`, or a txid in any form for all of its entries.', example: docs.usdtTxid },
  from: {
    description: 'Only entries created at or after this instant, which is cut downwards to milliseconds.',
    example: '2026-11-01T00:00:00Z',
  },
  to: {
    description: 'Only entries created before this instant, which is cut downwards to milliseconds.',
    example: '2026-12-01T00:00:00Z',
  },
})

/** The documented failures of `flowListQuery`. `prefix` begins the queries of the examples. */
export const selectionFailures = (prefix: '?' | '?uid=7&') => [
  badQuery(`${prefix}limit=1000`),
  {
    ...badQuery(`${prefix}page=2&before=9`),
    name: 'page-with-before',
    cause: 'Both are given.',
  },
]

const given = 'two deposits, credited'

/**
 * `GET /wallet/flow/list` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const walletFlowListDocs = () =>
  ({
    id: 'listFlows',
    summary: 'Your ledger entries',
    description:
      'Your entries, newest first. Use `page` to turn pages or, for long histories, `before`, which no new entry moves. A page past ' +
      `the end is empty. In a history of more than ${offsetMax} entries, a page past so many of them is refused: use \`before\`.`,
    query: flowListQuery,
    parameters: selectionDocs(),
    success: schemas.listBody('FlowListResponse', flow, 'The number of entries that match, on all pages.'),
    examples: [
      { name: 'two entries', given },
      { name: 'the second page', given, query: '?page=2&limit=1' },
      { name: 'one transaction', given, query: `?osn=${docs.usdtTxid}` },
    ],
    failures: selectionFailures('?'),
  }) satisfies docs.Operation
