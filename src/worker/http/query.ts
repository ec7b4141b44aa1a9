import * as z from 'zod/mini'
import { addressFromHex, parseAddress } from '../chain/address.ts'
import { type CurrencyId, reservedUid, type Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import { instantForm, parseInstant } from '../common/time.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { currencyExpected } from '../ledger/parse-post.ts'
import type { RequestContext } from './context.ts'
import { refusal } from './envelope.ts'

/**
 * Longest value of a parameter without a limit of its own, in characters. A txid with `0x` has 66.
 */
export const paramCharsMax = 80

const digitsForm = /^[1-9]\d{0,15}$/

/** A query that its schema refuses: the parameter, and what it must be. */
type BadInput = Extract<QueryFailure, { kind: 'bad-input' }>
type Shape = Record<string, z.ZodMiniType>

/**
 * The parameters of a list that selects by `Selection`: one for each member of it, and no other. A
 * parameter that nothing selects by does not compile.
 */
export type ParametersOf<Selection> = { readonly [Name in keyof Selection]-?: z.ZodMiniType<Selection[Name]> }

/**
 * The rest of a query, once all that a list selects by was taken out of it: none. A parameter that
 * is parsed and not used does not compile: `others satisfies NothingElse`.
 */
export type NothingElse = Readonly<Record<string, never>>

/**
 * Reads the parameters that the schema names from a URL, as text, and ignores others. A repeated
 * parameter becomes a list, which no schema accepts.
 */
export function readParameters(schema: z.ZodMiniObject<Shape>, url: string): Readonly<Record<string, unknown>> {
  const values: Record<string, string | readonly string[]> = {}
  if (url.includes('?')) {
    const { searchParams } = new URL(url)
    for (const name of Object.keys(schema.shape)) {
      const [first, ...more] = searchParams.getAll(name)
      if (first !== undefined) values[name] = more.length === 0 ? first : [first, ...more]
    }
  }
  return values
}

/**
 * Wraps a handler, which gets the parsed parameters. A request whose parameters the schema refuses
 * is answered with 400, and the handler is not called.
 */
export function withQuery<S extends Shape>(
  schema: z.ZodMiniObject<S>,
  handle: (c: RequestContext, query: z.output<z.ZodMiniObject<S>>) => Promise<Response>,
) {
  return async (c: RequestContext): Promise<Response> => {
    const query = parseParameters(schema, readParameters(schema, c.req.url), c.env.services.settings.currencies)
    return query.ok ? handle(c, query.value) : refusal(query.error)
  }
}

/**
 * Parses parameters. It refuses a repeated parameter, and a `cuy` that is not configured. The error
 * names the first wrong parameter.
 */
export function parseParameters<S extends Shape>(
  schema: z.ZodMiniObject<S>,
  values: Readonly<Record<string, unknown>>,
  currencies: Currencies,
): Result<z.output<z.ZodMiniObject<S>>, BadInput> {
  const parsed = schema.safeParse(values)
  const [issue] = parsed.error?.issues ?? []
  const field = String(issue?.path[0])
  const { cuy }: { readonly cuy?: CurrencyId } = parsed.data ?? {}
  if (field === 'cuy' || (cuy !== undefined && !currencies.byId.has(cuy))) return err(unknownCurrency(currencies))
  if (parsed.success) return ok(parsed.data)
  const takes = String(issue?.message)
  return err(badInput(field, Array.isArray(values[field]) ? `${takes}, given once` : takes))
}

/** The failure of a query; `why` says what the parameter must be. */
export function badInput(field: string, why: string): BadInput {
  return { kind: 'bad-input', field, why }
}

/**
 * A parameter of at most `charsMax` characters that matches `form`, and for which `parse` does not
 * return null. `takes` says what the parameter must be, for the sentence of a refusal.
 */
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

/** A parameter that is a whole number from 1 to `max`, without sign, leading zero or exponent. */
export function wholeNumber(max: number = Number.MAX_SAFE_INTEGER) {
  const takes = `a whole number from 1 to ${max}`
  return z.pipe(textParam(takes, digitsForm, Number), z.int(takes).check(z.minimum(1, takes), z.maximum(max, takes)))
}

/**
 * A parameter that is an id: a whole number from 1 on, as the branded type `Id`. Nobody has looked
 * up whether the id exists.
 */
export function idParam<Id extends number>() {
  // safe: any such number can be an id; `parseParameters` looks up a `cuy`
  return wholeNumber() as unknown as z.ZodMiniType<Id, string>
}

/** Why `before` is refused beside `after`. */
export const notWithAfter = 'not allowed with after'

/** A parameter after which a list begins: 0, or the id of one of `what`, as a branded type. */
export function afterParam<Id extends number>(what: string) {
  const takes = `0 or the id of ${what}: a whole number up to ${Number.MAX_SAFE_INTEGER}`
  return z.pipe(
    textParam(takes, /^(0|[1-9]\d{0,15})$/, Number),
    z.int(takes).check(z.minimum(0, takes), z.maximum(Number.MAX_SAFE_INTEGER, takes)),
  ) as unknown as z.ZodMiniType<Id | 0, string> // safe: 0, or a number that can be an id
}

/** The failure of a `cuy` that is not configured. Its sentence lists the currencies that are. */
export function unknownCurrency(currencies: Currencies): BadInput {
  return badInput('cuy', `${currencyExpected(currencies)}, given at most once`)
}

/** What a `uid` must be, for the sentence that refuses any other value. */
export const uidExpected = `a whole number from 1 to ${reservedUid}`
/**
 * A parameter that is the id of a user, or `reservedUid`, which stands for addresses that an
 * operator has reserved.
 */
export function uidParam() {
  // safe: every number in this range can be a uid
  return wholeNumber(reservedUid) as unknown as z.ZodMiniType<Uid, string>
}

/** What an `address` must be, for the sentence that refuses any other value. */
export const addressExpected = 'a Tron address: T… with 34 characters, or 42 hex digits that begin with 41'
/** A parameter that is a Tron address, in Base58Check with a right checksum, or in hex. */
export function addressParam() {
  return textParam(addressExpected, /^(T[1-9A-HJ-NP-Za-km-z]{33}|41[0-9a-fA-F]{40})$/, (text) => {
    if (!text.startsWith('T')) return addressFromHex(text.slice(2))
    const address = parseAddress(text)
    return address.ok ? address.value : null
  })
}

/**
 * A parameter that is one of these words. The sentence that refuses any other value lists the
 * words.
 */
export function choiceParam<const Choice extends string>(choices: readonly Choice[]) {
  return z.enum([...choices], `one of ${choices.join(', ')}`)
}

/**
 * A parameter that is an instant. Digits below a millisecond are cut off: a stored time that
 * another language writes with more zeros stays the same time.
 */
export function instantParam() {
  const takes = 'an ISO 8601 instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'
  return textParam(takes, instantForm, parseInstant)
}
