import * as z from 'zod/mini'
import type { Uid } from '../common/ids.ts'
import { integerFrom, optional, parsedBy, parsedText, text, url } from './schemas.ts'

/** The keys that verify the tokens of callers. With none the routes answer 503, except for `DEV_UID` on loopback. */
export interface AuthKeys {
  /** For HS256: the present secret and the previous one. */
  readonly secrets: readonly string[]
  /** For RS256, ES256 and EdDSA: where the issuer publishes its keys, or null. */
  readonly jwksUrl: string | null
}

/** The keys that verify the tokens of backends. Without any, `backend` is null and there are no routes for them. */
export interface BackendAuthConfig {
  readonly backend: AuthKeys | null
}

/** How callers are authenticated. */
export interface AuthConfig {
  readonly keys: AuthKeys
  /** The `iss` that a token must have, or null: any. */
  readonly issuer: string | null
  /** The `aud` that a token must have, or null: any. */
  readonly audience: string | null
  /** The user for whom requests without a token act on loopback, or null. */
  readonly devUid: Uid | null
}

/** Shortest `AUTH_JWT_SECRET`, in bytes: the size of the hash (RFC 7518, 3.2). */
export const secretBytesMin = 32

const secretText = parsedText(`a text of at least ${secretBytesMin} bytes`, (value) =>
  new TextEncoder().encode(value).length < secretBytesMin ? null : value,
)

const keys = parsedBy(
  z.object({
    AUTH_JWT_SECRET: optional(secretText),
    AUTH_JWT_SECRET_PREVIOUS: optional(secretText),
    AUTH_JWKS_URL: optional(url),
  }),
  ({ AUTH_JWT_SECRET: secret, AUTH_JWT_SECRET_PREVIOUS: previous, AUTH_JWKS_URL: jwksUrl }, refuse) => {
    if (secret === null && previous !== null) refuse('set only beside AUTH_JWT_SECRET', 'AUTH_JWT_SECRET_PREVIOUS')
    const secrets = [secret, previous].filter((one) => one !== null)
    return { keys: { secrets, jwksUrl } satisfies AuthKeys }
  },
)

const claims = parsedBy(
  z.object({
    AUTH_ISSUER: optional(text('the name of the issuer')),
    AUTH_AUDIENCE: optional(text('the name of the audience')),
    DEV_UID: optional(integerFrom<Uid>(1, Number.MAX_SAFE_INTEGER)),
  }),
  ({ AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience, DEV_UID: devUid }) => ({ issuer, audience, devUid }),
)

/** `BackendAuthConfig` from its variables. A secret or key set that verified both kinds of token would make each caller a backend: none may be the same. */
export const backendAuthSchema = parsedBy(
  z.object({
    BACKEND_JWT_SECRET: optional(secretText),
    BACKEND_JWKS_URL: optional(url),
    AUTH_JWT_SECRET: z.optional(z.unknown()),
    AUTH_JWT_SECRET_PREVIOUS: z.optional(z.unknown()),
    AUTH_JWKS_URL: z.optional(z.unknown()),
  }),
  ({ BACKEND_JWT_SECRET: secret, BACKEND_JWKS_URL: jwksUrl, ...callers }, refuse): BackendAuthConfig => {
    const { AUTH_JWT_SECRET: own, AUTH_JWT_SECRET_PREVIOUS: previous, AUTH_JWKS_URL: ownUrl } = callers
    if (secret !== null && [own, previous].includes(secret)) {
      refuse('another secret than AUTH_JWT_SECRET and AUTH_JWT_SECRET_PREVIOUS', 'BACKEND_JWT_SECRET')
    }
    if (jwksUrl !== null && typeof ownUrl === 'string' && URL.parse(ownUrl)?.href === URL.parse(jwksUrl)?.href) {
      refuse('another URL than AUTH_JWKS_URL', 'BACKEND_JWKS_URL')
    }
    const keys = Object.freeze({ secrets: secret === null ? [] : [secret], jwksUrl })
    return { backend: secret === null && jwksUrl === null ? null : keys }
  },
)

/** `AuthConfig` from its variables. Each side of an intersection is checked, whether the other has faults or not. */
export const authSchema = z.intersection(keys, claims)
