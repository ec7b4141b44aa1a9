import type { UnixMs } from '../../src/common/time.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Fetch } from '../../src/tron/transport.ts'

/** Time that passes only in `settle`, while all running work waits for it. */
export interface VirtualTime {
  readonly clock: Clock
  advance(ms: number): void
  /** The clock steps back. What sleeps wakes after the time that it has left. */
  stepBack(ms: number): void
  /** Timers that run. */
  timers(): number
  /** A `fetch` whose requests keep time from passing until their bodies are read. A request that hangs does not. */
  watch(fetch: Fetch): Fetch
  /** Waits for a result, and lets time pass where nothing else can continue. */
  settle<T>(result: Promise<T>): Promise<T>
}

interface State {
  now: number
  /** Requests that end without time passing. */
  running: number
  randomState: number
  readonly sleepers: { at: number; wake: () => void }[]
}

export function createVirtualTime(): VirtualTime {
  const state: State = { now: 1_800_000_000_000, running: 0, randomState: 0, sleepers: [] }
  const clock: Clock = {
    now: () => state.now as UnixMs, // milliseconds since 1970
    sleep: (ms, until) =>
      new Promise((wake) => {
        const sleeper = { at: state.now + ms, wake }
        state.sleepers.push(sleeper)
        until?.addEventListener('abort', () => {
          const place = state.sleepers.indexOf(sleeper)
          if (place !== -1) state.sleepers.splice(place, 1)
          wake()
        })
      }),
    random: () => {
      state.randomState = (state.randomState + 0.37) % 1
      return state.randomState
    },
  }
  return {
    clock,
    advance: (ms) => moveTo(state, state.now + ms),
    stepBack(ms) {
      state.now -= ms
      for (const sleeper of state.sleepers) sleeper.at -= ms
    },
    timers: () => state.sleepers.length,
    watch: (fetch) => (url, init) => watched(state, fetch(url, init)),
    settle: (result) => settle(state, result),
  }
}

function moveTo(state: State, time: number): void {
  state.now = Math.max(state.now, time)
  state.sleepers.sort((a, b) => a.at - b.at)
  while (state.sleepers[0] !== undefined && state.sleepers[0].at <= state.now) state.sleepers.shift()?.wake()
}

async function watched(state: State, request: Promise<Response>): Promise<Response> {
  state.running += 1
  const ended = request.then(
    () => true,
    () => true,
  )
  const hangs = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 0))
  const response = (await Promise.race([ended, hangs])) ? await request.catch(() => null) : null
  if (response === null || response.body === null) {
    state.running -= 1
    return request
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      state.running -= 1
      controller.close()
    },
    async cancel() {
      state.running -= 1
      await reader.cancel()
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

async function settle<T>(state: State, result: Promise<T>): Promise<T> {
  let isDone = false
  const end = () => {
    isDone = true
  }
  result.then(end, end)
  let idleTurns = 0
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 0))
    idleTurns = state.running > 0 ? 0 : idleTurns + 1
    if (isDone || idleTurns < 3) continue
    idleTurns = 0
    const next = Math.min(...state.sleepers.map(({ at }) => at))
    if (Number.isFinite(next)) moveTo(state, next)
  }
  return result
}
