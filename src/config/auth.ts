import * as z from 'zod/mini'
import type { Uid } from '../ledger/entry.ts'
import { integerFrom, optional, parsedBy, parsedText, text, url } from './schemas.ts'

/** The key that verifies the tokens of callers. */
export type AuthKey =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'jwks'; readonly url: string }
  /** The routes answer 503, except for `DEV_UID` on loopback. */
  | { readonly kind: 'none' }

/** How callers are authenticated. */
export interface AuthConfig {
  readonly key: AuthKey
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

const key = parsedBy(
  z.object({ AUTH_JWT_SECRET: optional(secretText), AUTH_JWKS_URL: optional(url) }),
  ({ AUTH_JWT_SECRET: secret, AUTH_JWKS_URL: jwksUrl }, refuse): Pick<AuthConfig, 'key'> => {
    if (secret !== null && jwksUrl !== null) refuse('either this or AUTH_JWT_SECRET, not both', 'AUTH_JWKS_URL')
    if (secret !== null) return { key: { kind: 'secret', secret } }
    return { key: jwksUrl === null ? { kind: 'none' } : { kind: 'jwks', url: jwksUrl } }
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

/** `AuthConfig` from its variables. Each side of an intersection is checked, whether the other has faults or not. */
export const authSchema = z.intersection(key, claims)
