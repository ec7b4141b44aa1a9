import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'

/** A valid value of `AUTH_JWT_SECRET`. */
export const jwtSecret = 'a secret of more than thirty-two bytes, for tests only'

/** The time at which the tests verify tokens, in seconds since 1970. */
export const tokenNow = 1_790_000_000

/** Claims of a valid token; a claim that is set to undefined is left out. */
export const goodClaims = (changes: Record<string, unknown> = {}): JWTPayload => ({
  sub: '7',
  exp: tokenNow + 3600,
  ...changes,
})

/** A token signed with the shared secret. */
export function signHs256(
  claims: JWTPayload,
  secret = jwtSecret,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...header })
    .sign(new TextEncoder().encode(secret))
}

/** The authorization header of a request with a token. */
export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

/** A token of any header, claims and signature, including those that no library signs. */
export function forgeToken(header: unknown, claims: unknown, signature = ''): string {
  return `${base64Url(JSON.stringify(header))}.${base64Url(JSON.stringify(claims))}.${signature}`
}

/** Base64url of a text or of bytes. */
export function base64Url(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

/** A token with an HMAC-SHA-256 signature by any bytes as the key, which any attacker can make. */
export async function signWithBytes(header: unknown, claims: unknown, key: Uint8Array): Promise<string> {
  const signed = forgeToken(header, claims).slice(0, -1)
  const usable = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', usable, new TextEncoder().encode(signed))
  return `${signed}.${base64Url(new Uint8Array(signature))}`
}

/** A token with an HMAC of another hash, or with a secret that a library finds too short for it. */
export async function signWithHash(alg: string, claims: unknown, secret: string): Promise<string> {
  const signed = forgeToken({ alg }, claims).slice(0, -1)
  const hash = `SHA-${alg.slice(2)}`
  const encoder = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(signed))
  return `${signed}.${base64Url(new Uint8Array(signature))}`
}

/** The algorithms of keys in a key set. */
export type KeySetAlgorithm = 'RS256' | 'ES256' | 'EdDSA' | 'Ed25519'

/** A key pair of a token issuer; `jwk` is its public key for the key set. */
export interface Issuer {
  readonly alg: KeySetAlgorithm
  readonly jwk: JSONWebKeySet['keys'][number]
  readonly privateKey: CryptoKey
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>
}

/** A new key pair. With `kid` null, neither the key nor its tokens have a key id. */
export async function createIssuer(alg: KeySetAlgorithm, kid: string | null): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const named = kid === null ? {} : { kid }
  const jwk = { ...(await exportJWK(publicKey)), ...named, alg, use: 'sig' }
  return {
    alg,
    jwk,
    privateKey,
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, ...named, ...header }).sign(privateKey),
  }
}

/** The JSON that an issuer serves at its key URL. */
export const keySetOf = (...issuers: readonly Issuer[]): JSONWebKeySet => ({
  keys: issuers.map((issuer) => issuer.jwk),
})
