import type { JSONWebKeySet } from 'jose'
import type { UnixMs } from '../../common/time.ts'
import type { Uid } from '../../ledger/entry.ts'

/** Tokens that are remembered as verified; the oldest makes room for a new one. */
export const verifiedTokensMax = 1000
/** How long a token or a key set is believed without looking again: a withdrawn key is gone after this. */
export const trustMs = 600_000

/** What a verified token says. `exp` is seconds since 1970; its `nbf` was over at `verifiedAt`. */
export interface VerifiedToken {
  readonly uid: Uid
  readonly exp: number
  readonly verifiedAt: UnixMs
}

/** A fetched key set, as plain JSON: an isolate's requests may share values, never promises or streams. */
interface FetchedKeys {
  readonly set: JSONWebKeySet
  readonly fetchedAt: UnixMs
}

/**
 * What one isolate remembers between requests to spare signature checks and key fetches. It belongs to one
 * configuration at a time: `fingerprint` names it, and another one starts empty.
 */
export interface TokenCache {
  fingerprint: string
  /** Only tokens whose signature held are here, so nobody without a key can push one out. */
  readonly verified: Map<string, VerifiedToken>
  keys: FetchedKeys | null
  /** When keys were last asked for, with or without an answer; 0 where never. */
  askedAt: number
  /** When a fetch of keys last failed; 0 where none did. */
  failedAt: number
}

/** An empty memory, to be kept for as long as the isolate lives. */
export function createTokenCache(): TokenCache {
  return { fingerprint: '', verified: new Map(), keys: null, askedAt: 0, failedAt: 0 }
}

/** Makes `memory` that of the configuration `fingerprint` names, forgetting what another one left. */
export function bindCache(memory: TokenCache, fingerprint: string): void {
  if (memory.fingerprint === fingerprint) return
  memory.fingerprint = fingerprint
  memory.verified.clear()
  memory.keys = null
  memory.askedAt = 0
  memory.failedAt = 0
}

/** What `token` was found to say, unless it has run out or was verified too long ago. */
export function cachedToken({ verified }: TokenCache, token: string, now: UnixMs): VerifiedToken | null {
  const found = verified.get(token)
  if (found === undefined) return null
  const ageMs = now - found.verifiedAt
  if (found.exp > Math.floor(now / 1000) && ageMs >= 0 && ageMs < trustMs) return found
  verified.delete(token)
  return null
}

/** Remembers a token whose signature and claims hold. */
export function cacheToken({ verified }: TokenCache, token: string, what: VerifiedToken): void {
  verified.delete(token) // to the end of the order, where it was there
  if (verified.size >= verifiedTokensMax) {
    for (const oldest of verified.keys()) {
      verified.delete(oldest)
      break
    }
  }
  verified.set(token, what)
}
