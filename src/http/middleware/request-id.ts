import type { MiddlewareHandler } from 'hono'
import type { Env } from '../context.ts'

/** The form in which the id of a caller is accepted: it appears in a header and in log lines. */
const plainId = /^[\w.-]{1,64}$/

/** Gives each request an id: the caller's own or a new one. Decision note 15: why not by Hono's own `requestId`. */
export function requestId(uniqueName: () => string): MiddlewareHandler<Env> {
  return async (c, next) => {
    const own = c.req.header('x-request-id')
    const id = own !== undefined && plainId.test(own) ? own : uniqueName()
    c.set('requestId', id)
    await next()
    c.res.headers.set('x-request-id', id)
  }
}
