import type { Fetch } from '../../src/worker/tron/transport.ts'

/** Requests during which no virtual time passes: from their beginning until their bodies are read. One that hangs is not such a request. */
export interface WatchedRequests {
  watch(fetch: Fetch): Fetch
  /** Resolves when no such request is under way and nothing else continues by itself, or `done`. */
  settled(done: () => boolean): Promise<void>
}

/** Turns of the event loop in which nothing of a request happens: then nothing else continues. */
const idleTurns = 3

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
