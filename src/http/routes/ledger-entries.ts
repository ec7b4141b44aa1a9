import * as z from 'zod/mini'
import type { Uid } from '../../common/ids.ts'
import { ok, type QueryFailure, type Result } from '../../common/result.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import type { EntrySelection } from '../../ledger/entries.ts'
import { postedItem } from '../../ledger/entry.ts'
import type { LedgerRoute } from '../context.ts'
import { jsonAmount, refusal } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { nameCurrencies, parseParameters, readParameters, uidParam } from '../query.ts'
import {
  answerEntries,
  flow,
  flowListQuery,
  selectionDocs,
  selectionFailures,
  selectionOf,
} from './wallet-flow-list.ts'

const query = z.object({ uid: uidParam(), ...flowListQuery.shape })

/** Whose entries, which of them, and which page: what parameters by their names request. */
export function parseLedgerEntries(
  values: Readonly<Record<string, unknown>>,
  currencies: Currencies,
): Result<EntrySelection & { readonly uid: Uid }, QueryFailure> {
  const parameters = nameCurrencies(parseParameters(query, values), currencies)
  if (!parameters.ok) return parameters
  const selection = selectionOf(parameters.value, currencies)
  return selection.ok ? ok({ uid: parameters.value.uid, ...selection.value }) : selection
}

/** The ledger entries of a named user, newest first. */
export const ledgerEntries = {
  path: '/ledger/entries',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: async (c) => {
    const request = parseLedgerEntries(readParameters(query, c.req.url), c.env.services.settings.currencies)
    if (!request.ok) return refusal(request.error)
    return answerEntries(c, request.value.uid, request.value, (entry, currencies) => ({
      ...postedItem(entry, currencies, jsonAmount),
    }))
  },
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
    query,
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
