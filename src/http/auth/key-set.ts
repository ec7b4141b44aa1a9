import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose'
import { err, ok, type Result } from '../../common/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { readBytes } from '../../platform/read-bytes.ts'

/** Longest duration of one fetch of the key set, its body included. */
export const keysTimeoutMs = 3000
/** Largest key set that is read, in bytes: dozens of RSA keys with their certificates. */
export const keysBytesMax = 65_536
/** How long a key set is used before it is fetched again: a withdrawn key is refused after this. */
export const keysMaxAgeMs = 600_000
/** How long a key set is used while it cannot be fetched again: an outage of the issuer ends no session before this. */
export const keysKeptMs = 14_400_000
/** Shortest time between two fetches while a key set is known. */
export const refetchMs = 30_000
/** No fetch for this long after a failed one while no key set is known. */
export const failurePauseMs = 2000
/** Longest time for which a request waits for the fetch of another request. Where the client of that one leaves, its fetch ends. */
export const sharedFetchMs = 1500

/** What fetching keys needs. */
export interface KeySetParts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly logger: Logger
  readonly fetch: typeof fetch
}

/** The key set could not be fetched, so that no token can be verified. */
export class KeysUnavailable extends Error {}

/**
 * The keys at a URL, fetched on demand and cached by jose, which measures their age with its own clock. An unknown key
 * causes another fetch. While the set cannot be fetched, its keys are used up to `keysKeptMs` after the last fetch. Throws
 * `KeysUnavailable`, also for an unknown key of such a set: it can be a new one.
 */
export function createKeySet(url: string, parts: KeySetParts): JWTVerifyGetKey {
  const source = createKeySource(url, parts)
  const keySet = createRemoteJWKSet(new URL(url), {
    timeoutDuration: keysTimeoutMs,
    cacheMaxAge: keysMaxAgeMs,
    cooldownDuration: refetchMs,
    [customFetch]: async (_url, { signal }) => Response.json(await source.fetch(signal)),
  })
  return async (header, token) => {
    try {
      return await keySet(header, token)
    } catch (thrown) {
      const kept = source.kept()
      if (!(thrown instanceof KeysUnavailable) || kept === null) throw thrown
      return await kept(header, token).catch((fault: unknown) => {
        throw fault instanceof errors.JWKSNoMatchingKey ? thrown : fault
      })
    }
  }
}

/** The newest key set of one isolate. */
interface KeySource {
  /** The set of a fetch that others share. `signal` ends it. Throws `KeysUnavailable`. */
  fetch(signal: AbortSignal): Promise<JSONWebKeySet>
  /** The keys of the last fetch; null where there are none, or where it is too long ago. */
  kept(): KeySelector | null
}

type KeySelector = ReturnType<typeof createLocalJWKSet>

/** One fetch: its set, or null where it failed. It never rejects, but it does not end where its request was ended. */
interface RunningFetch {
  readonly startedAt: number
  readonly set: Promise<JSONWebKeySet | null>
}

/** One fetch for many requests, and a pause after a failed one (decision note 15). */
function createKeySource(url: string, { clock, logger, fetch }: KeySetParts): KeySource {
  let newest: { readonly set: JSONWebKeySet; readonly select: KeySelector; readonly fetchedAt: number } | null = null
  let failedAt = Number.NEGATIVE_INFINITY
  let running: RunningFetch | null = null
  const run = async (signal: AbortSignal) => {
    const fetched = await fetchKeySet(fetch, url, signal)
    running = null
    if (fetched.ok) {
      newest = { set: fetched.value, select: createLocalJWKSet(fetched.value), fetchedAt: clock.now() }
      return fetched.value
    }
    failedAt = clock.now()
    logger.warn('token-keys-unavailable', { why: fetched.error })
    return null
  }
  const start = (signal: AbortSignal) => {
    const set = run(signal)
    running = { startedAt: clock.now(), set }
    return set
  }
  const fetchShared = async (signal: AbortSignal) => {
    const now = clock.now()
    if (newest !== null && now - newest.fetchedAt < refetchMs) return newest.set // it is new enough
    if (now - failedAt < (newest === null ? failurePauseMs : refetchMs)) return null
    if (running === null || now - running.startedAt >= sharedFetchMs) return start(signal)
    const set = await Promise.race([running.set, clock.sleep(sharedFetchMs)])
    return set === undefined ? start(signal) : set
  }
  return {
    async fetch(signal) {
      const set = await fetchShared(signal)
      if (set === null) throw new KeysUnavailable()
      return set
    },
    kept: () => (newest !== null && clock.now() - newest.fetchedAt < keysKeptMs ? newest.select : null),
  }
}

/** Fetches a key set once, within the limits. The error is the reason; it never has the URL, which can contain a secret. */
export async function fetchKeySet(
  fetch: typeof globalThis.fetch,
  url: string,
  signal: AbortSignal = AbortSignal.timeout(keysTimeoutMs),
): Promise<Result<JSONWebKeySet, string>> {
  try {
    const headers = { accept: 'application/json' }
    const response = await fetch(url, { headers, signal, redirect: 'manual' }) // a redirect could lead to foreign keys
    if (response.status !== 200) return err(`status ${response.status}`)
    const body = await readBytes(response.body, keysBytesMax)
    if (body === null) return err('larger than the limit')
    const set = JSON.parse(new TextDecoder().decode(body))
    createLocalJWKSet(set) // throws JWKSInvalid
    return ok(set)
  } catch (thrown) {
    return err(signal.aborted ? 'no response in time' : reasonOf(thrown))
  }
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof SyntaxError) return 'not JSON'
  return thrown instanceof errors.JWKSInvalid ? 'not a key set' : 'no connection'
}
