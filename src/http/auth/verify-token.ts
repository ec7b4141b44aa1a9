import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from 'jose'
import { err, ok, type Result } from '../../common/result.ts'
import type { AuthConfig, AuthKey } from '../../config/auth.ts'
import { createKeySet, type KeySetParts, KeysUnavailable } from './key-set.ts'

/** Most keys that are tried for a token without a key id. */
export const keysTriedMax = 8

/** Why a token is refused: any fault of it is `unauthorized`. */
export type TokenFailure = 'unauthorized' | 'keys-unavailable'

/** Verifies the signature, times, issuer and audience of a token. Its claims have `exp` and `sub`. */
export type VerifyToken = (token: string) => Promise<Result<JWTPayload, TokenFailure>>

/** Verifies tokens with the key of this configuration, whose kind decides on the algorithms. Null without a key. */
export function createTokenVerifier({ key, issuer, audience }: AuthConfig, parts: KeySetParts): VerifyToken | null {
  const verify = signatureCheck(key, parts)
  if (verify === null) return null
  const claims = {
    requiredClaims: ['exp', 'sub'],
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  }
  return async (token) => {
    try {
      return ok(await verify(token, { ...claims, currentDate: new Date(parts.clock.now()) }))
    } catch (thrown) {
      if (thrown instanceof KeysUnavailable) return err('keys-unavailable')
      // Anything else that is not an error of jose's own is a key of the set that cannot be used.
      if (!(thrown instanceof errors.JOSEError)) parts.logger.warn('token-key-unusable', { why: nameOf(thrown) })
      return err('unauthorized')
    }
  }
}

type SignatureCheck = (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>

function signatureCheck(key: AuthKey, parts: KeySetParts): SignatureCheck | null {
  switch (key.kind) {
    case 'secret': {
      const secret = new TextEncoder().encode(key.secret)
      const algorithms = ['HS256']
      return async (token, options) => (await jwtVerify(token, secret, { ...options, algorithms })).payload
    }
    case 'jwks': {
      const keySet = createKeySet(key.url, parts)
      const algorithms = ['RS256', 'ES256', 'EdDSA']
      return (token, options) => verifyWithKeySet(token, keySet, { ...options, algorithms })
    }
    case 'none':
      return null
  }
}

/** A token without a key id can match several keys: each is tried. */
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
  matching: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0
  for await (const key of matching) {
    if (++tried > keysTriedMax) break
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (thrown) {
      if (!(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown // another key does not change that
    }
  }
  throw matching
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown
}
