import * as z from 'zod/mini'
import { type EntryId, type EntryType, entryTypes, type Uid, type WalletId } from '../../common/ids.ts'
import { ok, type QueryFailure, type Result } from '../../common/result.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { type EntrySelection, listEntries, offsetMax } from '../../ledger/entries.ts'
import { type Entry, osnCharsMax, osnForm, postedItem } from '../../ledger/entry.ts'
import { type RequestContext, type Route, reading } from '../context.ts'
import { type Json, jsonAmount, refusal, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import {
  badInput,
  choiceParam,
  findCurrency,
  instantParam,
  nameCurrencies,
  parseQuery,
  textParam,
  wholeNumber,
} from '../query.ts'

/** Most entries on one page. */
export const pageRowsMax = 100
/** Entries on a page without `limit`. */
export const pageRowsDefault = 20
/** Pages past this one are empty in any database of D1's size (10 GB). It keeps page × limit far below 2^53. */
const pageNumberMax = 1_000_000_000

const pageTakes = 'not allowed with before'
const osnTakes = `an osn or txid of at most ${osnCharsMax} printable ASCII characters`

/** The parameters of `GET /wallet/flow/list`. */
export const flowListQuery = z.object({
  page: z.optional(wholeNumber()),
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(wholeNumber()),
  cuy: z.optional(wholeNumber()),
  wid: z.optional(wholeNumber()),
  type: z.optional(choiceParam(Object.values(entryTypes).map((type) => `${type}` as const))),
  osn: z.optional(textParam(osnTakes, osnForm, (osn) => osn, osnCharsMax)),
  from: z.optional(instantParam()),
  to: z.optional(instantParam()),
})

/** The caller's ledger entries, newest first. */
export const walletFlowList = {
  path: '/wallet/flow/list',
  rateClass: () => 'lists',
  handle: async (c) => {
    const selection = parseFlowListQuery(c.req.url, c.env.services.settings.currencies)
    if (!selection.ok) return refusal(selection.error)
    return answerEntries(c, c.get('uid'), selection.value, (entry, currencies) => {
      const { by: _, ...item } = postedItem(entry, currencies, jsonAmount)
      return item
    })
  },
} satisfies Route

/** Which entries a URL selects. */
export function parseFlowListQuery(url: string, currencies: Currencies): Result<EntrySelection, QueryFailure> {
  const query = nameCurrencies(parseQuery(flowListQuery, url), currencies)
  return query.ok ? selectionOf(query.value, currencies) : query
}

/** Which entries parsed parameters select. */
export function selectionOf(
  parameters: z.output<typeof flowListQuery>,
  currencies: Currencies,
): Result<EntrySelection, QueryFailure> {
  const { page = 1, before, limit = pageRowsDefault, cuy, wid, type, osn, from, to } = parameters
  if (before !== undefined && parameters.page !== undefined) return badInput('page', pageTakes)
  const currency = cuy === undefined ? null : findCurrency(currencies, cuy)
  if (currency?.ok === false) return currency
  const filter = {
    cuy: currency?.value.cuy ?? null,
    wid: (wid ?? null) as WalletId | null, // safe: 1 to 2^53−1, as every id
    type: type === undefined ? null : (Number(type) as EntryType), // safe: the schema lists the types
    osn: osn ?? null,
    from: from ?? null,
    to: to ?? null,
  }
  if (before !== undefined) return ok({ filter, page: { kind: 'before', before: before as EntryId, limit } }) // safe: as wid
  return ok({ filter, page: { kind: 'number', page: Math.min(page, pageNumberMax), limit } })
}

/** Answers with a page of a user's entries, each as `toItem` writes it. */
export async function answerEntries(
  c: RequestContext,
  uid: Uid,
  selection: EntrySelection,
  toItem: (entry: Entry, currencies: Currencies) => Json,
): Promise<Response> {
  const found = await reading(c, (context) => listEntries(context, uid, selection))
  if (!found.ok) return refusal(found.error)
  const { list, count } = found.value
  return success({ list: list.map((entry) => toItem(entry, c.env.services.settings.currencies)), count })
}

/** The item of an entry. */
export const flow = () =>
  docs.component('Flow', () =>
    z.strictObject({
      id: docs.idSchema('The entry. Newer entries have higher ids.'),
      uid: docs.idSchema('The caller.'),
      wid: docs.idSchema('The wallet: one per user and currency.'),
      osn: docs.textSchema(
        'The order serial reference, unique per type and wallet. A recharge has its txid for TRX, and `txid:k` for a token, ' +
          'where k is the position of the log among the logs of the transaction.',
      ),
      type: docs.described(
        z.literal(Object.values(entryTypes)),
        '1 recharge, 2 withdraw, 3 transfer between wallets, 4 payment, 5 refund, 9 adjustment by an operator.',
      ),
      cuy: docs.idSchema('The currency.'),
      amt: docs.amountSchema('The change of the balance, signed, in whole units: entries can be summed.'),
      balance: docs.amountSchema('The balance of the wallet after the entry.'),
      mark: docs.textSchema('A remark for people.'),
      created_at: docs.instantSchema(),
    }),
  )

/** The documentation of the parameters that select entries. */
export const selectionDocs = () => ({
  page: { description: 'From 1, which is the default. Not allowed with `before`.', example: 1 },
  limit: { description: `Entries on a page, at most ${pageRowsMax}; the default is ${pageRowsDefault}.`, example: 20 },
  before: { description: 'Only entries with a smaller `id`: the last one of the previous page.', example: 1000 },
  cuy: { description: 'Only this currency.', example: 2 },
  wid: { description: 'Only this wallet.', example: 2 },
  type: { description: 'Only this type; the response schema lists them.', example: '1' },
  osn: { description: 'A full `osn`, or a txid in any form for all of its entries.', example: docs.usdtTxid },
  from: { description: 'Only entries created at or after this instant.', example: '2026-11-01T00:00:00Z' },
  to: { description: 'Only entries created before this instant.', example: '2026-12-01T00:00:00Z' },
})

/** The failures of parameters that select entries. `prefix` is the beginning of the queries of examples. */
export const selectionFailures = (prefix: '?' | '?uid=7&') => [
  badQuery(`${prefix}limit=1000`, 'limit', `a whole number from 1 to ${pageRowsMax}`),
  { ...badQuery(`${prefix}page=2&before=9`, 'page', pageTakes), name: 'page-with-before', cause: 'Both are given.' },
]

const given = 'two deposits, credited'

/** The documentation of `GET /wallet/flow/list`. */
export const walletFlowListDocs = () =>
  ({
    id: 'listFlows',
    summary: 'Your ledger entries',
    description:
      'Your entries, newest first. Use `page` to turn pages or, for long histories, `before`: then the cost of a page does ' +
      `not grow with its depth. A page past the end is empty. In a history of more than ${offsetMax} entries, a page behind so many ` +
      'of them is refused: use `before`.',
    query: flowListQuery,
    parameters: selectionDocs(),
    success: docs.listBody('FlowListResponse', flow, 'The number of entries that match, on all pages.'),
    examples: [
      docs.dataExample('two entries', given, '', { list: [docs.usdtEntry, docs.trxEntry], count: 2 }),
      docs.dataExample('the second page', given, '?page=2&limit=1', { list: [docs.trxEntry], count: 2 }),
      docs.dataExample('one transaction', given, `?osn=${docs.usdtTxid}`, { list: [docs.usdtEntry], count: 1 }),
    ],
    failures: selectionFailures('?'),
  }) satisfies docs.Operation
