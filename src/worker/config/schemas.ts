import * as z from 'zod/mini'
import { parseAddress } from '../chain/address.ts'
import { err, ok, parseJson, type Result } from '../common/result.ts'
import { isSafeUrl } from '../common/safe-url.ts'

/** The bindings and variables of a deployment by name, before they are parsed. */
export type Bindings = Readonly<Record<string, unknown>>

/**
 * Parses the bindings with `schema`. The error has one sentence for each wrong value, with the
 * variable and what it must be. It never contains the value, which may be a secret.
 */
export function parseBindings<T>(schema: z.ZodMiniType<T>, bindings: Bindings): Result<T, readonly string[]> {
  const parsed = schema.safeParse(bindings)
  if (parsed.success) return ok(parsed.data)
  return err([...new Set(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`))])
}

/**
 * Refuses the value that is being parsed, or the member of it at `path`. `takes` says what the
 * value must be, and becomes the message.
 */
export type Refuse = (takes: string, ...path: (string | number)[]) => never

/**
 * Makes a schema that calls `parse` with what `schema` accepts. Zod's issues never contain the
 * value, because it may be a secret.
 */
export const parsedBy = <In, Out>(schema: z.ZodMiniType<In>, parse: (value: In, refuse: Refuse) => Out) =>
  z.pipe(
    schema,
    z.transform(
      (value: In, { issues }): Out =>
        parse(value, (message, ...path) => {
          issues.push({ code: 'custom', input: null, message, path })
          return z.NEVER
        }),
    ),
  )

/** Makes a schema that also accepts a missing or empty variable, and gives it the value null. */
export const optional = <T>(schema: z.ZodMiniType<T>) =>
  z.pipe(
    z.transform((value): unknown => (value === '' ? null : (value ?? null))),
    z.nullable(schema),
  )

/**
 * Makes the schema of a text of 1 to 4,096 characters. `takes` says in the error what the variable
 * must be, as everywhere in this file.
 */
export const text = (takes: string) => z.string(takes).check(z.minLength(1, takes), z.maxLength(4096, takes))

/** Makes the schema of a text that `parse` understands; `parse` returns null to refuse it. */
export const parsedText = <T>(takes: string, parse: (value: string) => T | null) =>
  parsedBy(text(takes), (value, refuse) => parse(value) ?? refuse(takes))

/** Makes the schema of a Tron address in Base58Check, whose value is an `Address`. */
export const addressText = (takes: string) =>
  parsedText(takes, (value) => {
    const address = parseAddress(value)
    return address.ok ? address.value : null
  })

/**
 * Makes the schema of a whole number from `min` to `max`, or of its decimal digits as text, because
 * variables are often texts.
 */
export const integerFrom = <T extends number = number>(min: number, max: number) => {
  const takes = `a whole number from ${min} to ${max}`
  const schema: z.ZodMiniType<number> = z.pipe(
    z.transform((value): unknown => (typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value)),
    z.int(takes).check(z.gte(min, takes), z.lte(max, takes)),
  )
  return schema as z.ZodMiniType<T> // safe: the range is the definition of T
}

/**
 * Makes the schema of an array of 1 to `max` items, or of its JSON text, because secrets and
 * `.dev.vars` can only be text.
 */
export const listOf = <T>(
  item: z.ZodMiniType<T>,
  max: number,
  takes = `an array of 1 to ${max} entries, or its JSON text`,
) =>
  z.pipe(
    // A text that is not JSON becomes undefined, which the array schema refuses with `takes` as its
    // message.
    z.transform((value) => (typeof value === 'string' ? parseJson(value) : value)),
    z.array(item, takes).check(z.minLength(1, takes), z.maxLength(max, takes)),
  )

/**
 * Whether two of the values are the same. Objects are the same only if they are one object, as in a
 * `Set`.
 */
export const hasRepeats = (values: readonly unknown[]): boolean => new Set(values).size < values.length

/**
 * Makes the schema of an object in a list. An unknown member is refused: it may be a misspelled
 * one, without which the entry means something else.
 */
export const entryOf = <S extends Record<string, z.ZodMiniType>>(shape: S) =>
  z.strictObject(shape, `only ${Object.keys(shape).join(', ')}`)

/**
 * Parses a URL to which keys can be sent safely. A URL with a user or a password is refused,
 * because Workers drop both without an error.
 */
export const url = parsedText('an https URL without user and password (http only for a loopback host)', (value) => {
  const parsed = URL.parse(value)
  return isSafeUrl(value) && parsed?.username === '' && parsed.password === '' ? value : null
})

/**
 * Host and port of a URL in one spelling: always with a port, without a dot after the host. `URL`
 * itself normalizes case and IP addresses.
 */
export function hostAndPortOf(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname.replace(/\.$/, '')}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/**
 * Host, port and path of a URL in one spelling: URLs of the same place give the same text. So two
 * spellings of one key set are noticed.
 */
export function placeOf(address: string): string {
  const decode = (code: string) => String.fromCharCode(Number.parseInt(code.slice(1), 16))
  const path = new URL(address).pathname.replaceAll(/%[0-9a-f]{2}/gi, decode)
  return hostAndPortOf(address) + path.replace(/\/+$/, '')
}
