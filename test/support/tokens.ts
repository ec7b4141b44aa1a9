import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'

export const jwtSecret = 'a secret of more than thirty-two bytes, for tests only'

/** The time at which tests verify tokens, in seconds since 1970. */
export const tokenNow = 1_790_000_000

/** The claims of a valid token of user 7, with changes; a claim that is undefined is left out. */
export const goodClaims = (changes: Record<string, unknown> = {}): JWTPayload => ({
  sub: '7',
  exp: tokenNow + 3600,
  ...changes,
})

/** A token signed by HS256, by default with `jwtSecret`. */
export function signHs256(
  claims: JWTPayload,
  secret = jwtSecret,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...header })
    .sign(new TextEncoder().encode(secret))
}

/** The header with which a request carries a token. */
export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

/** A token with any header, claims and signature, even such as no library would sign. */
export function forgeToken(header: unknown, claims: unknown, signature = ''): string {
  return `${base64Url(JSON.stringify(header))}.${base64Url(JSON.stringify(claims))}.${signature}`
}

/** Base64 for URLs without padding, of bytes or of a text as UTF-8. */
export function base64Url(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

/**
 * A token with an HMAC-SHA-256 signature under any bytes. An attacker can sign with a public key's
 * bytes and hope that they are taken for a secret.
 */
export async function signWithBytes(header: unknown, claims: unknown, key: Uint8Array): Promise<string> {
  const signed = forgeToken(header, claims).slice(0, -1)
  const usable = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', usable, new TextEncoder().encode(signed))
  return `${signed}.${base64Url(new Uint8Array(signature))}`
}

/**
 * A token with an HMAC signature by the hash of `alg`. The secret may be one that libraries refuse
 * as too short.
 */
export async function signWithHash(alg: string, claims: unknown, secret: string): Promise<string> {
  const signed = forgeToken({ alg }, claims).slice(0, -1)
  const hash = `SHA-${alg.slice(2)}`
  const encoder = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(signed))
  return `${signed}.${base64Url(new Uint8Array(signature))}`
}

export type KeySetAlgorithm = 'RS256' | 'ES256' | 'EdDSA' | 'Ed25519'

/** A key pair that signs tokens. `jwk` is its public key, as an item of a key set. */
export interface Issuer {
  readonly alg: KeySetAlgorithm
  readonly jwk: JSONWebKeySet['keys'][number]
  readonly privateKey: CryptoKey
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>
}

/** A new key pair. `kid` null: the key and its tokens have no key id. */
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

/** The JSON that issuers publish at their key URL. */
export const keySetOf = (...issuers: readonly Issuer[]): JSONWebKeySet => ({
  keys: issuers.map((issuer) => issuer.jwk),
})
