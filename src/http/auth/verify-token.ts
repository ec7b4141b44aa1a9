import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { err, ok, type Result } from '../../common/result.ts'
import type { AuthConfig } from '../../config/config.ts'
import type { Logger } from '../../platform/logger.ts'
import type { AuthFailure } from './authenticate.ts'
import { type KeySetParts, readKeySet, refreshKeySet } from './key-set.ts'

/** Keys of one set that are tried for a token that names none. */
export const keysTriedMax = 8
/** How far the issuer's clock may differ from ours. */
export const clockToleranceSeconds = 0

/** The algorithms of each kind of key: the configuration decides, never the token. */
const secretAlgorithms = ['HS256']
const keySetAlgorithms = ['RS256', 'ES256', 'EdDSA']

type Claims = Result<JWTPayload, AuthFailure>

/** What a token claims, once its signature, times, issuer and audience hold. `exp` and `sub` are there. */
export async function verifyToken(config: AuthConfig, parts: KeySetParts, token: string): Promise<Claims> {
  const { key } = config
  switch (key.kind) {
    case 'secret': {
      const secret = new TextEncoder().encode(key.secret)
      const options = claimOptions(config, parts, secretAlgorithms)
      const claims = await settle(parts.log, async () => (await jwtVerify(token, secret, options)).payload)
      return claims === 'unknown-key' ? err('unauthorized') : claims
    }
    case 'jwks':
      return verifyWithUrl(key.url, claimOptions(config, parts, keySetAlgorithms), parts, token)
    case 'none':
      return err('no-key')
  }
}

function claimOptions(
  { issuer, audience }: AuthConfig,
  { clock }: KeySetParts,
  algorithms: string[],
): JWTVerifyOptions {
  return {
    algorithms,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(clock.now()),
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  }
}

async function verifyWithUrl(
  url: string,
  options: JWTVerifyOptions,
  parts: KeySetParts,
  token: string,
): Promise<Claims> {
  const set = await readKeySet(parts, url)
  if (set === null) return err('keys-unavailable')
  const claims = await settle(parts.log, () => verifyWithSet(token, set, options))
  if (claims !== 'unknown-key') return claims
  const renewed = await refreshKeySet(parts, url)
  if (renewed === null) return err('keys-unavailable')
  if (renewed === 'too-soon') return err('unauthorized')
  const again = await settle(parts.log, () => verifyWithSet(token, renewed, options))
  return again === 'unknown-key' ? err('unauthorized') : again
}

/** A fresh look-up for each check: jose keeps promises inside its own, and requests may not share those. */
async function verifyWithSet(token: string, set: JSONWebKeySet, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, createLocalJWKSet(set), options)).payload
  } catch (thrown) {
    if (thrown instanceof errors.JWKSMultipleMatchingKeys) return tryEach(token, thrown, options)
    throw thrown
  }
}

/** For a token that names no key where several fit. */
async function tryEach(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0
  for await (const key of candidates) {
    if (++tried > keysTriedMax) break
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (thrown) {
      if (!(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown // no other key mends that
    }
  }
  throw candidates
}

/** Every way to fail is the one refusal, but for a key that we may not have read yet. */
async function settle(log: Logger, check: () => Promise<JWTPayload>): Promise<Claims | 'unknown-key'> {
  try {
    return ok(await check())
  } catch (thrown) {
    if (thrown instanceof errors.JWKSNoMatchingKey) return 'unknown-key'
    // Not the token's fault: a key of the set that can't be used. Refused all the same, but somebody should know.
    if (!(thrown instanceof errors.JOSEError)) log.warn('token key unusable', { why: nameOf(thrown) })
    return err('unauthorized')
  }
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown
}
