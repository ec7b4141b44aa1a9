import type { MiddlewareHandler } from 'hono'
import { type Logger, stackOf } from '../../platform/logger.ts'
import { type Env, routeName } from '../context.ts'
import { failure } from '../envelope.ts'
import { crashed } from '../errors.ts'

/** A crash is a bare 500. Its text is in the log only. */
export function errors(logger: Logger): MiddlewareHandler<Env> {
  return async (c, next) => {
    try {
      await next()
    } catch (thrown) {
      logger.error('request-crashed', { requestId: c.get('requestId'), route: routeName(c), text: stackOf(thrown) })
      c.res = failure(crashed)
    }
  }
}
