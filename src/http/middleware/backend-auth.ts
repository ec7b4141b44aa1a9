import type { MiddlewareHandler } from 'hono'
import type { AuthenticateBackend, Scope } from '../auth/authenticate-backend.ts'
import type { Env } from '../context.ts'
import { failure } from '../envelope.ts'
import { missingScope, toAuthProblem } from '../errors.ts'

/** Refuses a request without a backend's token or without the scope that it needs, and sets the backend of any other. */
export function backendAuth(
  authenticate: AuthenticateBackend,
): (scope: (url: string) => Scope) => MiddlewareHandler<Env> {
  return (scope) => async (c, next) => {
    const backend = await authenticate(c.req.raw)
    if (!backend.ok) return failure(toAuthProblem(backend.error))
    const needed = scope(c.req.url)
    if (!backend.value.scopes.includes(needed)) return failure(missingScope(needed))
    c.set('backend', backend.value.name)
    return next()
  }
}
