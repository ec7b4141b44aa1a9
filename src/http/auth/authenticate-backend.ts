import type { BackendName } from '../../common/ids.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { AuthKeys } from '../../config/auth.ts'
import { parseBackendName } from '../../ledger/entry.ts'
import { readBearer } from './authenticate.ts'
import type { KeySetParts } from './key-set.ts'
import { createTokenVerifier, type TokenFailure } from './verify-token.ts'

/** Longest lifetime that a backend's token may have left, in seconds. */
export const backendTokenSecondsMax = 3600

/** What a backend's token allows: reading, or posting entries and issuing further addresses. */
export type Scope = 'ledger:read' | 'ledger:post'

/** The backend of a request, and the words of its token's `scope`. */
export interface Backend {
  readonly name: BackendName
  readonly scopes: readonly string[]
}

/** The backend of a request. */
export type AuthenticateBackend = (request: Request) => Promise<Result<Backend, TokenFailure>>

/** Authenticates requests of backends by their bearer token. */
export function createBackendAuthenticator(keys: AuthKeys, parts: KeySetParts): AuthenticateBackend {
  const verify = createTokenVerifier({ keys, issuer: null, audience: null }, parts)
  return async (request) => {
    const token = readBearer(request.headers.get('authorization'))
    if (verify === null || token === null) return err('unauthorized')
    const claims = await verify(token)
    if (!claims.ok) return claims
    const { sub, exp = Number.POSITIVE_INFINITY, scope = '' } = claims.value
    const name = parseBackendName(sub)
    const isShortLived = exp - parts.clock.now() / 1000 <= backendTokenSecondsMax
    if (name === null || !isShortLived || typeof scope !== 'string') return err('unauthorized')
    return ok({ name, scopes: scope.split(' ') })
  }
}
