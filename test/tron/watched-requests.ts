import type { Fetch } from '../../src/worker/tron/transport.ts'

/**
 * Watches requests, so that virtual time waits until their bodies are read. A request without a
 * response after a turn of the event loop is not waited for.
 */
export interface WatchedRequests {
  watch(fetch: Fetch): Fetch
  /**
   * Resolves when no watched request is running and no other work can go on before time passes, or
   * when `done()` is true.
   */
  settled(done: () => boolean): Promise<void>
}

/**
 * After this many turns of the event loop without a running request, all other work waits for
 * virtual time.
 */
const idleTurns = 3

/** Starts watching. Only requests by the `fetch` that `watch` returns are watched. */
export function watchRequests(): WatchedRequests {
  const state = { running: 0 }
  return {
    watch: (fetch) => (url, init) => watched(state, fetch(url, init)),
    async settled(done) {
      for (let idle = 0; idle < idleTurns && !done(); idle = state.running > 0 ? 0 : idle + 1) {
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
    },
  }
}

async function watched(state: { running: number }, request: Promise<Response>): Promise<Response> {
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
