import {
  compactVerify,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { err, ok, type Result } from '../../common/result.ts'
import { secretBytesMin, type TokenConfig } from '../../config/auth.ts'
import { createKeySet, type KeySet, type KeySetParts, KeysUnavailable } from './key-set.ts'
import { type FaultyToken, faulty, type TokenFault } from './token-fault.ts'

/** The most keys of a key set that are tried for a token without a key id. */
export const keysTriedMax = 8

/**
 * How far in the future a token's `nbf` may be, in seconds, because clocks differ. Its `exp` is
 * exact.
 */
export const aheadSecondsMax = 5

/**
 * Why a token is refused. A token without a valid signature is `unauthorized`, and its sender
 * learns nothing more.
 */
export type TokenFailure = 'unauthorized' | 'keys-unavailable' | FaultyToken

/** Verifies tokens of one kind: of users, or of backends. */
export interface TokenVerifier {
  /**
   * Verifies signature, times, issuer and audience. The returned claims contain `exp` and `sub`,
   * but nobody has checked what `sub` is.
   */
  verify(token: string): Promise<Result<JWTPayload, TokenFailure>>
  /**
   * Whether the signature is valid with a shared secret or with a key that was fetched before.
   * Sends no request to an issuer of tokens.
   */
  isSigned(token: string): Promise<boolean>
  /**
   * The version of the key set (`KeySet`); 0 without one. A token that was verified at another
   * version may have been signed with a withdrawn key.
   */
  keysVersion(): number
}

/**
 * Makes a verifier that checks each token only with the keys for its algorithm; null if `config`
 * has no key. A token without `sub` gets `subjectFault`.
 */
export function createTokenVerifier(
  config: TokenConfig,
  parts: KeySetParts,
  subjectFault: TokenFault,
): TokenVerifier | null {
  const { secrets, jwksUrl, issuer, audience } = config
  const keySet = jwksUrl === null ? null : createKeySet(jwksUrl, parts)
  const checks = [
    ...checksWithSecrets(secrets),
    ...(keySet === null ? [] : [checkWithKeySet(keySet, keySetAlgorithms)]),
  ]
  if (checks.length === 0) return null
  const claims = {
    requiredClaims: ['exp', 'sub'],
    ...(issuer === null ? {} : { issuer }),
    ...(audience === null ? {} : { audience }),
  }
  const checkFor = (token: string) => {
    const algorithm = algorithmOf(token)
    return checks.find(({ algorithms }) => algorithm !== null && algorithms.includes(algorithm))
  }
  return {
    async verify(token) {
      const check = checkFor(token)
      if (check === undefined) return err('unauthorized')
      const verified = await verifyWith(check, token, claims, parts)
      if (verified.ok) return verified
      const { error } = verified
      if (error === 'unauthorized' || error === 'keys-unavailable') return err(error)
      return faulty(error === 'sub' ? subjectFault : error)
    },
    async isSigned(token) {
      try {
        return (await checkFor(token)?.isSigned(token)) ?? false
      } catch {
        return false // the token is malformed, or no known key verifies it
      }
    },
    keysVersion: () => keySet?.version() ?? 0,
  }
}

/**
 * Verifies one token of any kind: its signature by `check`, its times, and the given claims. Its
 * `nbf` may be `aheadSecondsMax` in the future; its `exp` is exact. The error is the fault of the
 * claims only if the signature is valid.
 */
export async function verifyWith(
  { algorithms, verify }: SignatureCheck,
  token: string,
  claims: JWTVerifyOptions,
  { clock, logger }: Pick<KeySetParts, 'clock' | 'logger'>,
): Promise<Result<JWTPayload, 'unauthorized' | 'keys-unavailable' | TokenFault | 'sub'>> {
  const now = Math.floor(clock.now() / 1000)
  const times = { clockTolerance: aheadSecondsMax, currentDate: new Date(now * 1000) }
  try {
    const payload = await verify(token, { ...claims, ...times, algorithms: [...algorithms] })
    return (payload.exp ?? 0) > now ? ok(payload) : err('expired')
  } catch (thrown) {
    if (thrown instanceof KeysUnavailable) return err('keys-unavailable')
    if (isUnusableKey(thrown)) {
      logger.warn('token-key-unusable', { why: thrown instanceof Error ? thrown.name : typeof thrown })
    }
    return err(faultOf(thrown) ?? 'unauthorized')
  }
}

/** Whether an exception comes from an unusable key in the set: it is not one of jose's own. */
const isUnusableKey = (thrown: unknown) => !(thrown instanceof errors.JOSEError || thrown instanceof KeysUnavailable)

/**
 * The fault that jose finds in the claims, which it reads only if the signature is valid; null for
 * any other error.
 */
function faultOf(thrown: unknown): TokenFault | 'sub' | null {
  if (thrown instanceof errors.JWTExpired) return 'expired'
  if (!(thrown instanceof errors.JWTClaimValidationFailed)) return null
  const { claim, reason } = thrown
  if (claim === 'nbf') return reason === 'check_failed' ? 'not-valid-yet' : 'nbf'
  return claim === 'exp' || claim === 'iss' || claim === 'aud' || claim === 'sub' ? claim : null
}

/**
 * Checks signatures with keys of one kind: the shared secrets for one HMAC, or the key set of an
 * issuer.
 */
export interface SignatureCheck {
  readonly algorithms: readonly string[]
  readonly verify: (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>
  readonly isSigned: (token: string) => Promise<boolean>
}

function checksWithSecrets(secrets: readonly string[]): readonly SignatureCheck[] {
  return hashes.flatMap(([algorithm, hash, bytesMin]) => {
    const fit = secrets.map(bytesOf).filter(({ length }) => length >= bytesMin)
    return fit.length === 0 ? [] : [checkWithSecrets(algorithm, hash, fit)]
  })
}

const bytesOf = (secret: string) => new Uint8Array(new TextEncoder().encode(secret))

/**
 * The algorithms with a shared secret: the hash of each, and its shortest secret in bytes, which is
 * as long as the hash (RFC 7518, 3.2).
 */
const hashes = [
  ['HS256', 'SHA-256', secretBytesMin],
  ['HS384', 'SHA-384', 48],
  ['HS512', 'SHA-512', 64],
] as const

function checkWithSecrets(
  algorithm: string,
  hash: string,
  secrets: readonly Uint8Array<ArrayBuffer>[],
): SignatureCheck {
  let keys: readonly CryptoKey[] | null = null
  const importEach = (bytes: Uint8Array<ArrayBuffer>) =>
    crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['verify'])
  const readKeys = async () => {
    // Import the secrets once, because importing takes as long as verifying. Keep the keys and not
    // the promise: on Workers a promise belongs to the request that made it, and another request
    // must not wait for it.
    keys ??= await Promise.all(secrets.map(importEach))
    return keys
  }
  return {
    algorithms: [algorithm],
    verify: async (token, options) => verifyWithEach(token, await readKeys(), options),
    async isSigned(token) {
      const tries = (await readKeys()).map((key) => compactVerify(token, key, { algorithms: [algorithm] }))
      return (await Promise.allSettled(tries)).some(({ status }) => status === 'fulfilled')
    },
  }
}

const keySetAlgorithms = ['RS256', 'ES256', 'EdDSA', 'Ed25519']

/**
 * Checks signatures of these algorithms with the keys of a set. If a signature fails, it is checked
 * once more with a newer set, if there is one.
 */
export function checkWithKeySet(keySet: KeySet, algorithms: readonly string[]): SignatureCheck {
  return {
    algorithms,
    async verify(token, options) {
      const version = keySet.version()
      try {
        return await verifyWithKeySet(token, keySet.select, options)
      } catch (thrown) {
        const hasFailed = thrown instanceof errors.JWSSignatureVerificationFailed || isUnusableKey(thrown)
        if (!hasFailed || !(await keySet.renew(version))) throw thrown
        return verifyWithKeySet(token, keySet.select, options)
      }
    },
    async isSigned(token) {
      await compactVerify(token, keySet.selectKnown, { algorithms: [...algorithms] })
      return true
    },
  }
}

/**
 * The algorithm that a token's header names; null if the header cannot be read. It only decides
 * which keys are tried.
 */
function algorithmOf(token: string): string | null {
  try {
    return decodeProtectedHeader(token).alg ?? null
  } catch {
    return null // jose throws if the header is not JSON in base64url
  }
}

/** Tries each matching key, because a token without a key id can match several keys of the set. */
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
      // An error of jose other than a wrong signature: the token itself is invalid, so no other key
      // is tried. After any other exception the next key is tried.
      if (thrown instanceof errors.JOSEError && !(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}
