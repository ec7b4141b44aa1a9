import type { Environment } from './environment.ts'

/**
 * The rate limiters of wrangler.toml. Each number is how many calls with the same key a minute of
 * virtual time allows.
 */
export function createRateLimits(env: Environment): Readonly<Record<string, RateLimit>> {
  const { now } = env.scheduler
  return {
    RATE_LISTS: createLimiter(now, 600),
    RATE_NODES: createLimiter(now, 20),
    RATE_LEDGER: createLimiter(now, 6_000),
  }
}

function createLimiter(now: () => number, max: number): RateLimit {
  const used = new Map<string, number>()
  let minute = 0
  return {
    limit({ key }) {
      const current = Math.floor(now() / 60_000)
      if (current !== minute) used.clear()
      minute = current
      const count = (used.get(key) ?? 0) + 1
      used.set(key, count)
      return Promise.resolve({ success: count <= max })
    },
  }
}
