import type { Logger } from './logger.ts'

/** The rate limiters of the platform; wrangler.toml has their limits. Null without a binding: no limit. */
export interface RateLimits {
  /** For what reads: lists, the current address. */
  readonly lists: RateLimit | null
  /** For what queries nodes: balance, recharge, a further address. */
  readonly nodes: RateLimit | null
  /** For the same, of all callers together. */
  readonly allNodes: RateLimit | null
  /** For what backends ask, of one backend. */
  readonly ledger: RateLimit | null
}

/** The key of the count that all callers share. */
export const allCallers = 'all'

/**
 * Whether the limiter of this name allows one more of `key`, which it then counts. A limiter that is missing or fails allows
 * everything: no promise of the service depends on it.
 */
export async function isWithin(
  limiters: RateLimits,
  name: keyof RateLimits,
  key: string,
  logger: Logger,
): Promise<boolean> {
  const limiter = limiters[name]
  if (limiter === null) return true
  try {
    return (await limiter.limit({ key })).success
  } catch {
    logger.warn('rate-limit-failed', { name })
    return true
  }
}
