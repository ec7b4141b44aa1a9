import type { Uid } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'

/** Most tokens in the cache; the oldest one is replaced by a new one. */
export const cachedTokensMax = 1000
/** How long a verified token is not verified again: a token whose key was withdrawn is refused after this. */
export const cachedTokenMs = 600_000

/** The claims of a verified token. `exp` is seconds since 1970; its `nbf` is not after `verifiedAt`. */
export interface VerifiedToken {
  readonly uid: Uid
  readonly exp: number
  readonly verifiedAt: UnixMs
}

/**
 * The verified tokens of one isolate, to save signature checks. It has only tokens with a valid signature, so that forged ones
 * cannot displace them.
 */
export type TokenCache = Map<string, VerifiedToken>

/** The claims of `token` where it is cached, not expired and verified recently. */
export function cachedToken(cache: TokenCache, token: string, now: UnixMs): VerifiedToken | null {
  const found = cache.get(token)
  if (found === undefined) return null
  const ageMs = now - found.verifiedAt
  if (found.exp > Math.floor(now / 1000) && ageMs >= 0 && ageMs < cachedTokenMs) return found
  cache.delete(token)
  return null
}

/** Adds a token whose signature and claims are valid. */
export function cacheToken(cache: TokenCache, token: string, verified: VerifiedToken): void {
  cache.delete(token) // a token that is added again becomes the newest
  const [oldest] = cache.keys()
  if (oldest !== undefined && cache.size >= cachedTokensMax) cache.delete(oldest)
  cache.set(token, verified)
}
