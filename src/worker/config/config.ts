import * as z from 'zod/mini'
import {
  type ExtendedPublicKey,
  type ExtendedPublicKeyFault,
  indexMax,
  parseExtendedPublicKey,
} from '../addresses/derive.ts'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { ScannerCalls, SharedBlocks } from '../chain/chain.ts'
import type { EndpointKey } from '../common/ids.ts'
import { type PageWallet, pageWallets } from '../common/page-wallets.ts'
import type { Result } from '../common/result.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { WebhookEndpoint } from '../webhooks/store/endpoint-state.ts'
import { type AuthConfig, authSchema, backendAuthSchema, refuseSharedKeys, type TokenConfig } from './auth.ts'
import { brandSchema, type PageBrand } from './brand.ts'
import { type ChainConfig, chainSchema } from './chain.ts'
import { type DeskAccess, deskAccessSchema, refuseSharedTeamKeys } from './desk.ts'
import { payoutsSchema, readPayouts } from './payouts.ts'
import {
  addressText,
  type Bindings,
  integerFrom,
  isSafeUrl,
  listOf,
  optional,
  parseBindings,
  parsedBy,
  text,
} from './schemas.ts'
import { endpointsSchema } from './webhooks.ts'

/** The origins whose web pages may read responses; `*` for all. */
export type CorsOrigins = '*' | ReadonlySet<string>

/** The rate limiters of the platform, with limits in wrangler.toml. Null without a binding: no limit. */
export interface RateLimits {
  /** For each user, on reading routes: lists, and the current address. */
  readonly lists: RateLimit | null
  /** For each user, on routes that query nodes: balance, recharge, and another address. */
  readonly nodes: RateLimit | null
  /** For each backend. */
  readonly ledger: RateLimit | null
}

/** The calls from the Worker and the scanner to an endpoint's object. */
export interface EndpointCalls {
  /** Wakes the endpoint to deliver its events. `key` is the endpoint's. */
  wake(key: EndpointKey): Promise<void>
}

/** The Durable Objects of one class, by their names. */
export interface ObjectsByName<Calls> {
  getByName(name: string): Calls
}

/** The static files that are deployed with the Worker. */
export type StaticFiles = Pick<Fetcher, 'fetch'>

/** The configuration of a deployment, checked and frozen. */
export interface Config extends ChainConfig {
  readonly db: D1Database
  readonly scanners: ObjectsByName<ScannerCalls>
  readonly endpoints: ObjectsByName<EndpointCalls>
  /** What scanners of several cells share. Null without the binding: then each reads for itself. */
  readonly sharedBlocks: ObjectsByName<SharedBlocks> | null
  readonly extendedPublicKey: ExtendedPublicKey
  readonly startBlock: BlockHeight | null
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
  /** Whether new addresses are issued (`ISSUE_ADDRESSES`). */
  readonly issuesAddresses: boolean
  /** The operator's wallets, with the payout address. Money that they send is never a deposit. */
  readonly operators: ReadonlySet<Address>
  readonly auth: AuthConfig
  /** How backends are authenticated. Null without a key for their tokens: then there are no routes for them. */
  readonly backend: TokenConfig | null
  readonly webhooks: readonly WebhookEndpoint[]
  /** Null without `PAYOUTS`. */
  readonly payouts: PayoutRules | null
  readonly scanEverySeconds: number
  readonly eventsKeepDays: number
  /** Null if CORS is off. */
  readonly cors: CorsOrigins | null
  /** The origins whose pages may frame the deposit page. */
  readonly pageOrigins: readonly string[]
  /** The look of the deposit page; null for the default. */
  readonly pageBrand: PageBrand | null
  /** The people who sign in to the desk through Cloudflare Access. Null without `DESK_ACCESS`. */
  readonly deskAccess: DeskAccess | null
  /** The wallet app that the deposit page opens with address and amount; null for none. */
  readonly pageWallet: PageWallet | null
  /** Null without the binding: then there is no deposit page. */
  readonly files: StaticFiles | null
  readonly rateLimits: RateLimits
}

/** Parses and checks all bindings and variables at once. `parseBindings` describes the faults. */
export function parseConfig(bindings: Bindings): Result<Config, readonly string[]> {
  return parseBindings(configSchema, bindings)
}

/** A binding with these methods, which are all that the service calls. */
const binding = <T>(takes: string, ...methods: readonly string[]) =>
  z.custom<T>((value) => typeof value === 'object' && value !== null && methods.every((name) => name in value), takes)

/** A missing rate limiter is allowed, because tests and other platforms have none. */
const rateLimit = optional(binding<RateLimit>('a rate-limit binding', 'limit'))

const xpubExpected = "an extended public key (xpub…) of m/44'/195'/n' or m/44'/195'/n'/0"
const secretFaults: readonly ExtendedPublicKeyFault[] = ['private-extended-key', 'hex-key', 'mnemonic']

const xpub = parsedBy(text(xpubExpected), (value, refuse) => {
  const key = parseExtendedPublicKey(value)
  if (key.ok) return key.value
  return refuse(
    secretFaults.includes(key.error) ? `${xpubExpected}; private key material is never accepted` : xpubExpected,
  )
})

const operatorsMax = 100

const originsMax = 50
const originsExpected = `at most ${originsMax} origins such as https://shop.example, separated by commas or as an array`
const corsExpected = `"*", or ${originsExpected}`

/** Texts separated by commas, or in an array. */
const originList = (takes: string) =>
  z.pipe(
    z.transform((value): unknown =>
      typeof value === 'string' && !value.startsWith('[') ? value.split(',').map((one) => one.trim()) : value,
    ),
    listOf(z.string(takes), originsMax, takes),
  )

/** An origin exactly as browsers write it, so that equal texts are equal origins: neither `null` nor a slash at the end. */
const isOrigin = (value: string) => isSafeUrl(value) && new URL(value).origin === value && !/[*;,\s]/.test(value)

const corsOrigins = parsedBy(originList(corsExpected), (list, refuse): CorsOrigins => {
  if (list.length === 1 && list[0] === '*') return '*'
  return list.every(isOrigin) ? new Set(list) : refuse(corsExpected)
})

const pageOrigins = parsedBy(originList(originsExpected), (list, refuse): readonly string[] =>
  list.every(isOrigin) ? list : refuse(originsExpected),
)

const staticFiles = optional(binding<StaticFiles>('the binding of the static files', 'fetch'))

/** The static files of a deployment, even if the rest of its configuration is invalid; null if there are none. */
export function staticFilesIn({ ASSETS }: Bindings): StaticFiles | null {
  const parsed = staticFiles.safeParse(ASSETS)
  return parsed.success ? parsed.data : null
}

const objectsExpected = 'the Durable Object binding is missing'
const scanEverySecondsByDefault = 20
const eventsKeepDaysByDefault = 90

const ownSchema = parsedBy(
  z.object({
    DB: binding<D1Database>('the D1 database binding is missing', 'prepare', 'batch'),
    SCANNER: binding<ObjectsByName<ScannerCalls>>(objectsExpected, 'getByName'),
    ENDPOINT: binding<ObjectsByName<EndpointCalls>>(objectsExpected, 'getByName'),
    BLOCKS: optional(binding<ObjectsByName<SharedBlocks>>(objectsExpected, 'getByName')),
    TRON_XPUB: xpub,
    TRON_START_BLOCK: optional(integerFrom<BlockHeight>(1, Number.MAX_SAFE_INTEGER)),
    TRON_FIRST_INDEX: optional(integerFrom(0, indexMax)),
    ISSUE_ADDRESSES: optional(z.literal(['on', 'off'], '"on" or "off"')),
    OPERATOR_ADDRESSES: optional(listOf(addressText('a Tron address (34 characters, starts with T)'), operatorsMax)),
    SCAN_EVERY_SECONDS: optional(integerFrom(10, 60)),
    EVENTS_KEEP_DAYS: optional(integerFrom(1, 3650)),
    CORS_ORIGINS: optional(corsOrigins),
    PAGE_ORIGINS: optional(pageOrigins),
    PAGE_BRAND: brandSchema,
    DESK_ACCESS: deskAccessSchema,
    PAGE_WALLET: optional(z.literal([...pageWallets], pageWallets.map((name) => `"${name}"`).join(' or '))),
    ASSETS: staticFiles,
    RATE_LISTS: rateLimit,
    RATE_NODES: rateLimit,
    RATE_LEDGER: rateLimit,
  }),
  (own) => ({
    db: own.DB,
    scanners: own.SCANNER,
    endpoints: own.ENDPOINT,
    sharedBlocks: own.BLOCKS,
    extendedPublicKey: own.TRON_XPUB,
    startBlock: own.TRON_START_BLOCK,
    firstIndex: own.TRON_FIRST_INDEX,
    issuesAddresses: own.ISSUE_ADDRESSES !== 'off',
    operators: new Set(own.OPERATOR_ADDRESSES) satisfies ReadonlySet<Address>,
    scanEverySeconds: own.SCAN_EVERY_SECONDS ?? scanEverySecondsByDefault,
    eventsKeepDays: own.EVENTS_KEEP_DAYS ?? eventsKeepDaysByDefault,
    cors: own.CORS_ORIGINS,
    pageOrigins: Object.freeze(own.PAGE_ORIGINS ?? []),
    pageBrand: own.PAGE_BRAND,
    deskAccess: own.DESK_ACCESS,
    pageWallet: own.PAGE_WALLET,
    files: own.ASSETS,
    rateLimits: Object.freeze({ lists: own.RATE_LISTS, nodes: own.RATE_NODES, ledger: own.RATE_LEDGER }),
  }),
)

/** Both sides of an intersection are checked, even if one has faults; what they share is checked if neither has. */
const configSchema = parsedBy(
  z.intersection(
    z.intersection(ownSchema, chainSchema),
    z.intersection(
      z.intersection(
        parsedBy(authSchema, (auth) => ({ auth: Object.freeze(auth) })),
        parsedBy(backendAuthSchema, (backends) => ({ backends })),
      ),
      z.intersection(
        parsedBy(endpointsSchema, (webhooks) => ({ webhooks })),
        payoutsSchema,
      ),
    ),
  ),
  ({ backends, PAYOUTS, ...config }, refuse): Config => {
    refuseSharedKeys(config.auth, backends, refuse)
    refuseSharedTeamKeys(config.deskAccess, { AUTH_JWKS_URL: config.auth, BACKEND_JWKS_URL: backends }, refuse)
    const hasKeys = backends.secrets.length > 0 || backends.jwksUrl !== null
    const payouts = readPayouts(PAYOUTS, config, refuse)
    const operators = payouts === null ? config.operators : new Set([...config.operators, payouts.address])
    return Object.freeze({ ...config, operators, payouts, backend: hasKeys ? backends : null })
  },
)
