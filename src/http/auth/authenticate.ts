import type { BackendName, Uid } from '../../common/ids.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { AuthConfig, AuthKeys } from '../../config/auth.ts'
import { isLoopback } from '../../config/schemas.ts'
import { parseBackendName } from '../../ledger/entry.ts'
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
function readBearer(header: string | null): string | null {
  return header === null || header.length > authorizationCharsMax ? null : (bearer.exec(header)?.[1] ?? null)
}

/** The caller in `sub`: a JSON string of decimal digits, 1 to 2^53−1, without sign or leading zero. */
function readSubject(subject: unknown): Uid | null {
  if (typeof subject !== 'string' || !/^[1-9]\d{0,15}$/.test(subject)) return null
  const uid = Number(subject)
  return Number.isSafeInteger(uid) ? (uid as Uid) : null // safe: these checks are the definition
}

/** Longest lifetime that a backend's token may have left, in seconds. */
export const backendTokenSecondsMax = 3600

/** What a backend's token allows: reading, or posting entries and issuing further addresses. */
export type Scope = 'ledger:read' | 'ledger:post'

/** The backend of a request, and the words of its token's `scope`. */
export interface Backend {
  readonly name: BackendName
  readonly scopes: readonly string[]
}

/** The backend of a request. */
export type AuthenticateBackend = (request: Request) => Promise<Result<Backend, TokenFailure>>

/** Authenticates requests of backends by their bearer token. */
export function createBackendAuthenticator(keys: AuthKeys, parts: KeySetParts): AuthenticateBackend {
  const verify = createTokenVerifier({ keys, issuer: null, audience: null }, parts)
  return async (request) => {
    const token = readBearer(request.headers.get('authorization'))
    if (verify === null || token === null) return err('unauthorized')
    const claims = await verify(token)
    if (!claims.ok) return claims
    const { sub, exp = Number.POSITIVE_INFINITY, scope = '' } = claims.value
    const name = parseBackendName(sub)
    const isShortLived = exp - parts.clock.now() / 1000 <= backendTokenSecondsMax
    if (name === null || !isShortLived || typeof scope !== 'string') return err('unauthorized')
    return ok({ name, scopes: scope.split(' ') })
  }
}
