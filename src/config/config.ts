import * as z from 'zod/mini'
import { parseAddress } from '../addresses/address.ts'
import { type ExtendedPublicKey, type ExtendedPublicKeyFault, parseExtendedPublicKey } from '../addresses/derive.ts'
import type { BlockHeight } from '../chain/block.ts'
import { err, ok, type Result } from '../common/result.ts'
import { parseUnits } from '../ledger/amount.ts'
import { nativeAsset, trc20Asset } from '../ledger/asset.ts'
import { type Currencies, type Currency, type CurrencyId, indexCurrencies } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'

/** One Tron node. Its URLs and key are secrets: they never reach a caller or a log line. */
export interface NodeConfig {
  readonly rpc: string
  /** Base of its HTTP API, without a slash at the end, or null. */
  readonly api: string | null
  /** Sent as `TRON-PRO-API-KEY`, or null. */
  readonly key: string | null
}

/** How a token is checked. */
export type AuthKey =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'jwks'; readonly url: string }
  /** The routes answer 503, except for `DEV_UID` on loopback. */
  | { readonly kind: 'none' }

/** Section 3 of the contract. */
export interface AuthConfig {
  readonly key: AuthKey
  readonly issuer: string | null
  readonly audience: string | null
  readonly devUid: Uid | null
}

/** Which web pages of other origins may read answers: `*` is all of them. */
export type CorsOrigins = '*' | ReadonlySet<string>

/** The platform's rate limiters; their figures stand in wrangler.toml. Null where a binding is missing: no limit. */
export interface RateLimits {
  /** For what reads: lists, balance, the current address. */
  readonly lists: RateLimit | null
  /** For what costs most: recharge, and a further address. */
  readonly strict: RateLimit | null
}

/** Everything that a deployment may set, checked and frozen. */
export interface Config {
  readonly db: D1Database
  readonly depositKey: ExtendedPublicKey
  /** Lower-case `0x` quantity without leading zeros. */
  readonly chainId: string
  readonly nodes: readonly NodeConfig[]
  readonly quorum: number
  readonly startBlock: BlockHeight | null
  readonly currencies: Currencies
  readonly auth: AuthConfig
  /** Null where CORS is off. */
  readonly cors: CorsOrigins | null
  readonly rateLimits: RateLimits
}

/** Nodes of one pool; more would not make a quorum better, only slower. */
export const nodesMax = 10
/** Currencies of one deployment. */
export const currenciesMax = 50
/** Origins in `CORS_ORIGINS`. */
export const originsMax = 50
/** Shortest `AUTH_JWT_SECRET`, in bytes (RFC 7518, 3.2: at least the hash's size). */
export const secretBytesMin = 32

/**
 * Parses and checks all bindings and variables at once.
 * @returns the frozen configuration, or one sentence for each wrong value. A sentence names the variable and what it
 *   takes, never its value: some of them are secrets.
 */
export function parseConfig(env: Readonly<Record<string, unknown>>): Result<Config, readonly string[]> {
  const faults: string[] = []
  const read = <T>(name: string, schema: z.ZodMiniType<T>, absent?: T): T | null => {
    const value = env[name]
    if (absent !== undefined && (value === undefined || value === '')) return absent
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const told = new Map(parsed.error.issues.map((issue) => [[name, ...issue.path].join('.'), issue.message]))
    for (const [where, message] of told) faults.push(`${where}: ${message}`)
    return null
  }

  const db = isDatabase(env.DB) ? env.DB : null
  if (db === null) faults.push('DB: the D1 database binding is missing')
  const depositKey = read('TRON_XPUB', xpub)
  const chainId = read('TRON_CHAIN_ID', quantity)
  const nodes = resolveNodes(read('TRON_NODES', nodeList), env, faults)
  const quorum = read<number | null>('TRON_QUORUM', z.nullable(integerFrom(1, nodesMax)), null)
  const startBlock = read<number | null>('TRON_START_BLOCK', z.nullable(integerFrom(1, Number.MAX_SAFE_INTEGER)), null)
  const currencies = indexUnique(read('CURRENCIES', currencyList), faults)
  const auth = readAuth(env, read, faults)
  const cors = read<CorsOrigins | null>('CORS_ORIGINS', z.nullable(origins), null)
  const rateLimits = { lists: readLimiter('RATE_LISTS', env, faults), strict: readLimiter('RATE_STRICT', env, faults) }

  const agreeing = quorum ?? Math.min(2, nodes?.length ?? 1)
  if (nodes !== null && agreeing > nodes.length) {
    faults.push(`TRON_QUORUM: at most the number of nodes in TRON_NODES, ${nodes.length}`)
  }
  if (faults.length > 0 || !db || !depositKey || !chainId || !nodes || !currencies) return err(faults)
  return ok(
    Object.freeze({
      db,
      depositKey,
      chainId,
      nodes: Object.freeze(nodes),
      quorum: agreeing,
      startBlock: startBlock as BlockHeight | null, // safe: checked to be an integer from 1
      currencies: Object.freeze(currencies),
      auth: Object.freeze(auth),
      cors,
      rateLimits: Object.freeze(rateLimits),
    }),
  )
}

type Read = <T>(name: string, schema: z.ZodMiniType<T>, absent?: T) => T | null

const text = (what: string) => z.string(what).check(z.minLength(1, what), z.maxLength(4096, what))

const integerFrom = (min: number, max: number) => {
  const what = `a whole number from ${min} to ${max}`
  return z.pipe(
    z.transform((value) => (typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value)),
    z.int(what).check(z.gte(min, what), z.lte(max, what)),
  )
}

/** Refuses with the message that `parse` returns as a string wrapped in an error; passes its value on otherwise. */
const parsedText = <T>(what: string, parse: (value: string) => Result<T, string>) =>
  z.pipe(
    text(what),
    z.transform((value: string, ctx): T => {
      const parsed = parse(value)
      if (parsed.ok) return parsed.value
      ctx.issues.push({ code: 'custom', message: parsed.error, input: null }) // never the input: it can be a secret
      return z.NEVER
    }),
  )

const xpubTakes = "an extended public key (xpub…) of m/44'/195'/0' or m/44'/195'/0'/0"
const xpub = parsedText(xpubTakes, (value) => {
  const key = parseExtendedPublicKey(value)
  if (key.ok) return key
  const secret: readonly ExtendedPublicKeyFault[] = ['private-extended-key', 'hex-key', 'mnemonic']
  return err(secret.includes(key.error) ? `${xpubTakes}; private key material is never accepted` : xpubTakes)
})

const chainIdTakes = 'a chain id such as 0x2b6653dc'
const quantity = parsedText(chainIdTakes, (value) =>
  /^0x[0-9a-f]{1,16}$/i.test(value) ? ok(`0x${BigInt(value).toString(16)}`) : err(chainIdTakes),
)

const urlTakes = 'an https URL (http only for a loopback host)'
const url = parsedText(urlTakes, (value) => {
  const parsed = URL.canParse(value) ? new URL(value) : null
  const safe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname))
  return safe ? ok(value) : err(urlTakes)
})

const baseUrl = z.pipe(
  url,
  z.transform((value: string) => value.replace(/\/+$/, '')),
)

/** An array, or the JSON text of one: `.dev.vars` and secrets can only hold text. */
const listOf = <T>(item: z.ZodMiniType<T>, max: number) => {
  const what = `an array of 1 to ${max} entries, or its JSON text`
  return z.pipe(
    z.transform((value) => (typeof value === 'string' ? parseJson(value) : value)),
    z.array(item, what).check(z.minLength(1, what), z.maxLength(max, what)),
  )
}

const originsTake = `"*", or at most ${originsMax} origins such as https://shop.example, parted by commas or as an array`
const origins = z.pipe(
  z.transform((value): readonly unknown[] => {
    const list = typeof value === 'string' && !value.startsWith('[') ? value.split(',').map((one) => one.trim()) : value
    const parsed = typeof list === 'string' ? parseJson(list) : list
    return Array.isArray(parsed) ? parsed : []
  }),
  z.pipe(
    z
      .array(z.string(originsTake), originsTake)
      .check(z.minLength(1, originsTake), z.maxLength(originsMax, originsTake)),
    z.transform((list, ctx): CorsOrigins => {
      if (list.length === 1 && list[0] === '*') return '*'
      if (list.every(isOrigin)) return new Set(list)
      ctx.issues.push({ code: 'custom', message: originsTake, input: null })
      return z.NEVER
    }),
  ),
)

const nodeList = listOf(
  z.object({
    rpc: url,
    api: z.optional(baseUrl),
    keyVar: z.optional(text('the name of the variable that holds the key')),
  }),
  nodesMax,
)

const currencyList = listOf(
  z.pipe(
    z.object({
      cuy: integerFrom(1, 1_000_000),
      symbol: z
        .string('a symbol')
        .check(z.regex(/^[\w.-]{1,20}$/, 'a symbol of 1 to 20 letters, digits, "_", "." or "-"')),
      contract: z.optional(
        parsedText('a contract address (T…)', (value) => {
          const address = parseAddress(value)
          return address.ok ? address : err('a contract address (T…)')
        }),
      ),
      decimals: integerFrom(0, 36),
      scale: z.optional(integerFrom(0, 8)),
      minDeposit: z.optional(z.string('a decimal as text, such as "1.5"')),
    }),
    z.transform((entry, ctx): Currency => {
      const refuse = (path: string, message: string) => {
        ctx.issues.push({ code: 'custom', path: [path], message, input: null })
        return z.NEVER
      }
      const scale = entry.scale ?? Math.min(entry.decimals, 6)
      const minDeposit = parseUnits(entry.minDeposit ?? '0', entry.decimals)
      if (scale > entry.decimals) return refuse('scale', 'at most the currency’s decimals')
      if (entry.contract === undefined && entry.decimals !== 6) return refuse('decimals', '6 for TRX (no contract)')
      if (!minDeposit.ok) return refuse('minDeposit', `a decimal of at most ${entry.decimals} places, as text`)
      return {
        cuy: entry.cuy as CurrencyId, // safe: checked to be an integer from 1
        symbol: entry.symbol,
        asset: entry.contract === undefined ? nativeAsset : trc20Asset(entry.contract),
        decimals: entry.decimals,
        scale,
        minDeposit: minDeposit.value,
      }
    }),
  ),
  currenciesMax,
)

function resolveNodes(
  entries: z.infer<typeof nodeList> | null,
  env: Readonly<Record<string, unknown>>,
  faults: string[],
): NodeConfig[] | null {
  if (entries === null) return null
  if (new Set(entries.map((entry) => entry.rpc)).size < entries.length) {
    faults.push('TRON_NODES: the same rpc stands twice; one node can’t agree with itself')
  }
  return entries.map((entry, i) => {
    const key = entry.keyVar === undefined ? null : env[entry.keyVar]
    if (key !== null && (typeof key !== 'string' || key === '')) {
      faults.push(`TRON_NODES.${i}.keyVar: the name of a variable or secret that is set`)
    }
    return Object.freeze({ rpc: entry.rpc, api: entry.api ?? null, key: typeof key === 'string' ? key : null })
  })
}

function indexUnique(list: Currency[] | null, faults: string[]): Currencies | null {
  if (list === null) return null
  const repeated = (what: string, keys: unknown[]) => {
    if (new Set(keys).size < keys.length) faults.push(`CURRENCIES: ${what} stands twice`)
  }
  repeated(
    'a cuy',
    list.map((currency) => currency.cuy),
  )
  repeated(
    'a contract (or TRX)',
    list.map(({ asset }) => (asset.kind === 'native' ? 'TRX' : asset.contract)),
  )
  return indexCurrencies(list.map((currency) => Object.freeze(currency)))
}

function readAuth(env: Readonly<Record<string, unknown>>, read: Read, faults: string[]): AuthConfig {
  const secretTakes = `a text of at least ${secretBytesMin} bytes`
  const secret = read<string | null>(
    'AUTH_JWT_SECRET',
    z.nullable(
      text(secretTakes).check(
        z.refine((value) => new TextEncoder().encode(value).length >= secretBytesMin, secretTakes),
      ),
    ),
    null,
  )
  const jwks = read<string | null>('AUTH_JWKS_URL', z.nullable(url), null)
  if (secret !== null && jwks !== null) faults.push('AUTH_JWKS_URL: either this or AUTH_JWT_SECRET, not both')
  const devUid = read<number | null>('DEV_UID', z.nullable(integerFrom(1, Number.MAX_SAFE_INTEGER)), null)
  const given = (name: string) => (env[name] !== undefined && env[name] !== '' ? name : null)
  return {
    key: secret !== null ? { kind: 'secret', secret } : jwks !== null ? { kind: 'jwks', url: jwks } : { kind: 'none' },
    issuer: given('AUTH_ISSUER') && read('AUTH_ISSUER', text('the issuer’s name')),
    audience: given('AUTH_AUDIENCE') && read('AUTH_AUDIENCE', text('the audience’s name')),
    devUid: devUid as Uid | null, // safe: checked to be 1 to 2^53−1
  }
}

/** An absent binding is allowed: tests and other platforms have none. Anything else under its name is a mistake. */
function readLimiter(name: string, env: Readonly<Record<string, unknown>>, faults: string[]): RateLimit | null {
  const value = env[name]
  if (value === undefined) return null
  if (typeof value === 'object' && value !== null && 'limit' in value) return value as RateLimit // safe: what it is for
  faults.push(`${name}: a rate-limit binding`)
  return null
}

/** Exactly as a browser sends it, so that comparing texts is enough: `null` and a slash at the end are none. */
function isOrigin(value: string): boolean {
  const parsed = URL.canParse(value) ? new URL(value) : null
  if (parsed === null || parsed.origin !== value || value.includes('*')) return false
  return parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname))
}

/** Whether a URL's host is this machine: the only place where plain http and `DEV_UID` are taken. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}

function isDatabase(value: unknown): value is D1Database {
  return typeof value === 'object' && value !== null && 'prepare' in value && 'batch' in value
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined // the schema then says what the variable takes
  }
}
