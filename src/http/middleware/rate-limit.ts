import type { RateLimits } from '../../config/config.ts'
import type { Uid } from '../../ledger/entry.ts'
import type { Logger } from '../../platform/logger.ts'

/** Which of a caller's two limits: `lists` is generous, `strict` is for what costs most. */
export type RateClass = keyof RateLimits

/** Whether a caller may be answered now. Asked after the token is checked and before the database is. */
export type RateLimiter = (uid: Uid, rateClass: RateClass) => Promise<boolean>

/** Each caller has its own count. A limiter that is missing, or fails, lets everyone in: it is no part of safety. */
export function createRateLimiter(limits: RateLimits, log: Logger): RateLimiter {
  for (const [name, limiter] of Object.entries(limits)) {
    if (limiter === null) log.warn('no-rate-limit', { name })
  }
  return async (uid, rateClass) => {
    const limiter = limits[rateClass]
    if (limiter === null) return true
    try {
      return (await limiter.limit({ key: String(uid) })).success
    } catch {
      log.warn('rate-limit-failed', { name: rateClass })
      return true
    }
  }
}
