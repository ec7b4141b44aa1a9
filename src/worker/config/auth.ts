import * as z from 'zod/mini'
import { reservedUid, type Uid } from '../common/ids.ts'
import { integerFrom, optional, parsedBy, parsedText, placeOf, type Refuse, url } from './schemas.ts'

/** The keys that verify one kind of token, and the claims that the token must have. */
export interface TokenConfig {
  /**
   * Secrets for HS256 and, if they are long enough, for HS384 and HS512: the present one and the
   * previous one.
   */
  readonly secrets: readonly string[]
  /**
   * The URL of the issuer's public keys, for RS256, ES256 and EdDSA; null if such tokens are
   * refused.
   */
  readonly jwksUrl: string | null
  /** The required `iss`; null allows any. */
  readonly issuer: string | null
  /** The required `aud`; null allows any. */
  readonly audience: string | null
}

/**
 * How users are authenticated. Without any key the routes answer 503, except for `DEV_UID` on
 * loopback.
 */
export interface AuthConfig extends TokenConfig {
  /**
   * The user for whom a request without a token acts, if its host is a loopback name (`DEV_UID`);
   * null refuses such requests.
   */
  readonly devUid: Uid | null
}

/** Shortest allowed secret, in bytes: the size of the SHA-256 in HS256 (RFC 7518, 3.2). */
export const secretBytesMin = 32

/**
 * A space, line end or byte order mark around a value was copied by mistake from a file or a
 * command. With it, no token would be valid.
 */
const hasEdges = (value: string) => value.trim() !== value
const without = 'without a space, line end or byte order mark around it'

const secretText = parsedText(`a text of at least ${secretBytesMin} bytes, ${without}`, (value) =>
  hasEdges(value) || new TextEncoder().encode(value).length < secretBytesMin ? null : value,
)
const nameText = (takes: string) => parsedText(`${takes}, ${without}`, (value) => (hasEdges(value) ? null : value))

/**
 * Makes the schema of `TokenConfig` from variables with this prefix: `AUTH` for users, `BACKEND`
 * for backends.
 */
const tokenSchema = (door: 'AUTH' | 'BACKEND') => {
  const secretName = `${door}_JWT_SECRET` as const
  const previousName = `${door}_JWT_SECRET_PREVIOUS` as const
  const variables: Record<string, z.ZodMiniType<string | null>> = {
    [secretName]: optional(secretText),
    [previousName]: optional(secretText),
    [`${door}_JWKS_URL`]: optional(url),
    [`${door}_ISSUER`]: optional(nameText('the name of the issuer')),
    [`${door}_AUDIENCE`]: optional(nameText('the name of the audience')),
  }
  return parsedBy(z.object(variables), (values, refuse): TokenConfig => {
    const [secret = null, previous = null, jwksUrl = null, issuer = null, audience = null] = Object.keys(variables).map(
      (name) => values[name],
    )
    if (secret === null && previous !== null) refuse(`set only beside ${secretName}`, previousName)
    return { secrets: [secret, previous].filter((one) => one !== null), jwksUrl, issuer, audience }
  })
}

/** Parses `AuthConfig`. An intersection of two schemas reports the faults of both. */
export const authSchema = z.intersection(
  tokenSchema('AUTH'),
  parsedBy(z.object({ DEV_UID: optional(integerFrom<Uid>(1, reservedUid - 1)) }), ({ DEV_UID: devUid }) => ({
    devUid,
  })),
)

/** Parses how backends are authenticated. Without any key there are no routes for them. */
export const backendAuthSchema = tokenSchema('BACKEND')

/**
 * Refuses a secret or key set that is configured for users and for backends: with it, a user's
 * token would pass as a backend's.
 */
export function refuseSharedKeys(callers: TokenConfig, backends: TokenConfig, refuse: Refuse): void {
  backends.secrets.forEach((secret, i) => {
    const name = i === 0 ? 'BACKEND_JWT_SECRET' : 'BACKEND_JWT_SECRET_PREVIOUS'
    if (callers.secrets.includes(secret)) refuse('another secret than those of callers', name)
  })
  const [own, theirs] = [callers.jwksUrl, backends.jwksUrl]
  if (own !== null && theirs !== null && placeOf(own) === placeOf(theirs)) {
    refuse('another host, port or path than AUTH_JWKS_URL', 'BACKEND_JWKS_URL')
  }
}
