import type { Environment } from './environment.ts'

/** The rate limiters of wrangler.toml: so many calls with one key in a minute of virtual time. */
export function createRateLimits(env: Environment): Readonly<Record<string, RateLimit>> {
  const { now } = env.scheduler
  return {
    RATE_LISTS: createLimiter(now, 600),
    RATE_NODES: createLimiter(now, 20),
    RATE_NODES_ALL: noting(env, createLimiter(now, 120)),
    RATE_LEDGER: createLimiter(now, 6_000),
  }
}

/** Remembers when the limiter last refused something: what callers ask then may be refused. */
function noting(env: Environment, limiter: RateLimit): RateLimit {
  return {
    async limit(options) {
      const outcome = await limiter.limit(options)
      if (!outcome.success) {
        env.count('limit of all callers used up')
        env.callersRefusedAt = env.scheduler.now()
      }
      return outcome
    },
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
