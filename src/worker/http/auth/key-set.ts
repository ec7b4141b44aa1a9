import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { err, ok, type Result } from '../../common/result.ts'
import { type Clock, endsWithin } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { readBytes } from '../../platform/read-bytes.ts'
import { createSharedRuns } from '../../platform/shared-runs.ts'

/** Time limit of one fetch of the key set, its body included. */
export const keysTimeoutMs = 3000
/** Largest key set that is read, in bytes: dozens of RSA keys with their certificates. */
export const keysBytesMax = 65_536
/**
 * A request that finds the key set older than this begins a new fetch. Once that fetch has ended,
 * tokens of a withdrawn key are refused.
 */
export const keysMaxAgeMs = 600_000
/**
 * How long a key set is used if newer fetches fail. So a shorter outage of the issuer ends no
 * session.
 */
export const keysKeptMs = 14_400_000
/**
 * Shortest time between the starts of two fetches while a key set is known, however many tokens ask
 * for one.
 */
export const refetchMs = 30_000
/** No fetch for this long after a failed one while no key set is known. */
export const failurePauseMs = 2000
/**
 * A fetch that is not over after this time was dropped by the platform: its own limit,
 * `keysTimeoutMs`, would have ended it. The next request fetches anew.
 */
export const lostFetchMs = keysTimeoutMs + 500

export interface KeySetParts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly logger: Logger
  readonly fetch: typeof fetch
  /** Lets a fetch continue after the request that began it. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

/** The key set could not be fetched, so that no token can be verified. */
export class KeysUnavailable extends Error {}

/**
 * The keys at a URL. Both members choose the key that verifies a token, and throw if they have
 * none.
 */
export interface KeySet {
  /** Chooses from the key set, and fetches it if necessary. */
  readonly select: JWTVerifyGetKey
  /** Chooses from the last fetched key set, and never asks the issuer. */
  readonly selectKnown: JWTVerifyGetKey
  /**
   * How many key sets were fetched so far. What was verified at another version may have been
   * signed with a withdrawn key.
   */
  version(): number
  /**
   * For a token whose signature failed with the keys of `version`: its issuer may have replaced a
   * key under the same name. Fetches the key set, unless it has another version by now or the last
   * fetch was just begun. Returns whether the version is another one now. Never throws.
   */
  renew(version: number): Promise<boolean>
}

/**
 * The keys at a URL, fetched on demand. All requests share one fetch, and after each there is a
 * pause (decision note 15). A token whose key is in the set never waits for the issuer: an old set
 * is used while it is fetched again, up to `keysKeptMs` after its own fetch. A token whose key is
 * not in it, or whose signature fails, waits for a fetch. `select` and `selectKnown` throw
 * `KeysUnavailable` if there is no usable set. `select` also throws it if the key is not in the set
 * and the set cannot be fetched, because the key may be a new one.
 */
export function createKeySet(url: string, { clock, logger, fetch, waitUntil }: KeySetParts): KeySet {
  let newest: { readonly select: ReturnType<typeof createLocalJWKSet>; readonly fetchedAt: number } | null = null
  let version = 0
  let [begunAt, failedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  // The result of a run is whether the fetch succeeded. Its promise never rejects, but never
  // settles if the platform ends the request that began it.
  const fetches = createSharedRuns<boolean>({ clock, waitUntil }, { lostMs: lostFetchMs })
  const ageMs = () => (newest === null ? Number.POSITIVE_INFINITY : clock.now() - newest.fetchedAt)
  const isPaused = () => (newest === null ? clock.now() - failedAt < failurePauseMs : clock.now() - begunAt < refetchMs)
  const fetchOnce = async (): Promise<boolean> => {
    begunAt = clock.now()
    const fetched = await fetchKeySet(fetch, url)
    if (fetched.ok) {
      newest = { select: createLocalJWKSet(fetched.value), fetchedAt: clock.now() }
      version += 1
    } else {
      failedAt = clock.now()
      logger.warn('token-keys-unavailable', { why: fetched.error })
    }
    return fetched.ok
  }
  /**
   * Fetches the key set or waits for a fetch, unless one has just succeeded or failed. Returns
   * whether the key set is now younger than `refetchMs`.
   */
  const refetch = async (): Promise<boolean> => {
    if (ageMs() < refetchMs) return true
    if (isPaused() && fetches.known() === null) return false
    const { startedAt, result } = fetches.join(fetchOnce)
    return (await endsWithin(result, startedAt + lostFetchMs - clock.now(), clock)) && result
  }
  const selectKnown: JWTVerifyGetKey = (header, token) => {
    if (newest === null || ageMs() >= keysKeptMs) throw new KeysUnavailable()
    return newest.select(header, token)
  }
  const select: JWTVerifyGetKey = async (header, token) => {
    if (ageMs() >= keysKeptMs) await refetch()
    else if (ageMs() >= keysMaxAgeMs && !isPaused()) fetches.join(fetchOnce)
    try {
      return await selectKnown(header, token)
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown
      if (!(await refetch())) throw new KeysUnavailable()
      return selectKnown(header, token)
    }
  }
  return {
    select,
    selectKnown,
    version: () => version,
    async renew(seen) {
      if (version === seen) await refetch()
      return version !== seen
    },
  }
}

/**
 * Fetches a key set once, within `keysTimeoutMs` and `keysBytesMax`. The error says why that
 * failed, without the URL, which may contain a secret.
 */
export async function fetchKeySet(fetch: typeof globalThis.fetch, url: string): Promise<Result<JSONWebKeySet, string>> {
  const signal = AbortSignal.timeout(keysTimeoutMs)
  try {
    const headers = { accept: 'application/json' }
    // a redirect could lead to somebody else's keys
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    if (response.status !== 200) return err(`status ${response.status}`)
    const body = await readBytes(response.body, keysBytesMax)
    if (body === null) return err('larger than the limit')
    const set = JSON.parse(new TextDecoder().decode(body))
    createLocalJWKSet(set) // throws JWKSInvalid
    return ok({ ...set, keys: set.keys.map(withBothNames) })
  } catch (thrown) {
    return err(signal.aborted ? 'no response in time' : reasonOf(thrown))
  }
}

/**
 * Removes `alg` from an Ed25519 key, so that it verifies tokens with either name of its algorithm:
 * `EdDSA`, or the newer `Ed25519` (RFC 9864).
 */
function withBothNames(key: JSONWebKeySet['keys'][number]): JSONWebKeySet['keys'][number] {
  const { alg, ...others } = key
  const isNamed = alg === 'EdDSA' || alg === 'Ed25519'
  return isNamed && key.kty === 'OKP' && key.crv === 'Ed25519' ? others : key
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof SyntaxError) return 'not JSON'
  return thrown instanceof errors.JWKSInvalid ? 'not a key set' : 'no connection'
}
