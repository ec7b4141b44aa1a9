import type { MiddlewareHandler } from 'hono'
import type { RateLimits } from '../../config/config.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Env, RateClass } from '../context.ts'
import { failure } from '../envelope.ts'
import { tooManyRequests } from '../errors.ts'

/**
 * Makes the rate limit of a route: each caller has a count of its own in each class. A limiter that is missing or fails
 * allows every request: no promise of the service depends on it.
 */
export function createRateLimit(
  limiters: RateLimits,
  logger: Logger,
): (rateClass: (url: string) => RateClass) => MiddlewareHandler<Env> {
  for (const name of ['lists', 'nodes'] as const) warnOfMissing(limiters, name, logger)
  return (rateClass) => async (c, next) =>
    (await isWithin(limiters, rateClass(c.req.url), String(c.get('uid')), logger)) ? next() : failure(tooManyRequests)
}

/** Makes the rate limit of the routes for backends: each backend has a count of its own. */
export function createBackendRateLimit(limiters: RateLimits, logger: Logger): MiddlewareHandler<Env> {
  warnOfMissing(limiters, 'ledger', logger)
  return async (c, next) =>
    (await isWithin(limiters, 'ledger', c.get('backend'), logger)) ? next() : failure(tooManyRequests)
}

function warnOfMissing(limiters: RateLimits, name: keyof RateLimits, logger: Logger): void {
  if (limiters[name] === null) logger.warn('no-rate-limit', { name })
}

/** Whether the limiter of this name allows one more request of `key`, which it then counts. */
async function isWithin(limiters: RateLimits, name: keyof RateLimits, key: string, logger: Logger): Promise<boolean> {
  const limiter = limiters[name]
  if (limiter === null) return true
  try {
    return (await limiter.limit({ key })).success
  } catch {
    logger.warn('rate-limit-failed', { name })
    return true
  }
}
