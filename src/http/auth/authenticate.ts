import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { type BackendName, reservedUid, type Uid } from '../../common/ids.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { AuthConfig, TokenConfig } from '../../config/auth.ts'
import { isLoopback } from '../../config/schemas.ts'
import { parseBackendName } from '../../ledger/entry.ts'
import { createKeySet, type KeySetParts, KeysUnavailable } from './key-set.ts'

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
  return async (request) => {
    const header = request.headers.get('authorization')
    if (header === null && config.devUid !== null && isLoopback(new URL(request.url).hostname)) return ok(config.devUid)
    if (verify === null) return err('no-key')
    const token = readBearer(header)
    if (token === null) return err('unauthorized')
    const claims = await verify(token)
    if (!claims.ok) return claims
    const uid = readSubject(claims.value.sub)
    return uid === null ? err('unauthorized') : ok(uid)
  }
}

/** The token in an `Authorization` header, or null. */
function readBearer(header: string | null): string | null {
  return header === null || header.length > authorizationCharsMax ? null : (bearer.exec(header)?.[1] ?? null)
}

/** The caller in `sub`: a JSON string of decimal digits, 1 to 2^53−2, without sign or leading zero. */
function readSubject(subject: unknown): Uid | null {
  if (typeof subject !== 'string' || !/^[1-9]\d{0,15}$/.test(subject)) return null
  const uid = Number(subject)
  return uid < reservedUid ? (uid as Uid) : null // safe: these checks are the definition
}

/** Longest lifetime that a backend's token may have left, in seconds. */
export const backendTokenSecondsMax = 3600

/** What a backend's token allows: reading, posting entries and issuing further addresses, or deciding what a person looks at. */
export type Scope = 'ledger:read' | 'ledger:post' | 'ledger:approve'

/** The backend of a request, and the words of its token's `scope`. */
export interface Backend {
  readonly name: BackendName
  readonly scopes: readonly string[]
}

/** The backend of a request. */
export type AuthenticateBackend = (request: Request) => Promise<Result<Backend, TokenFailure>>

/** Authenticates requests of backends by their bearer token. */
export function createBackendAuthenticator(config: TokenConfig, parts: KeySetParts): AuthenticateBackend {
  const verify = createTokenVerifier(config, parts)
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

/** Most keys that are tried for a token without a key id. */
export const keysTriedMax = 8

/** Why a token is refused: any fault of it is `unauthorized`. */
type TokenFailure = 'unauthorized' | 'keys-unavailable'

/** Verifies the signature, times, issuer and audience of a token. Its claims have `exp` and `sub`. */
type VerifyToken = (token: string) => Promise<Result<JWTPayload, TokenFailure>>

/** Verifies tokens, each only with the keys of its algorithm's kind. Null without a key. */
function createTokenVerifier(config: TokenConfig, parts: KeySetParts): VerifyToken | null {
  const checks = signatureChecks(config, parts)
  if (checks.length === 0) return null
  const { issuer, audience } = config
  const claims = {
    requiredClaims: ['exp', 'sub'],
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  }
  return async (token) => {
    const algorithm = algorithmOf(token)
    const check = checks.find(({ algorithms }) => algorithm !== null && algorithms.includes(algorithm))
    if (check === undefined) return err('unauthorized')
    const { algorithms, verify } = check
    try {
      return ok(await verify(token, { ...claims, algorithms, currentDate: new Date(parts.clock.now()) }))
    } catch (thrown) {
      if (thrown instanceof KeysUnavailable) return err('keys-unavailable')
      // Anything else that is not an error of jose's own is a key of the set that cannot be used.
      if (!(thrown instanceof errors.JOSEError)) {
        parts.logger.warn('token-key-unusable', { why: thrown instanceof Error ? thrown.name : typeof thrown })
      }
      return err('unauthorized')
    }
  }
}

/** The keys of one kind, and the algorithms that they are for. */
interface SignatureCheck {
  readonly algorithms: string[]
  readonly verify: (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>
}

function signatureChecks({ secrets, jwksUrl }: TokenConfig, parts: KeySetParts): readonly SignatureCheck[] {
  const checks: SignatureCheck[] = []
  if (secrets.length > 0) {
    let keys: readonly CryptoKey[] | null = null
    const verify = async (token: string, options: JWTVerifyOptions) => {
      keys ??= await Promise.all(secrets.map(importSecret)) // once: an import takes as long as a verification
      return await verifyWithEach(token, keys, options)
    }
    checks.push({ algorithms: ['HS256'], verify })
  }
  if (jwksUrl !== null) {
    const keySet = createKeySet(jwksUrl, parts)
    const algorithms = ['RS256', 'ES256', 'EdDSA']
    checks.push({ algorithms, verify: (token, options) => verifyWithKeySet(token, keySet, options) })
  }
  return checks
}

function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** The algorithm that the token names, which only selects the kind of key; null where it cannot be read. */
function algorithmOf(token: string): string | null {
  try {
    return decodeProtectedHeader(token).alg ?? null
  } catch {
    return null // the library throws where the header is not JSON in base64url
  }
}

/** A token without a key id can match several keys of the set: each is tried. */
async function verifyWithKeySet(
  token: string,
  keySet: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keySet, options)).payload
  } catch (thrown) {
    if (!(thrown instanceof errors.JWKSMultipleMatchingKeys)) throw thrown
    return verifyWithEach(token, thrown, options)
  }
}

async function verifyWithEach(
  token: string,
  keys: Iterable<CryptoKey> | AsyncIterable<CryptoKey>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0
  for await (const key of keys) {
    if (++tried > keysTriedMax) break
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (thrown) {
      // Another key does not change that. What is not an error of the token is one of the key, which can be too short.
      if (thrown instanceof errors.JOSEError && !(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}
