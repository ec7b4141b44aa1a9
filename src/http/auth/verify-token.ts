import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { err, ok, type Result } from '../../common/result.ts'
import type { AuthConfig, AuthKeys } from '../../config/auth.ts'
import { createKeySet, type KeySetParts, KeysUnavailable } from './key-set.ts'

/** Most keys that are tried for a token without a key id. */
export const keysTriedMax = 8

/** Why a token is refused: any fault of it is `unauthorized`. */
export type TokenFailure = 'unauthorized' | 'keys-unavailable'

/** Verifies the signature, times, issuer and audience of a token. Its claims have `exp` and `sub`. */
export type VerifyToken = (token: string) => Promise<Result<JWTPayload, TokenFailure>>

/** Verifies tokens, each only with the keys of its algorithm's kind. Null without a key. */
export function createTokenVerifier(
  { keys, issuer, audience }: Pick<AuthConfig, 'keys' | 'issuer' | 'audience'>,
  parts: KeySetParts,
): VerifyToken | null {
  const checks = signatureChecks(keys, parts)
  if (checks.length === 0) return null
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
      if (!(thrown instanceof errors.JOSEError)) parts.logger.warn('token-key-unusable', { why: nameOf(thrown) })
      return err('unauthorized')
    }
  }
}

/** The keys of one kind, and the algorithms that they are for. */
interface SignatureCheck {
  readonly algorithms: string[]
  readonly verify: (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>
}

function signatureChecks({ secrets, jwksUrl }: AuthKeys, parts: KeySetParts): readonly SignatureCheck[] {
  const checks: SignatureCheck[] = []
  if (secrets.length > 0) {
    const encoded = secrets.map((secret) => new TextEncoder().encode(secret))
    checks.push({ algorithms: ['HS256'], verify: (token, options) => verifyWithEach(token, encoded, options) })
  }
  if (jwksUrl !== null) {
    const keySet = createKeySet(jwksUrl, parts)
    const algorithms = ['RS256', 'ES256', 'EdDSA']
    checks.push({ algorithms, verify: (token, options) => verifyWithKeySet(token, keySet, options) })
  }
  return checks
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
  keys: Iterable<Uint8Array> | AsyncIterable<CryptoKey>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0
  for await (const key of keys) {
    if (++tried > keysTriedMax) break
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (thrown) {
      if (!(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown // another key does not change that
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown
}
