import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { err, ok, type Result } from '../../common/result.ts'
import { type Clock, endsWithin } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { readBytes } from '../../platform/read-bytes.ts'
import { createSharedRuns } from '../../platform/shared-runs.ts'

/** Longest duration of one fetch of the key set, its body included. */
export const keysTimeoutMs = 3000
/** Largest key set that is read, in bytes: dozens of RSA keys with their certificates. */
export const keysBytesMax = 65_536
/** How long a key set is used before a request fetches it again: a withdrawn key is refused once that has ended. */
export const keysMaxAgeMs = 600_000
/** How long a key set is used while it cannot be fetched again: an outage of the issuer ends no session before this. */
export const keysKeptMs = 14_400_000
/** Shortest time between two fetches while a key set is known. */
export const refetchMs = 30_000
/** No fetch for this long after a failed one while no key set is known. */
export const failurePauseMs = 2000
/** A fetch that has not ended after this long never will: the limit of its time, and a moment. The next request begins another one. */
export const lostFetchMs = keysTimeoutMs + 500

/** What fetching keys needs. */
export interface KeySetParts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly logger: Logger
  readonly fetch: typeof fetch
  /** Lets a fetch go on after the request that began it. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

/** The key set could not be fetched, so that no token can be verified. */
export class KeysUnavailable extends Error {}

/** The keys at a URL. Both choose the key of a token; they throw where there is none. */
export interface KeySet {
  /** Fetches the set where it has to. */
  readonly select: JWTVerifyGetKey
  /** Of the set that was fetched last: it never asks the issuer. */
  readonly selectKnown: JWTVerifyGetKey
}

/**
 * The keys at a URL, fetched on demand: one fetch for all requests, and a pause after a failed one (decision note 15). A known key
 * never waits for the issuer: an old set is used, up to `keysKeptMs` after its fetch, while it is fetched again. An unknown key waits for
 * another fetch. Throws `KeysUnavailable` without a set, and for an unknown key while the set cannot be fetched: it can be a new one.
 */
export function createKeySet(url: string, { clock, logger, fetch, waitUntil }: KeySetParts): KeySet {
  let newest: { readonly select: ReturnType<typeof createLocalJWKSet>; readonly fetchedAt: number } | null = null
  let failedAt = Number.NEGATIVE_INFINITY
  // Whether a fetch succeeded. It never rejects, but it never ends if the platform has ended the request that began it.
  const fetches = createSharedRuns<boolean>(clock, { lostMs: lostFetchMs })
  const ageMs = () => (newest === null ? Number.POSITIVE_INFINITY : clock.now() - newest.fetchedAt)
  const isPaused = () => clock.now() - failedAt < (newest === null ? failurePauseMs : refetchMs)
  const fetchOnce = async (): Promise<boolean> => {
    const fetched = await fetchKeySet(fetch, url)
    if (fetched.ok) newest = { select: createLocalJWKSet(fetched.value), fetchedAt: clock.now() }
    else {
      failedAt = clock.now()
      logger.warn('token-keys-unavailable', { why: fetched.error })
    }
    return fetched.ok
  }
  const shareFetch = () => {
    const isNew = fetches.known() === null
    const run = fetches.join(fetchOnce)
    if (isNew) waitUntil(run.result)
    return run
  }
  /** Fetches the set, unless that was done or tried just now. False if there is no newer one. */
  const refetch = async (): Promise<boolean> => {
    if (ageMs() < refetchMs) return true
    if (isPaused()) return false
    const { startedAt, result } = shareFetch()
    return (await endsWithin(result, startedAt + lostFetchMs - clock.now(), clock)) && result
  }
  const selectKnown: JWTVerifyGetKey = (header, token) => {
    if (newest === null || ageMs() >= keysKeptMs) throw new KeysUnavailable()
    return newest.select(header, token)
  }
  const select: JWTVerifyGetKey = async (header, token) => {
    if (ageMs() >= keysKeptMs) await refetch()
    else if (ageMs() >= keysMaxAgeMs && !isPaused()) shareFetch()
    try {
      return await selectKnown(header, token)
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown
      if (!(await refetch())) throw new KeysUnavailable()
      return selectKnown(header, token)
    }
  }
  return { select, selectKnown }
}

/** Fetches a key set once, within the limits. The error is the reason; it never has the URL, which can contain a secret. */
export async function fetchKeySet(fetch: typeof globalThis.fetch, url: string): Promise<Result<JSONWebKeySet, string>> {
  const signal = AbortSignal.timeout(keysTimeoutMs)
  try {
    const headers = { accept: 'application/json' }
    const response = await fetch(url, { headers, signal, redirect: 'manual' }) // a redirect could lead to foreign keys
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

/** An Ed25519 key is for `EdDSA` and for the newer word `Ed25519` (RFC 9864) alike, whichever its `alg` says. */
function withBothNames(key: JSONWebKeySet['keys'][number]): JSONWebKeySet['keys'][number] {
  const { alg, ...others } = key
  const isNamed = alg === 'EdDSA' || alg === 'Ed25519'
  return isNamed && key.kty === 'OKP' && key.crv === 'Ed25519' ? others : key
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof SyntaxError) return 'not JSON'
  return thrown instanceof errors.JWKSInvalid ? 'not a key set' : 'no connection'
}
