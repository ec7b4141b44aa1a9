import type { Platform } from '../../src/worker/compose.ts'
import { systemClock } from '../../src/worker/platform/clock.ts'
import { createLogger } from '../../src/worker/platform/logger.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

type Reach = (url: string, init: RequestInit) => Promise<Response>

/** Everything outside of the service: nodes, endpoints, clock and log. */
export type World = ReturnType<typeof createWorld>

/**
 * Pauses of the service up to this length take no real time. A request waits at most this long for
 * its node's next second. Longer pauses that can be ended are time limits on other work, and take
 * real time.
 */
const pauseMsMax = 1_000
/**
 * How long a new scanner leaves the allowance of the current second to the scanner before it
 * (`tron/allowance.ts`).
 */
const restartMs = 2_000

/**
 * A world whose nodes are reached by `reach`, and whose log goes to `lines`. Its clock begins at
 * `start`, in seconds since 1970. It moves when the service pauses, without real time passing, and
 * when a test sets it.
 */
export function createWorld(reach: Reach, lines: string[], start: number) {
  const time = createVirtualClock(start * 1000)
  const hooks: { readonly url: string; readonly body: string }[] = []
  const hookAnswer = { status: 204 }
  const running = new Set<Promise<unknown>>()
  let hookResponses = Promise.resolve()
  let names = 0
  const platform: Platform = {
    clock: {
      ...time,
      async sleep(ms, until) {
        const isPause = ms <= pauseMsMax || until === undefined
        const end = time.now() + ms
        await systemClock.sleep(isPause ? 0 : ms, until)
        if (isPause) time.jump(Math.max(end - time.now(), 0))
      },
    },
    logger: createLogger((line) => lines.push(line)),
    fetch: async (input, init = {}) => {
      const url = String(input)
      // safe: the service sends plain requests
      if (!url.startsWith('https://hooks.example/')) return reach(url, init as RequestInit)
      hooks.push({ url, body: String(init.body) })
      await hookResponses
      return new Response(null, hookAnswer)
    },
    uniqueName: () => `name-${++names}`,
    waitUntil: (work) => {
      running.add(work)
      work.finally(() => running.delete(work)).catch(() => undefined) // whoever began the work handles its error
    },
  }
  return {
    platform,
    clock: {
      /** Seconds since 1970. */
      get seconds() {
        return time.now() / 1000
      },
      set seconds(seconds) {
        time.jump(Math.round(seconds * 1000) - time.now())
      },
    },
    hooks,
    hookAnswer,
    /**
     * Moves the clock by the time that a new scanner instance waits for the instance before it, so
     * that no test waits.
     */
    passRestart: () => time.jump(restartMs),
    /** Waits for all work that the service does in the background. */
    async settled() {
      while (running.size > 0) await Promise.allSettled(running)
    },
    hangHooks() {
      const { promise, resolve } = Promise.withResolvers<void>()
      hookResponses = promise
      return resolve
    },
  }
}
