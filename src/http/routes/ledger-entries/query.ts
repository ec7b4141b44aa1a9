import * as z from 'zod/mini'
import type { Uid } from '../../../common/ids.ts'
import type { QueryFailure } from '../../../common/query-failure.ts'
import { ok, type Result } from '../../../common/result.ts'
import type { Currencies } from '../../../ledger/currencies.ts'
import { nameCurrencies, parseParameters, parseQuery, uidParam } from '../../query.ts'
import { type EntrySelection, flowListQuery, selectEntries } from '../wallet-flow-list/query.ts'

/** The parameters of `GET /ledger/entries`. */
export const ledgerEntriesQuery = z.object({ uid: uidParam(), ...flowListQuery.shape })

/** Whose entries, which of them, and which page. */
export interface LedgerEntriesRequest extends EntrySelection {
  readonly uid: Uid
}

/** What a URL requests. */
export function parseLedgerEntriesQuery(
  url: string,
  currencies: Currencies,
): Result<LedgerEntriesRequest, QueryFailure> {
  return readRequest(nameCurrencies(parseQuery(ledgerEntriesQuery, url), currencies), currencies)
}

/** What parameters by their names request. */
export function readLedgerEntriesQuery(
  values: Readonly<Record<string, unknown>>,
  currencies: Currencies,
): Result<LedgerEntriesRequest, QueryFailure> {
  return readRequest(nameCurrencies(parseParameters(ledgerEntriesQuery, values), currencies), currencies)
}

function readRequest(
  query: Result<z.output<typeof ledgerEntriesQuery>, QueryFailure>,
  currencies: Currencies,
): Result<LedgerEntriesRequest, QueryFailure> {
  if (!query.ok) return query
  const selection = selectEntries(query.value, currencies)
  return selection.ok ? ok({ uid: query.value.uid, ...selection.value }) : selection
}
