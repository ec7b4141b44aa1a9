import type { Uid } from '../../common/ids.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { AuthConfig } from '../../config/auth.ts'
import { isLoopback } from '../../config/schemas.ts'
import type { KeySetParts } from './key-set.ts'
import { cachedToken, cacheToken, type TokenCache } from './token-cache.ts'
import { createTokenVerifier, type TokenFailure } from './verify-token.ts'

/** Longest `Authorization` header that is read, in characters. */
export const authorizationCharsMax = 8192

/** Why a request is refused: its token, or a service without a key. */
export type AuthFailure = TokenFailure | 'no-key'

/** The caller of a request. */
export type Authenticate = (request: Request) => Promise<Result<Uid, AuthFailure>>

/** One space and one token. Two headers arrive as one with a comma, which no token has. */
const bearer = /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i

/** Authenticates requests by their bearer token, or by `DEV_UID` for a request without one on loopback. */
export function createAuthenticator(config: AuthConfig, parts: KeySetParts): Authenticate {
  const verify = createTokenVerifier(config, parts)
  const cache: TokenCache = new Map()
  return async (request) => {
    const header = request.headers.get('authorization')
    if (header === null && config.devUid !== null && isLoopback(new URL(request.url).hostname)) return ok(config.devUid)
    if (verify === null) return err('no-key')
    const token = readBearer(header)
    if (token === null) return err('unauthorized')
    const now = parts.clock.now()
    const cached = cachedToken(cache, token, now)
    if (cached !== null) return ok(cached.uid)
    const claims = await verify(token)
    if (!claims.ok) return claims
    const uid = readSubject(claims.value.sub)
    if (uid === null) return err('unauthorized')
    cacheToken(cache, token, { uid, exp: claims.value.exp ?? 0, verifiedAt: now })
    return ok(uid)
  }
}

/** The token in an `Authorization` header, or null. */
export function readBearer(header: string | null): string | null {
  return header === null || header.length > authorizationCharsMax ? null : (bearer.exec(header)?.[1] ?? null)
}

/** The caller in `sub`: a JSON string of decimal digits, 1 to 2^53−1, without sign or leading zero. */
function readSubject(subject: unknown): Uid | null {
  if (typeof subject !== 'string' || !/^[1-9]\d{0,15}$/.test(subject)) return null
  const uid = Number(subject)
  return Number.isSafeInteger(uid) ? (uid as Uid) : null // safe: these checks are the definition
}
