import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { JWTPayload } from 'jose'
import { ok } from '../../common/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { TokenVerifier } from './verify-token.ts'

/** How long a verified token is taken without being verified again, in milliseconds: a key that is withdrawn counts so much longer. */
export const keptTokenMs = 60_000
/** Most verified tokens that are kept: about 1 kB each. */
export const keptTokensMax = 1_000

/** A token that was verified: from when, and before when, it is taken. */
interface KeptToken {
  readonly claims: JWTPayload
  readonly from: number
  readonly until: number
}

/**
 * A verifier that remembers what it has verified, by the SHA-256 of the token, at most `keptTokenMs` and never past the token's `exp`.
 * A refused token is never remembered. Verifying the same signature again and again was half of the work of a request.
 */
export function keepVerified(own: TokenVerifier, { now }: Pick<Clock, 'now'>): TokenVerifier {
  const kept = new Map<string, KeptToken>()
  return {
    async verify(token) {
      const digest = await digestOf(token)
      const found = kept.get(digest)
      // After the clock has stepped back the token may not be valid yet.
      if (found !== undefined && found.from <= now() && now() < found.until) return ok(found.claims)
      kept.delete(digest)
      const from = now()
      const claims = await own.verify(token)
      if (!claims.ok) return claims
      kept.set(digest, { claims: claims.value, from, until: Math.min(from + keptTokenMs, endOf(claims.value)) })
      const [oldest] = kept.keys()
      if (kept.size > keptTokensMax && oldest !== undefined) kept.delete(oldest)
      return claims
    },
    isSigned: (token) => own.isSigned(token),
  }
}

/** When a token ends, in whole seconds as its verifier counts them. */
const endOf = ({ exp = 0 }: JWTPayload) => Math.ceil(exp) * 1000

async function digestOf(token: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8ToBytes(token))))
}
