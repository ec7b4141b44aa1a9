import * as z from 'zod/mini'
import { parseTxid, type Txid } from '../chain/block.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'

/** Longest value of a parameter that sets no limit of its own, in characters: a txid with `0x` has 66. */
export const paramCharsMax = 80

const digitsForm = /^[1-9]\d{0,15}$/

/** A query that its schema refuses: the parameter, and what it takes. */
type BadInput = Extract<QueryFailure, { kind: 'bad-input' }>
type Shape = Record<string, z.ZodMiniType>

/** Reads the parameters of a URL that the schema has; unknown ones are ignored. A repeated one is refused. */
export function parseQuery<S extends Shape>(
  schema: z.ZodMiniObject<S>,
  url: string,
): Result<z.output<z.ZodMiniObject<S>>, BadInput> {
  const values: Record<string, string | readonly string[]> = {}
  if (url.includes('?')) {
    const { searchParams } = new URL(url)
    for (const name of Object.keys(schema.shape)) {
      const [first, ...more] = searchParams.getAll(name)
      if (first !== undefined) values[name] = more.length === 0 ? first : [first, ...more]
    }
  }
  return parseParameters(schema, values)
}

/** Reads parameters by their names. */
export function parseParameters<S extends Shape>(
  schema: z.ZodMiniObject<S>,
  values: Readonly<Record<string, unknown>>,
): Result<z.output<z.ZodMiniObject<S>>, BadInput> {
  const parsed = schema.safeParse(values)
  if (parsed.success) return ok(parsed.data)
  const [issue] = parsed.error.issues
  const field = String(issue?.path[0])
  const takes = String(issue?.message)
  return badInput(field, Array.isArray(values[field]) ? `${takes}, given once` : takes)
}

/** The result of parsing a schema with `cuy`: the message of a wrong `cuy` lists the configured currencies. */
export function nameCurrencies<T>(query: Result<T, BadInput>, currencies: Currencies): Result<T, BadInput> {
  return query.ok || query.error.field !== 'cuy' ? query : unknownCurrency(currencies)
}

/** The configured currency with the id `cuy`. */
export function findCurrency(currencies: Currencies, cuy: number): Result<Currency, BadInput> {
  const currency = currencies.list.find((one) => one.cuy === cuy)
  return currency === undefined ? unknownCurrency(currencies) : ok(currency)
}

/** The failure of a query: `why` is what the parameter takes. */
export function badInput(field: string, why: string): Result<never, BadInput> {
  return err({ kind: 'bad-input', field, why })
}

/** A parameter of this form that `parse` accepts; it returns null for any other. `takes` is the message. */
export function textParam<T>(
  takes: string,
  form: RegExp,
  parse: (value: string) => T | null,
  charsMax: number = paramCharsMax,
) {
  return z.pipe(
    z.string(takes).check(z.maxLength(charsMax, takes), z.regex(form, takes)),
    z.transform((value: string, context): T => {
      const parsed = parse(value)
      if (parsed !== null) return parsed
      context.issues.push({ code: 'custom', message: takes, input: value })
      return z.NEVER
    }),
  )
}

/** A whole number without sign, leading zero or exponent. */
export function wholeNumber(max: number = Number.MAX_SAFE_INTEGER) {
  const takes = `a whole number from 1 to ${max}`
  return z.pipe(textParam(takes, digitsForm, Number), z.int(takes).check(z.minimum(1, takes), z.maximum(max, takes)))
}

/** A user that a backend names. */
export function uidParam() {
  return wholeNumber() as unknown as z.ZodMiniType<Uid, string> // safe: 1 to 2^53−1 is the definition
}

/** One of these words. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]) {
  return z.enum([...choices], `one of ${choices.join(', ')}`)
}

/** A txid in lower case without `0x`, or null for any other text. */
export function readTxid(value: string): Txid | null {
  const txid = parseTxid(value)
  return txid.ok ? txid.value : null
}

function unknownCurrency({ list }: Currencies): Result<never, BadInput> {
  return badInput('cuy', `one of ${list.map(({ cuy, symbol }) => `${cuy} (${symbol})`).join(', ')}, given at most once`)
}
