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
import { readBytes } from '../read-bytes.ts'

/** Longest duration of one fetch of the key set, its body included. */
export const keysTimeoutMs = 3000
/** Largest key set that is read, in bytes: dozens of RSA keys with their certificates. */
export const keysBytesMax = 65_536
/** How long a key set is used: a withdrawn key is refused after this. */
export const keysMaxAgeMs = 600_000
/** Shortest time between two fetches for keys that the set does not have. */
export const refetchMs = 30_000
/** No fetch for this long after a failed one, so that requests do not all wait for an issuer that is down. */
export const failurePauseMs = 2000

/** What fetching keys needs. */
export interface KeySetParts {
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
  readonly fetch: typeof fetch
}

/** The key set could not be fetched, so that no token can be verified. */
export class KeysUnavailable extends Error {}

/**
 * The keys at a URL, fetched on demand and cached by jose, which measures their age with its own clock. An unknown key
 * causes another fetch, at most one every `refetchMs`. Throws `KeysUnavailable`.
 */
export function createKeySet(url: string, { clock, logger, fetch }: KeySetParts): JWTVerifyGetKey {
  let startedAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  const keySet = createRemoteJWKSet(new URL(url), {
    timeoutDuration: keysTimeoutMs,
    cacheMaxAge: keysMaxAgeMs,
    cooldownDuration: refetchMs,
    [customFetch]: async (_url, { signal }) => {
      const now = clock.now()
      // Without this, jose fetches for each of many requests with an unknown key, and again right after a failure.
      const isTooSoon = keySet.fresh ? now - startedAt < refetchMs : now - failedAt < failurePauseMs
      if (isTooSoon) throw new KeysUnavailable()
      startedAt = now
      const fetched = await fetchKeySet(fetch, url, signal)
      if (fetched.ok) return Response.json(fetched.value)
      failedAt = clock.now()
      logger.warn('token-keys-unavailable', { why: fetched.error })
      throw new KeysUnavailable()
    },
  })
  return keySet
}

/** Fetches a key set once, within the limits. The error is the reason; it never has the URL, which can hold a secret. */
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
