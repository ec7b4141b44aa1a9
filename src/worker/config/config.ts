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
import { isSafeUrl } from '../common/safe-url.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { WebhookEndpoint } from '../webhooks/store/endpoint-state.ts'
import { type ArchiveConfig, archiveSchema } from './archive.ts'
import { type AuthConfig, authSchema, backendAuthSchema, refuseSharedKeys, type TokenConfig } from './auth.ts'
import { brandSchema, type PageBrand } from './brand.ts'
import { type ChainConfig, chainSchema } from './chain.ts'
import { type DeskAccess, deskAccessSchema, refuseSharedTeamKeys } from './desk.ts'
import { payoutsSchema, readPayouts } from './payouts.ts'
import { addressText, type Bindings, integerFrom, listOf, optional, parseBindings, parsedBy, text } from './schemas.ts'
import { endpointsSchema } from './webhooks.ts'

/** `CORS_ORIGINS`: the origins whose web pages may read responses; `*` for all. */
export type CorsOrigins = '*' | ReadonlySet<string>

/**
 * Cloudflare's rate limiters, whose limits are in wrangler.toml. One whose binding is missing is
 * null and limits nothing.
 */
export interface RateLimits {
  /**
   * Counts each user's requests to routes that only read the database: lists, and the current
   * address.
   */
  readonly lists: RateLimit | null
  /**
   * Counts each user's requests to routes that may ask nodes: balance, recharge, and a further
   * address.
   */
  readonly nodes: RateLimit | null
  /** Counts the requests of each backend. */
  readonly ledger: RateLimit | null
}

/** The calls from the Worker and the scanner to the Durable Object of a webhook endpoint. */
export interface EndpointCalls {
  /** Makes the object deliver the events that its endpoint lacks. `key` identifies the endpoint. */
  wake(key: EndpointKey): Promise<void>
}

/** The binding of a class of Durable Objects, as far as the service uses it. */
export interface ObjectsByName<Calls> {
  getByName(name: string): Calls
}

/** The binding of the static files that are deployed with the Worker: the pages for people. */
export type StaticFiles = Pick<Fetcher, 'fetch'>

/** The checked configuration of a deployment, or of one of its cells. It is frozen. */
export interface Config extends ChainConfig {
  readonly db: D1Database
  readonly scanners: ObjectsByName<ScannerCalls>
  readonly endpoints: ObjectsByName<EndpointCalls>
  /**
   * The memory in which the scanners of several cells share read blocks. Null without the binding:
   * then each scanner reads for itself.
   */
  readonly sharedBlocks: ObjectsByName<SharedBlocks> | null
  readonly extendedPublicKey: ExtendedPublicKey
  /**
   * `TRON_START_BLOCK`: the first block to scan in an empty database. With null the scan begins
   * after the newest final block.
   */
  readonly startBlock: BlockHeight | null
  /**
   * `TRON_FIRST_INDEX`: the index of the first address in an empty database; null if it is not set.
   */
  readonly firstIndex: number | null
  /** `ISSUE_ADDRESSES`: if false, users only get the addresses that they have. */
  readonly issuesAddresses: boolean
  /**
   * `OPERATOR_ADDRESSES`, and the payout address. Money that these addresses send is never a
   * deposit.
   */
  readonly operators: ReadonlySet<Address>
  readonly auth: AuthConfig
  /**
   * How backends are authenticated. Null without a key for their tokens: then there are no routes
   * for them.
   */
  readonly backend: TokenConfig | null
  readonly webhooks: readonly WebhookEndpoint[]
  /** `ARCHIVE`; null if it is not set: then there is no archive. */
  readonly archive: ArchiveConfig | null
  /** `PAYOUTS`; null if it is not set: then there are no payouts. */
  readonly payouts: PayoutRules | null
  readonly scanEverySeconds: number
  readonly eventsKeepDays: number
  /** Null lets no web page of another origin read responses. */
  readonly cors: CorsOrigins | null
  /** The origins whose pages may show the deposit page in a frame. */
  readonly pageOrigins: readonly string[]
  /** The operator's look of the deposit page; null for the default. */
  readonly pageBrand: PageBrand | null
  /**
   * The people who may sign in to the desk through Cloudflare Access. Null without `DESK_ACCESS`:
   * then nobody may.
   */
  readonly deskAccess: DeskAccess | null
  /** The wallet app that the deposit page offers to open with address and amount; null for none. */
  readonly pageWallet: PageWallet | null
  /** Null without the binding `ASSETS`: then there are no pages. */
  readonly files: StaticFiles | null
  readonly rateLimits: RateLimits
}

/**
 * Parses and checks all bindings and variables of one cell at once. A failure has one sentence for
 * each fault, as `parseBindings` writes it.
 */
export function parseConfig(bindings: Bindings): Result<Config, readonly string[]> {
  return parseBindings(configSchema, bindings)
}

/**
 * Makes the schema of a binding: an object with these methods, which are the only ones that the
 * service calls.
 */
const binding = <T>(takes: string, ...methods: readonly string[]) =>
  z.custom<T>((value) => typeof value === 'object' && value !== null && methods.every((name) => name in value), takes)

/** A rate limiter may be missing, because tests and other platforms have none. */
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

/** Makes the schema of a list of texts: separated by commas, or an array or its JSON text. */
const originList = (takes: string) =>
  z.pipe(
    z.transform((value): unknown =>
      typeof value === 'string' && !value.startsWith('[') ? value.split(',').map((one) => one.trim()) : value,
    ),
    listOf(z.string(takes), originsMax, takes),
  )

/**
 * Whether a text is an origin exactly as browsers send it, without a slash at the end: so equal
 * origins are equal texts. The origin `null` is refused.
 */
const isOrigin = (value: string) => isSafeUrl(value) && new URL(value).origin === value && !/[*;,\s]/.test(value)

const corsOrigins = parsedBy(originList(corsExpected), (list, refuse): CorsOrigins => {
  if (list.length === 1 && list[0] === '*') return '*'
  return list.every(isOrigin) ? new Set(list) : refuse(corsExpected)
})

const pageOrigins = parsedBy(originList(originsExpected), (list, refuse): readonly string[] =>
  list.every(isOrigin) ? list : refuse(originsExpected),
)

const staticFiles = optional(binding<StaticFiles>('the binding of the static files', 'fetch'))

/**
 * Reads the binding of the static files even if the rest of the configuration is invalid; null if
 * it is missing.
 */
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

/**
 * An intersection of schemas reports the faults of all of them. The function at the end compares
 * variables with each other, once each is valid alone.
 */
const configSchema = parsedBy(
  z.intersection(
    z.intersection(
      z.intersection(ownSchema, chainSchema),
      parsedBy(archiveSchema, (archive) => ({ archive })),
    ),
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
