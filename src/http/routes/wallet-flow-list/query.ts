import * as z from 'zod/mini'
import type { EntryId, EntryType, WalletId } from '../../../common/ids.ts'
import { entryTypes } from '../../../common/ids.ts'
import type { QueryFailure } from '../../../common/query-failure.ts'
import { ok, type Result } from '../../../common/result.ts'
import type { UnixMs } from '../../../common/time.ts'
import type { Currencies } from '../../../ledger/currencies.ts'
import { osnCharsMax, osnForm } from '../../../ledger/entry.ts'
import type { EntryFilter, EntryPage } from '../../../ledger/ledger-reader.ts'
import { badInput, findCurrency, nameCurrencies, oneOf, parseQuery, textParam, wholeNumber } from '../../query.ts'

/** Most entries on one page. */
export const pageRowsMax = 100
/** Entries on a page without `limit`. */
export const pageRowsDefault = 20
/** Pages past this one are empty in any database of D1's size (10 GB). It keeps page × limit far below 2^53. */
const pageNumberMax = 1_000_000_000

const instantForm = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** The parameters of `GET /wallet/flow/list`. */
export const flowListQuery = z.object({
  page: z.optional(wholeNumber()),
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(wholeNumber()),
  cuy: z.optional(wholeNumber()),
  wid: z.optional(wholeNumber()),
  type: z.optional(oneOf(Object.values(entryTypes).map((type) => `${type}` as const))),
  osn: z.optional(
    textParam(
      `an osn or txid of at most ${osnCharsMax} printable ASCII characters`,
      osnForm,
      (osn) => osn,
      osnCharsMax,
    ),
  ),
  from: z.optional(instantParam()),
  to: z.optional(instantParam()),
})

/** Which entries, and which page of them. */
export interface EntrySelection {
  readonly filter: EntryFilter
  readonly page: EntryPage
}

/** Which entries a URL selects. */
export function parseFlowListQuery(url: string, currencies: Currencies): Result<EntrySelection, QueryFailure> {
  const query = nameCurrencies(parseQuery(flowListQuery, url), currencies)
  return query.ok ? selectEntries(query.value, currencies) : query
}

/** Which entries parsed parameters select. */
export function selectEntries(
  parameters: z.output<typeof flowListQuery>,
  currencies: Currencies,
): Result<EntrySelection, QueryFailure> {
  const { page = 1, before, limit = pageRowsDefault, cuy, wid, type, osn, from, to } = parameters
  if (before !== undefined && parameters.page !== undefined) return badInput('page', 'not allowed with before')
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

function instantParam() {
  const takes = 'an ISO 8601 instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'
  return textParam(takes, instantForm, readInstant)
}

/** ISO 8601 with a zone. `Date.parse` alone accepts other forms, and reads 31 April as 1 May. */
function readInstant(value: string): UnixMs | null {
  const day = instantForm.exec(value)?.[1]
  if (day === undefined) return null
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return null
  return Date.parse(value) as UnixMs // safe: the form is checked and the day exists
}
