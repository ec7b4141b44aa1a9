import { HDKey } from '@scure/bip32'
import { createLocalJWKSet, type JWK } from 'jose'
import { accountDepth, deriveAddress, hardened, parseExtendedPublicKey } from '../../worker/addresses/derive.ts'
import { formatBase58 } from '../../worker/chain/address.ts'
import { type AuthConfig, secretBytesMin, type TokenConfig } from '../../worker/config/auth.ts'
import type { DeskAccess } from '../../worker/config/desk.ts'
import { fetchKeySet } from '../../worker/http/auth/key-set.ts'
import { isDelivered, type SendParts, sendWebhook } from '../../worker/webhooks/deliver-events.ts'
import type { WebhookEndpoint } from '../../worker/webhooks/store/endpoint-state.ts'
import { hostInUrl } from '../deployed-health.ts'
import { publicNetworks } from '../place.ts'

/**
 * The result of one check, which the doctor prints as one line. `text` contains no secret, no key,
 * no path of a URL and no text of a node.
 */
export interface CheckResult {
  /** A line with `FAIL` makes the doctor end with exit code 1; the other levels do not. */
  readonly level: 'ok' | 'warn' | 'FAIL'
  readonly text: string
  /** What to do about a fault; absent if the first word of the text says it (`adviceFor`). */
  readonly advice?: string
}

/** A line of a check that found no fault, and nothing else that the operator should know. */
export const passed = (text: string): CheckResult => ({ level: 'ok', text })
/** A line of a service that works, with something that the operator should know. */
export const warned = (text: string): CheckResult => ({ level: 'warn', text })
/** A fault that the operator must correct. */
export const failed = (text: string, advice?: string): CheckResult =>
  advice === undefined ? { level: 'FAIL', text } : { level: 'FAIL', text, advice }

/** The line to print for a check: its level, padded to four characters, and its text. */
export function lineOf({ level, text }: CheckResult): string {
  return `${level.padEnd(4)}  ${text}`
}

/**
 * The addresses at index 0 of two public test mnemonics, "abandon … about" and "test … junk".
 * Anybody can spend what they receive.
 */
const publicAddresses = ['TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6']

/**
 * Checks the extended public key and shows its first addresses, to compare with the wallet that has
 * the private key. Yields nothing if the key cannot be parsed, because the check of the
 * configuration reports that. `chainId` is null if it is not known.
 */
export function* checkKey(xpub: unknown, chainId: string | null): Generator<CheckResult, void> {
  const key = typeof xpub === 'string' ? parseExtendedPublicKey(xpub) : null
  if (typeof xpub !== 'string' || !key?.ok) return
  const { depth, index } = HDKey.fromExtendedKey(xpub)
  const kind = depth === accountDepth ? `account m/44'/195'/${index - hardened}'` : "external chain m/44'/195'/n'/0"
  const addresses = [0, 1, 2].map((index) => formatBase58(deriveAddress(key.value, index)))
  yield passed(`key: ${kind}, first addresses ${addresses.join(', ')}: compare them with the wallet`)
  const network = chainId === null ? 'unknown' : publicNetworks.get(chainId)
  if (network === undefined || !publicAddresses.includes(addresses[0] ?? '')) return
  const level = network === 'mainnet' ? failed : warned
  yield level('key: this is a public test mnemonic: anyone can spend from it')
}

const secretCharactersMin = 10 // a long secret with fewer different characters looks like a placeholder

/**
 * Checks the keys for users' tokens, and the settings that may let in more people than the operator
 * wants: no `AUTH_AUDIENCE`, and `DEV_UID`.
 */
export async function* checkAuth(
  auth: AuthConfig,
  isDeployment: boolean,
  fetch: typeof globalThis.fetch,
): AsyncGenerator<CheckResult, void> {
  const { secrets, jwksUrl, audience, devUid } = auth
  yield* checkKeys('authentication', auth, fetch)
  if (jwksUrl !== null && audience === null) {
    yield warned('authentication: without AUTH_AUDIENCE, tokens for other services of the issuer are valid too')
  }
  if (secrets.length === 0 && jwksUrl === null) {
    const text = 'authentication: neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set'
    const isOpen = devUid !== null && !isDeployment
    yield isOpen ? warned(`${text}: only this machine has access`) : failed(`${text}: every route answers 503`)
  }
  if (devUid === null) return
  yield isDeployment
    ? warned('authentication: DEV_UID has no effect in a deployment; set it in .dev.vars only')
    : warned(`authentication: requests from this machine without a token act for user ${devUid} (DEV_UID)`)
}

/**
 * Checks the keys for users' or backends' tokens: the secrets, with the previous secret last, and
 * then the key set.
 */
export async function* checkKeys(
  whose: 'authentication' | 'backends',
  { secrets, jwksUrl }: TokenConfig,
  fetch: typeof globalThis.fetch,
): AsyncGenerator<CheckResult, void> {
  for (const [i, secret] of secrets.entries()) {
    const name = i === 0 ? 'a secret' : 'the previous secret too,'
    const text = `${whose}: HS256 with ${name} of at least ${secretBytesMin} bytes`
    if (i > 0 && secret === secrets[0]) yield warned(`${whose}: the previous secret is the secret itself: remove it`)
    else if (new Set(secret).size >= secretCharactersMin) yield passed(text)
    else yield warned(`${text}; it has so few different characters that it looks like a placeholder`)
  }
  if (jwksUrl !== null) yield await checkKeySet(whose, fetch, jwksUrl)
}

/**
 * Checks that the keys of the team in `DESK_ACCESS` can be fetched, and counts the people and
 * domains that may sign in.
 */
export async function checkDesk(access: DeskAccess, fetch: typeof globalThis.fetch): Promise<CheckResult> {
  const keys = await checkKeySet('desk', fetch, access.keysUrl)
  return { ...keys, text: `${keys.text}, for ${access.people.size} entries of people` }
}

async function checkKeySet(whose: string, fetch: typeof globalThis.fetch, url: string): Promise<CheckResult> {
  const name = `${whose}: the key set at ${hostInUrl(url)}`
  const fetched = await fetchKeySet(fetch, url)
  if (!fetched.ok) return failed(`${name} could not be fetched: ${fetched.error}`)
  const { keys } = fetched.value
  if (keys.some((key) => 'd' in key || key.kty === 'oct')) return failed(`${name} publishes a private key`)
  const algorithms = (await Promise.all(keys.map(algorithmsOf))).flat()
  const text = `${name}: ${algorithms.length} of ${keys.length} keys are usable`
  if (algorithms.length === 0) return failed(`${text}: the service supports RS256, ES256 and EdDSA`)
  return passed(`${text} (${[...new Set(algorithms)].join(', ')})`)
}

/**
 * The algorithms for which the service uses the key, as jose selects them; empty if it cannot use
 * the key.
 */
async function algorithmsOf(key: JWK): Promise<readonly string[]> {
  const keySet = createLocalJWKSet({ keys: [key] })
  const algorithms = ['RS256', 'ES256', 'EdDSA']
  const imported = await Promise.allSettled(algorithms.map((alg) => keySet({ alg })))
  return algorithms.filter((_, i) => imported[i]?.status === 'fulfilled')
}

/** Shows the webhook endpoints and, if `sendsTests`, the answer of each to a signed test event. */
export async function* checkWebhooks(
  endpoints: readonly WebhookEndpoint[],
  platform: SendParts,
  sendsTests: boolean,
): AsyncGenerator<CheckResult, void> {
  for (const endpoint of endpoints) {
    const name = `webhook endpoint ${endpoint.number} (${hostInUrl(endpoint.url)})`
    if (!sendsTests) {
      yield passed(`${name}: configured; --webhooks sends it a test event`)
      continue
    }
    const now = platform.clock.now()
    // The test has the form of an event, the unused number 0, and a type of its own.
    const test = { id: 0, type: 'test', uid: 0, created_at: new Date(now).toISOString(), data: {} }
    const answer = await sendWebhook(platform, endpoint, { id: `evt_0_${now}`, body: JSON.stringify(test) })
    const text = typeof answer === 'number' ? `answered a test event with ${answer}` : `a test event: ${answer}`
    yield isDelivered(answer) ? passed(`${name}: ${text}`) : failed(`${name}: ${text}`)
  }
}
