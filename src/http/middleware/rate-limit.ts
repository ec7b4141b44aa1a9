import type { MiddlewareHandler } from 'hono'
import type { Uid } from '../../common/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { allCallers, isWithin, type RateLimits } from '../../platform/rate-limits.ts'
import type { Env, RateClass } from '../context.ts'
import { failure } from '../envelope.ts'
import { tooManyRequests } from '../errors.ts'

/**
 * Makes the rate limit of a route: each caller has a count of its own in each class, and all callers have one together
 * for what queries nodes. A limiter that is missing or fails allows every request: no promise of the service depends on it.
 */
export function createRateLimit(
  limiters: RateLimits,
  logger: Logger,
): (rateClass: (url: string) => RateClass) => MiddlewareHandler<Env> {
  for (const name of ['lists', 'nodes', 'allNodes'] as const) warnOfMissing(limiters, name, logger)
  return (rateClass) => async (c, next) =>
    (await isAllowed(limiters, rateClass(c.req.url), c.get('uid'), logger)) ? next() : failure(tooManyRequests)
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

/** The caller's own count is first: a caller who is over it uses up nothing of the others' common count. */
async function isAllowed(limiters: RateLimits, name: RateClass, uid: Uid, logger: Logger): Promise<boolean> {
  if (!(await isWithin(limiters, name, String(uid), logger))) return false
  return name !== 'nodes' || isWithin(limiters, 'allNodes', allCallers, logger)
}
