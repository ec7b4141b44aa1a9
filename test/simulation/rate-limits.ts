import type { Scheduler } from './scheduler.ts'

/** The rate limiters of wrangler.toml: so many calls with one key in a minute of virtual time. */
export function createRateLimits({ now }: Scheduler) {
  return {
    RATE_LISTS: createLimiter(now, 600),
    RATE_NODES: createLimiter(now, 20),
    RATE_NODES_ALL: createLimiter(now, 300),
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
