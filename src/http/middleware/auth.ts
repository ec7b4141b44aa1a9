import type { MiddlewareHandler } from 'hono'
import type { Authenticate, AuthenticateBackend, Scope } from '../auth/authenticate.ts'
import type { Env } from '../context.ts'
import { failure } from '../envelope.ts'
import { missingScope, toAuthProblem } from '../errors.ts'

/** Refuses a request that is not authenticated, and sets the caller of any other. */
export function auth(authenticate: Authenticate): MiddlewareHandler<Env> {
  return async (c, next) => {
    const caller = await authenticate(c.req.raw)
    if (!caller.ok) return failure(toAuthProblem(caller.error))
    c.set('uid', caller.value)
    return next()
  }
}

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
