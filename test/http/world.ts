import type { Platform } from '../../src/worker/compose.ts'
import { sendAgainMs } from '../../src/worker/payouts/send.ts'
import { systemClock } from '../../src/worker/platform/clock.ts'
import { createLogger } from '../../src/worker/platform/logger.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

/** The response of what is at a URL. */
type Reach = (url: string, init: RequestInit) => Promise<Response>

/** What is outside of the service: the nodes, the endpoints, the time and the log. */
export type World = ReturnType<typeof createWorld>

/** A longer pause limits something else that runs. A request waits so long where its node has no room in a second. */
const pauseMsMax = 1_000
/** How long a new instance leaves the allowance of the present second to the one before (`tron/allowance.ts`). */
const restartMs = 2_000

/**
 * A world whose nodes are reached by `reach`, and whose log goes to `lines`. Time passes in pauses of the service, which take
 * none of the machine's, and where a test sets it. It begins at `start`, in seconds since 1970.
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
        const isPause = ms <= pauseMsMax || ms === sendAgainMs[0] // a longer one limits something else that runs
        const end = time.now() + ms
        await systemClock.sleep(isPause ? 0 : ms, until)
        if (isPause) time.jump(Math.max(end - time.now(), 0))
      },
    },
    logger: createLogger((line) => lines.push(line)),
    fetch: async (input, init = {}) => {
      const url = String(input)
      if (!url.startsWith('https://hooks.example/')) return reach(url, init as RequestInit) // as the service calls it
      hooks.push({ url, body: String(init.body) })
      await hookResponses
      return new Response(null, hookAnswer)
    },
    uniqueName: () => `name-${++names}`,
    waitUntil: (work) => {
      running.add(work)
      work.finally(() => running.delete(work)).catch(() => undefined) // its own handler has it
    },
  }
  return {
    platform,
    clock: {
      /** Since 1970. */
      get seconds() {
        return time.now() / 1000
      },
      set seconds(seconds) {
        time.jump(Math.round(seconds * 1000) - time.now())
      },
    },
    hooks,
    hookAnswer,
    /** A new instance of the scanner waits so long after the one before. Time advances by it, and no test waits. */
    passRestart: () => time.jump(restartMs),
    /** Returns when nothing runs that the service began without waiting for it. */
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
