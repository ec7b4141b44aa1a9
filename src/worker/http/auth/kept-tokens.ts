import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { JWTPayload } from 'jose'
import { ok } from '../../common/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { TokenVerifier } from './verify-token.ts'

/** How long a verified token is accepted without another verification, in milliseconds. */
export const keptTokenMs = 60_000
/** Most verified tokens that are kept; each takes about 1 kB. */
export const keptTokensMax = 1_000

/**
 * The claims of a verified token. It is accepted without another verification from `from` until
 * `until`, in milliseconds since 1970.
 */
interface KeptToken {
  readonly claims: JWTPayload
  /** The version of the keys before the verification. */
  readonly keysVersion: number
  readonly from: number
  readonly until: number
}

/**
 * Wraps a verifier so that it remembers verified tokens by their SHA-256, for at most `keptTokenMs`
 * and never past the token's `exp`. It does not remember refused tokens. A token is verified again
 * when another key set was fetched, which may lack its key. Without this memory, half of the work
 * of a request would be to verify a signature that was verified before.
 */
export function keepVerified(own: TokenVerifier, { now }: Pick<Clock, 'now'>): TokenVerifier {
  const kept = new Map<string, KeptToken>()
  return {
    async verify(token) {
      const digest = await digestOf(token)
      const found = kept.get(digest)
      // If the clock has stepped back, the token may not be valid yet, so it is verified again.
      const isInTime = found !== undefined && found.from <= now() && now() < found.until
      if (isInTime && found.keysVersion === own.keysVersion()) return ok(found.claims)
      kept.delete(digest)
      const [from, keysVersion] = [now(), own.keysVersion()]
      const claims = await own.verify(token)
      if (!claims.ok) return claims
      const until = Math.min(from + keptTokenMs, endOf(claims.value))
      kept.set(digest, { claims: claims.value, keysVersion, from, until })
      const [oldest] = kept.keys()
      if (kept.size > keptTokensMax && oldest !== undefined) kept.delete(oldest)
      return claims
    },
    isSigned: own.isSigned,
    keysVersion: own.keysVersion,
  }
}

/**
 * When a token expires, in milliseconds since 1970. Rounded up to a whole second, because its
 * verifier counts whole seconds.
 */
const endOf = ({ exp = 0 }: JWTPayload) => Math.ceil(exp) * 1000

async function digestOf(token: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8ToBytes(token))))
}
