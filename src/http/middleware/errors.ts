import type { MiddlewareHandler } from 'hono'
import type { Logger } from '../../platform/logger.ts'
import { type Env, routeName } from '../context.ts'
import { failure } from '../envelope.ts'
import { crashed } from '../errors.ts'

/** Longest stack in a log line, in characters. */
export const stackCharsMax = 2000

/** A crash is a bare 500. Its text is in the log only. */
export function errors(logger: Logger): MiddlewareHandler<Env> {
  return async (c, next) => {
    try {
      await next()
    } catch (thrown) {
      const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
      const fields = { requestId: c.get('requestId'), route: routeName(c), text: text.slice(0, stackCharsMax) }
      logger.error('request-crashed', fields)
      c.res = failure(crashed)
    }
  }
}
