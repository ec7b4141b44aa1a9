import type { MiddlewareHandler } from 'hono'
import type { RateLimits } from '../../config/config.ts'
import type { Uid } from '../../ledger/entry.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Env, RateClass } from '../context.ts'
import { failure } from '../envelope.ts'
import { tooManyRequests } from '../errors.ts'

/**
 * Makes the rate limit of a route: each caller has a count of its own in each class. A limiter that is missing or fails
 * lets every request pass: no promise of the service depends on it.
 */
export function createRateLimit(
  limits: RateLimits,
  logger: Logger,
): (rateClass: (url: string) => RateClass) => MiddlewareHandler<Env> {
  for (const [name, limiter] of Object.entries(limits)) {
    if (limiter === null) logger.warn('no-rate-limit', { name })
  }
  return (rateClass) => async (c, next) =>
    (await isWithin(limits, rateClass(c.req.url), c.get('uid'), logger)) ? next() : failure(tooManyRequests)
}

async function isWithin(limits: RateLimits, name: RateClass, uid: Uid, logger: Logger): Promise<boolean> {
  const limiter = limits[name]
  if (limiter === null) return true
  try {
    return (await limiter.limit({ key: String(uid) })).success
  } catch {
    logger.warn('rate-limit-failed', { name })
    return true
  }
}
