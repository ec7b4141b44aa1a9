import type { JSONWebKeySet } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { type TokenCache, trustMs } from './token-cache.ts'

/** How long one fetch of the key set may take, its body included. */
export const keysTimeoutMs = 3000
/** Largest key set that is read: dozens of RSA keys with their certificates. */
export const keysBytesMax = 65_536
/** An unknown key makes the set be fetched again, but not sooner than this after the last time. */
export const refetchMs = 30_000
/** After a fetch that failed nobody tries again for this long: a dead server must not hold up every request. */
export const failurePauseMs = 2000

/** What reading the keys needs. */
export interface KeySetParts {
  readonly memory: TokenCache
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly log: Logger
  readonly fetch: typeof fetch
}

/** The keys at a URL, from memory where they are young enough. `null` where they can't be read now. */
export async function readKeySet(parts: KeySetParts, url: string): Promise<JSONWebKeySet | null> {
  const { memory, clock } = parts
  const kept = memory.keys
  const now = clock.now()
  if (kept !== null && now - kept.fetchedAt >= 0 && now - kept.fetchedAt < trustMs) return kept.set
  return fetchKeys(parts, url)
}

/**
 * The keys once more, for a token whose key is not among those in memory. `too-soon` where they were read a moment
 * ago, and `null` where they can't be read or another request is still reading them.
 */
export async function refreshKeySet(parts: KeySetParts, url: string): Promise<JSONWebKeySet | 'too-soon' | null> {
  const { keys, askedAt } = parts.memory
  if (parts.clock.now() - askedAt >= refetchMs) return fetchKeys(parts, url)
  return keys !== null && keys.fetchedAt >= askedAt ? 'too-soon' : null
}

async function fetchKeys(parts: KeySetParts, url: string): Promise<JSONWebKeySet | null> {
  const { memory, clock, log } = parts
  memory.askedAt = clock.now()
  if (memory.askedAt - memory.failedAt < failurePauseMs) return null
  const read = await download(parts, url)
  if (typeof read === 'string') {
    memory.failedAt = clock.now()
    log.warn('token keys unavailable', { why: read })
    return null
  }
  memory.keys = { set: read, fetchedAt: clock.now() }
  return read
}

/** The key set, or for the log why not. Never names the URL. */
async function download({ clock, fetch }: KeySetParts, url: string): Promise<JSONWebKeySet | string> {
  const abort = new AbortController()
  void clock.sleep(keysTimeoutMs).then(() => abort.abort())
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual', // a redirect is somebody else's choice of keys
      signal: abort.signal,
    })
    if (response.status !== 200) return `status ${response.status}`
    const body = await readBounded(response)
    if (body === null) return 'larger than the limit'
    const set: unknown = JSON.parse(body)
    return isKeySet(set) ? set : 'not a key set'
  } catch (thrown) {
    return abort.signal.aborted ? 'no answer in time' : thrown instanceof SyntaxError ? 'not JSON' : 'no connection'
  }
}

async function readBounded(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > keysBytesMax) return null // leaving the loop cancels the stream
    chunks.push(chunk)
  }
  return new Blob(chunks).text()
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  const keys: unknown = typeof value === 'object' && value !== null && 'keys' in value ? value.keys : null
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null)
}
