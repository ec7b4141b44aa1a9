import * as z from 'zod/mini'
import { type Address, parseAddress } from '../../../chain/address.ts'
import type { QueryFailure } from '../../../common/query-failure.ts'
import { ok, type Result } from '../../../common/result.ts'
import type { Currencies, Currency } from '../../../ledger/currencies.ts'
import { findCurrency, nameCurrencies, parseQuery, textParam, wholeNumber } from '../../query.ts'

const addressForm = /^T[1-9A-HJ-NP-Za-km-z]{33}$/

/** The parameters of `GET /tron/balance`. */
export const balanceQuery = z.object({
  cuy: z.optional(wholeNumber()),
  address: z.optional(textParam('a Tron address (34 characters, starts with T)', addressForm, readAddress)),
})

/** The currency, 1 where none is given, and the address, null for all of the caller's. */
export function parseBalanceQuery(
  url: string,
  currencies: Currencies,
): Result<{ readonly currency: Currency; readonly address: Address | null }, QueryFailure> {
  const query = nameCurrencies(parseQuery(balanceQuery, url), currencies)
  if (!query.ok) return query
  const currency = findCurrency(currencies, query.value.cuy ?? 1)
  return currency.ok ? ok({ currency: currency.value, address: query.value.address ?? null }) : currency
}

function readAddress(value: string): Address | null {
  const address = parseAddress(value)
  return address.ok ? address.value : null
}
