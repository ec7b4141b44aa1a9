import * as z from 'zod/mini'
import { type Address, parseAddress } from '../addresses/address.ts'
import { parseTxid, type Txid } from '../chain/block.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import { type FlowId, type FlowType, flowTypes, type WalletId } from '../ledger/entry.ts'
import type { FlowFilter, FlowPage } from '../ledger/ledger-store.ts'

/** Most entries on one page. */
export const pageRowsMax = 100
/** Entries on a page where the caller does not say. */
export const pageRowsDefault = 20
/** Longest `osn` that is looked for, in characters. */
export const osnCharsMax = 200
/** Longest value of any other parameter, in characters: a txid with `0x` has 66. */
export const paramCharsMax = 80
/** Pages past this one are empty in any database of D1's size (10 GB); keeps page × limit far below 2^53. */
const pageNumberMax = 1_000_000_000

// What each text looks like, for the schema and its documentation. What only code can tell (a checksum, a 30th of
// February) is read by the functions at the end.
const digitsForm = /^[1-9]\d{0,15}$/
const addressForm = /^T[1-9A-HJ-NP-Za-km-z]{33}$/
const txidForm = /^(?:0[xX])?[0-9a-fA-F]{64}$/
const plainForm = /^[\x20-\x7e]+$/
const instantForm = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** How an address is written in an answer. */
export type AddressFormat = 'base58' | 'number' | 'hex'

type Parsed<T> = Result<T, QueryFailure>
type Shape = Record<string, z.ZodMiniOptional>

/** `GET /tron/generate` */
export const generateQuery = z.object({
  fresh: z.optional(oneOf(['0', '1'])),
  format: z.optional(oneOf(['base58', 'number', 'hex'])),
})

/** `GET /tron/balance` */
export const balanceQuery = z.object({
  cuy: z.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  address: z.optional(text('an address of 34 characters, T first', addressForm, readAddress)),
})

/** `GET /tron/recharge` */
export const rechargeQuery = z.object({
  txid: z.optional(text('64 hex digits, 0x allowed in front', txidForm, readTxid)),
})

/** `GET /wallet/flow/list` */
export const flowListQuery = z.object({
  page: z.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  limit: z.optional(wholeNumber(1, pageRowsMax)),
  before: z.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  cuy: z.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  wid: z.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  type: z.optional(oneOf(Object.values(flowTypes).map((type) => `${type}` as const))),
  osn: z.optional(
    text(`a serial reference or txid of at most ${osnCharsMax} plain characters`, plainForm, readOsn, osnCharsMax),
  ),
  from: z.optional(instant()),
  to: z.optional(instant()),
})

/** Whether a further address is wanted, and how it is to be written. */
export function parseGenerateQuery(url: string): Parsed<{ readonly fresh: boolean; readonly format: AddressFormat }> {
  const query = read(generateQuery, url)
  if (!query.ok) return query
  const { fresh, format = 'base58' } = query.value
  return ok({ fresh: fresh === '1', format })
}

/** Which currency, `cuy` 1 where none is named, and which address, null for all of the caller's. */
export function parseBalanceQuery(
  url: string,
  currencies: Currencies,
): Parsed<{ readonly currency: Currency; readonly address: Address | null }> {
  const query = readWithCurrency(balanceQuery, url, currencies)
  if (!query.ok) return query
  const currency = findCurrency(currencies, query.value.cuy ?? 1)
  if (currency === null) return unknownCurrency(currencies)
  return ok({ currency, address: query.value.address ?? null })
}

/** Which transaction, or null for a scan. */
export function parseRechargeQuery(url: string): Parsed<Txid | null> {
  const query = read(rechargeQuery, url)
  return query.ok ? ok(query.value.txid ?? null) : query
}

/** Which entries, and which page of them. */
export function parseFlowListQuery(
  url: string,
  currencies: Currencies,
): Parsed<{ readonly filter: FlowFilter; readonly page: FlowPage }> {
  const query = readWithCurrency(flowListQuery, url, currencies)
  if (!query.ok) return query
  const { page, before, limit = pageRowsDefault, cuy, wid, type, osn, from, to } = query.value
  if (before !== undefined && page !== undefined) return bad('page', 'not together with before')
  const currency = cuy === undefined ? null : findCurrency(currencies, cuy)
  if (cuy !== undefined && currency === null) return unknownCurrency(currencies)
  const filter = {
    cuy: currency?.cuy ?? null,
    wid: (wid ?? null) as WalletId | null, // safe: 1 to 2^53−1, as every id
    type: type === undefined ? null : (Number(type) as FlowType), // safe: the schema lists the types
    osn: osn ?? null,
    from: from ?? null,
    to: to ?? null,
  }
  if (before !== undefined) return ok({ filter, page: { kind: 'before', before: before as FlowId, limit } }) // safe: as wid
  return ok({ filter, page: { kind: 'number', page: Math.min(page ?? 1, pageNumberMax), limit } })
}

/** The known parameters of a URL through a schema. Unknown ones are ignored; one given twice fails its schema. */
function read<S extends Shape>(schema: z.ZodMiniObject<S>, url: string): Parsed<z.output<z.ZodMiniObject<S>>> {
  const given: Record<string, string | readonly string[]> = {}
  const repeated = new Set<string>()
  if (url.includes('?')) {
    const { searchParams } = new URL(url)
    for (const name of Object.keys(schema.shape)) {
      const [first, ...more] = searchParams.getAll(name)
      if (first !== undefined) given[name] = more.length === 0 ? first : [first, ...more]
      if (more.length > 0) repeated.add(name)
    }
  }
  const parsed = schema.safeParse(given)
  if (parsed.success) return ok(parsed.data)
  const issue = parsed.error.issues[0]
  const field = String(issue?.path[0] ?? 'query')
  const takes = issue?.message ?? 'not understood'
  return bad(field, repeated.has(field) ? `${takes}, given once` : takes)
}

/** As `read`, with the configured currencies named where `cuy` is wrong: the schema can't know them. */
function readWithCurrency<S extends Shape>(schema: z.ZodMiniObject<S>, url: string, currencies: Currencies) {
  const query = read(schema, url)
  const wrongCurrency = !query.ok && query.error.kind === 'bad-input' && query.error.field === 'cuy'
  return wrongCurrency ? unknownCurrency(currencies) : query
}

function findCurrency(currencies: Currencies, cuy: number): Currency | null {
  return currencies.list.find((currency) => currency.cuy === cuy) ?? null
}

function unknownCurrency({ list }: Currencies) {
  return bad('cuy', `one of ${list.map(({ cuy, symbol }) => `${cuy} (${symbol})`).join(', ')}, given at most once`)
}

function bad(field: string, why: string) {
  return err({ kind: 'bad-input', field, why } as const)
}

/** A text of this form that `parse` makes a value of, or null: then the caller is told what the parameter takes. */
function text<T>(takes: string, form: RegExp, parse: (value: string) => T | null, charsMax = paramCharsMax) {
  return z.pipe(
    z.string(takes).check(z.maxLength(charsMax, takes), z.regex(form, takes)),
    z.transform((value: string, ctx): T => {
      const parsed = parse(value)
      if (parsed !== null) return parsed
      ctx.issues.push({ code: 'custom', message: takes, input: value })
      return z.NEVER
    }),
  )
}

function wholeNumber(min: number, max: number) {
  const takes = `a whole number from ${min} to ${max}`
  return z.pipe(text(takes, digitsForm, Number), z.int(takes).check(z.minimum(min, takes), z.maximum(max, takes)))
}

function oneOf<const Choice extends string>(choices: readonly Choice[]) {
  return z.enum([...choices], `one of ${choices.join(', ')}`)
}

function instant() {
  const takes = 'an instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'
  return text(takes, instantForm, readInstant)
}

function readAddress(value: string): Address | null {
  const address = parseAddress(value)
  return address.ok ? address.value : null
}

function readTxid(value: string): Txid | null {
  const txid = parseTxid(value)
  return txid.ok ? txid.value : null
}

/** A bare txid in the form that the ledger keeps; anything else as it is. */
function readOsn(value: string): string | null {
  return readTxid(value) ?? value
}

/** ISO 8601 with its zone. `Date.parse` alone would take other spellings, and the 31st of April as the 1st of May. */
function readInstant(value: string): UnixMs | null {
  const day = instantForm.exec(value)?.[1]
  if (day === undefined) return null
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return null
  return Date.parse(value) as UnixMs // safe: the form and the day are real
}
