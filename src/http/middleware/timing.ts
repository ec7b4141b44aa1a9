import type { MiddlewareHandler } from 'hono'
import type { Clock } from '../../platform/clock.ts'
import type { LogFields, Logger } from '../../platform/logger.ts'
import { createUsage, type Usage } from '../../platform/usage.ts'
import { type Env, routeName } from '../context.ts'

/**
 * Measures each request, for the caller in `Server-Timing` and for the operator in one log line. Nothing in the line is
 * text from a caller, except a request id of plain characters. Decision note 15: why not by Hono's own `timing`.
 */
export function timing(clock: Pick<Clock, 'now'>, logger: Logger): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedAt = clock.now()
    const usage = createUsage()
    c.set('invocation', { usage, bookmark: null, bookmarkAfter: null })
    await next()
    const durationMs = clock.now() - startedAt
    const { headers, status } = c.res
    headers.set('server-timing', `total;dur=${durationMs}, db;dur=${usage.database.ms}`)
    const request = { requestId: c.get('requestId'), route: routeName(c), method: c.req.method }
    logger.info('request', { ...request, status, durationMs, ...costFields(usage) })
  }
}

/** The cost of a request in its log line. Only the scanner talks to nodes. */
export function costFields({ database, rowsRead }: Usage): LogFields {
  return { databaseQueries: database.calls, databaseMs: database.ms, rowsRead }
}
