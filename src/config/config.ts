import * as z from 'zod/mini'
import {
  type ExtendedPublicKey,
  type ExtendedPublicKeyFault,
  indexMax,
  parseExtendedPublicKey,
} from '../addresses/derive.ts'
import { type Address, parseAddress } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { ScannerCalls } from '../chain/scanner-calls.ts'
import { err, ok, type Result } from '../common/result.ts'
import { type AuthConfig, authSchema, type BackendAuthConfig, backendAuthSchema } from './auth.ts'
import { type ChainConfig, chainSchema } from './chain.ts'
import {
  type Bindings,
  integerFrom,
  isSafeUrl,
  listOf,
  optional,
  parseBindings,
  parsedBy,
  parsedText,
  text,
} from './schemas.ts'
import { type EndpointCalls, type EventsConfig, eventsSchema } from './webhooks.ts'

/** The origins whose web pages may read responses; `*` is all of them. */
export type CorsOrigins = '*' | ReadonlySet<string>

/** The rate limiters of the platform; wrangler.toml has their limits. Null without a binding: no limit. */
export interface RateLimits {
  /** Of one caller, for what reads: lists, the current address. */
  readonly lists: RateLimit | null
  /** Of one caller, for what queries nodes: balance, recharge, a further address. */
  readonly nodes: RateLimit | null
  /** Of one backend. */
  readonly ledger: RateLimit | null
}

/** The Durable Objects of one class, by their names. */
export interface ObjectsByName<Calls> {
  getByName(name: string): Calls
}

/** The configuration of a deployment, checked and frozen. */
export interface Config extends ChainConfig, BackendAuthConfig, EventsConfig {
  readonly db: D1Database
  readonly scanners: ObjectsByName<ScannerCalls>
  readonly endpoints: ObjectsByName<EndpointCalls>
  readonly extendedPublicKey: ExtendedPublicKey
  readonly startBlock: BlockHeight | null
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
  /** The operator's own wallets. What they send is never a deposit. */
  readonly operators: ReadonlySet<Address>
  readonly auth: AuthConfig
  /** Null where CORS is off. */
  readonly cors: CorsOrigins | null
  readonly rateLimits: RateLimits
}

/** Parses and checks all bindings and variables at once. See `parseBindings` for the faults. */
export function parseConfig(bindings: Bindings): Result<Config, readonly string[]> {
  const own = parseBindings(ownSchema, bindings)
  const chain = parseBindings(chainSchema, bindings)
  const auth = parseBindings(authSchema, bindings)
  const backend = parseBindings(backendAuthSchema, bindings)
  const events = parseBindings(eventsSchema, bindings)
  if (own.ok && chain.ok && auth.ok && backend.ok && events.ok) {
    const parts = { ...own.value, ...chain.value, ...backend.value, ...events.value }
    return ok(Object.freeze({ ...parts, auth: Object.freeze(auth.value) }))
  }
  return err([own, chain, auth, backend, events].flatMap((part) => (part.ok ? [] : part.error)))
}

/** A binding with these methods, the only ones that the service calls. */
const binding = <T>(takes: string, ...methods: readonly string[]) =>
  z.custom<T>((value) => typeof value === 'object' && value !== null && methods.every((name) => name in value), takes)

/** A missing rate limiter is not a fault: tests and other platforms have none. */
const rateLimit = optional(binding<RateLimit>('a rate-limit binding', 'limit'))

const xpubTakes = "an extended public key (xpub…) of m/44'/195'/n' or m/44'/195'/n'/0"
const secretFaults: readonly ExtendedPublicKeyFault[] = ['private-extended-key', 'hex-key', 'mnemonic']

const xpub = parsedBy(text(xpubTakes), (value, refuse) => {
  const key = parseExtendedPublicKey(value)
  if (key.ok) return key.value
  return refuse(secretFaults.includes(key.error) ? `${xpubTakes}; private key material is never accepted` : xpubTakes)
})

const operatorsMax = 100
const operator = parsedText('a Tron address (34 characters, starts with T)', (value) => {
  const address = parseAddress(value)
  return address.ok ? address.value : null
})

const originsMax = 50
const originsTake = `"*", or at most ${originsMax} origins such as https://shop.example, separated by commas or as an array`

const originList = z.pipe(
  z.transform((value): unknown =>
    typeof value === 'string' && !value.startsWith('[') ? value.split(',').map((one) => one.trim()) : value,
  ),
  listOf(z.string(originsTake), originsMax, originsTake),
)

const origins = parsedBy(originList, (list, refuse): CorsOrigins => {
  if (list.length === 1 && list[0] === '*') return '*'
  // Exactly as browsers send it, so that equal texts are equal origins: neither `null` nor a slash at the end.
  const isOrigin = (value: string) => isSafeUrl(value) && new URL(value).origin === value && !value.includes('*')
  return list.every(isOrigin) ? new Set(list) : refuse(originsTake)
})

const objectsTake = 'the Durable Object binding is missing'

const ownSchema = parsedBy(
  z.object({
    DB: binding<D1Database>('the D1 database binding is missing', 'prepare', 'batch'),
    SCANNER: binding<ObjectsByName<ScannerCalls>>(objectsTake, 'getByName'),
    ENDPOINT: binding<ObjectsByName<EndpointCalls>>(objectsTake, 'getByName'),
    TRON_XPUB: xpub,
    TRON_START_BLOCK: optional(integerFrom<BlockHeight>(1, Number.MAX_SAFE_INTEGER)),
    TRON_FIRST_INDEX: optional(integerFrom(0, indexMax)),
    OPERATOR_ADDRESSES: optional(listOf(operator, operatorsMax)),
    CORS_ORIGINS: optional(origins),
    RATE_LISTS: rateLimit,
    RATE_NODES: rateLimit,
    RATE_LEDGER: rateLimit,
  }),
  ({ DB: db, SCANNER: scanners, ENDPOINT: endpoints, TRON_XPUB: extendedPublicKey, CORS_ORIGINS: cors, ...rest }) => {
    const { TRON_START_BLOCK: startBlock, TRON_FIRST_INDEX: firstIndex, OPERATOR_ADDRESSES, ...limiters } = rest
    const operators: ReadonlySet<Address> = new Set(OPERATOR_ADDRESSES)
    const { RATE_LISTS: lists, RATE_NODES: nodes, RATE_LEDGER: ledger } = limiters
    const rateLimits: RateLimits = Object.freeze({ lists, nodes, ledger })
    return { db, scanners, endpoints, extendedPublicKey, startBlock, firstIndex, operators, cors, rateLimits }
  },
)
