import type { MiddlewareHandler } from 'hono'
import type { Authenticate } from '../auth/authenticate.ts'
import type { Env } from '../context.ts'
import { failure } from '../envelope.ts'
import { toAuthProblem } from '../errors.ts'

/** Refuses a request that is not authenticated, and sets the caller of any other. */
export function auth(authenticate: Authenticate): MiddlewareHandler<Env> {
  return async (c, next) => {
    const caller = await authenticate(c.req.raw)
    if (!caller.ok) return failure(toAuthProblem(caller.error))
    c.set('uid', caller.value)
    return next()
  }
}
