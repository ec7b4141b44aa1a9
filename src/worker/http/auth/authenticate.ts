import { type BackendName, reservedUid, type Uid } from '../../common/ids.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { isLoopback } from '../../common/safe-url.ts'
import type { AuthConfig, TokenConfig } from '../../config/auth.ts'
import { parseBackendName } from '../../ledger/entry.ts'
import { keepVerified } from './kept-tokens.ts'
import type { KeySetParts } from './key-set.ts'
import { backendTokenSecondsMax, faulty, type TokenFault } from './token-fault.ts'
import { createTokenVerifier, type TokenFailure, type TokenVerifier } from './verify-token.ts'

/**
 * Longest `Authorization` header, or assertion of Cloudflare Access, that is read, in characters. A
 * longer one is refused.
 */
export const authorizationCharsMax = 8192

/**
 * Why a request is refused: a fault of its token, or `no-key`, if the service has no key to verify
 * users' tokens with.
 */
export type AuthFailure = TokenFailure | 'no-key'

/** Finds the user who sends a request, from its bearer token or, on loopback, `DEV_UID`. */
export type Authenticate = (request: Request) => Promise<Result<Uid, AuthFailure>>

/**
 * The rights of a backend's token, in this order: to read; to post entries and issue addresses; to
 * ask for payouts; to approve them; to sign them.
 */
export type Scope = 'ledger:read' | 'ledger:post' | 'ledger:pay' | 'ledger:approve' | 'ledger:sign'

/**
 * A backend as its token names it. `scopes` has every word of the claim `scope`, also unknown ones.
 */
export interface Backend {
  readonly name: BackendName
  readonly scopes: readonly string[]
}

export type AuthenticateBackend = (request: Request) => Promise<Result<Backend, TokenFailure>>

/** One authenticator for each kind of token: `callers` for users, `backends` for `/ledger/*`. */
export interface Authenticators {
  readonly callers: Authenticate
  /** Null without a key for backends' tokens. */
  readonly backends: AuthenticateBackend | null
}

/**
 * Makes both authenticators. Each refuses a valid token of the other kind with a fault that says
 * so: `backend-token` or `caller-token`.
 */
export function createAuthenticators(
  auth: AuthConfig,
  backend: TokenConfig | null,
  parts: KeySetParts,
): Authenticators {
  const verifierOf = (config: TokenConfig, subject: TokenFault) => {
    const own = createTokenVerifier(config, parts, subject)
    return own === null ? null : keepVerified(own, parts.clock)
  }
  const ofCallers = verifierOf(auth, 'uid')
  const ofBackends = backend === null ? null : verifierOf(backend, 'name')
  return {
    callers: authenticateCallers(auth, ofCallers, ofBackends),
    backends: ofBackends === null ? null : authenticateBackends(ofBackends, ofCallers, parts),
  }
}

/** Authenticates by a token or, for a request without one on loopback, by `DEV_UID`. */
function authenticateCallers(
  { devUid }: AuthConfig,
  own: TokenVerifier | null,
  ofBackends: TokenVerifier | null,
): Authenticate {
  return async (request) => {
    const header = request.headers.get('authorization')
    if (header === null && devUid !== null && isLoopback(new URL(request.url).hostname)) return ok(devUid)
    if (own === null) return err('no-key')
    const token = readBearer(header)
    if (token === null) return err('unauthorized')
    const claims = await own.verify(token)
    if (!claims.ok) {
      const isForeign = claims.error === 'unauthorized' && (await ofBackends?.isSigned(token))
      return isForeign ? faulty('backend-token') : claims
    }
    const uid = readSubject(claims.value.sub)
    return uid === null ? faulty('uid') : ok(uid)
  }
}

function authenticateBackends(
  own: TokenVerifier,
  ofCallers: TokenVerifier | null,
  { clock }: KeySetParts,
): AuthenticateBackend {
  return async (request) => {
    const token = readBearer(request.headers.get('authorization'))
    if (token === null) return err('unauthorized')
    const claims = await own.verify(token)
    if (!claims.ok) {
      const isForeign = claims.error === 'unauthorized' && (await ofCallers?.isSigned(token))
      return isForeign ? faulty('caller-token') : claims
    }
    const { sub, exp = Number.POSITIVE_INFINITY, scope = '' } = claims.value
    const name = parseBackendName(sub)
    if (name === null) return faulty('name')
    if (exp - clock.now() / 1000 > backendTokenSecondsMax) return faulty('lives-too-long')
    return typeof scope === 'string' ? ok({ name, scopes: scope.split(' ') }) : faulty('scope')
  }
}

/**
 * `Bearer`, one space and one JWT. Two `Authorization` headers arrive joined by a comma, which no
 * JWT contains, so a request with two is refused.
 */
const bearer = /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i

/**
 * Reads the token in an `Authorization` header; null if the header is absent, too long, or of
 * another form.
 */
function readBearer(header: string | null): string | null {
  return header === null || header.length > authorizationCharsMax ? null : (bearer.exec(header)?.[1] ?? null)
}

/**
 * Reads the user in the claim `sub`: a JSON string of decimal digits, 1 to 2^53−2, without sign or
 * leading zero. Null for anything else.
 */
function readSubject(subject: unknown): Uid | null {
  if (typeof subject !== 'string' || !/^[1-9]\d{0,15}$/.test(subject)) return null
  const uid = Number(subject)
  return uid < reservedUid ? (uid as Uid) : null // safe: a number that passes these checks is a uid
}
