import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'

/** A secret as `AUTH_JWT_SECRET` takes it. */
export const jwtSecret = 'a secret of more than thirty-two bytes, for tests only'

/** Seconds since 1970 at which the tests' tokens are looked at. */
export const tokenNow = 1_790_000_000

/** Claims of a good token; a claim set to undefined is left out. */
export const goodClaims = (changes: Record<string, unknown> = {}): JWTPayload => ({
  sub: '7',
  exp: tokenNow + 3600,
  ...changes,
})

/** A token as an issuer with the shared secret makes it. */
export function signHs256(
  claims: JWTPayload,
  secret = jwtSecret,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...header })
    .sign(new TextEncoder().encode(secret))
}

/** The header of a request that shows a token. */
export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

/** Any three parts as a token, with whatever signature: for what no library would sign. */
export function assemble(header: unknown, claims: unknown, signature = ''): string {
  return `${encode(JSON.stringify(header))}.${encode(JSON.stringify(claims))}.${signature}`
}

/** Base64url of a text or of bytes. */
export function encode(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

/** HMAC-SHA-256 with any bytes as the key, over a token's first two parts: what an attacker can always do. */
export async function signWithBytes(header: unknown, claims: unknown, key: Uint8Array): Promise<string> {
  const signed = assemble(header, claims).slice(0, -1)
  const usable = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', usable, new TextEncoder().encode(signed))
  return `${signed}.${encode(new Uint8Array(signature))}`
}

/** The algorithms that a key set may have. */
export type KeySetAlgorithm = 'RS256' | 'ES256' | 'EdDSA'

/** A key pair of an issuer: signs, and has a public half for the key set. */
export interface Issuer {
  readonly alg: KeySetAlgorithm
  readonly jwk: JSONWebKeySet['keys'][number]
  readonly privateKey: CryptoKey
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>
}

/** A new key pair. `kid` null leaves the key without a name, in its set and in its tokens. */
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

/** The JSON that an issuer's key URL answers. */
export const keySetOf = (...issuers: readonly Issuer[]): JSONWebKeySet => ({
  keys: issuers.map((issuer) => issuer.jwk),
})
