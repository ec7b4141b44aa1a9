import { setTimeout } from 'node:timers/promises'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/**
 * The time and the network of commands that run in this process. Time passes only while all of them
 * wait for it.
 */
export interface CommandTime {
  readonly clock: VirtualClock
  /**
   * The network of this machine. While a request runs, no time passes, however long its answer
   * really takes.
   */
  readonly fetch: typeof fetch
  /**
   * Wraps `network`: while a request runs, no time passes. Time does pass while a request hangs,
   * which gets no answer until its signal ends it.
   */
  around(network: typeof fetch, isHanging?: (url: string) => boolean): typeof fetch
  /** Lets no time pass while this work runs. */
  real<T>(work: Promise<T>): Promise<T>
  /** Lets time pass until this work is over. */
  run<T>(work: Promise<T>): Promise<T>
}

/**
 * After this many turns of the event loop without a request, what a command computes in other
 * threads (a signature) is over.
 */
const quietTurns = 3

/** Makes the time of commands. It begins at `start`, in milliseconds since 1970. */
export function createCommandTime(start = Date.now()): CommandTime {
  let running = 0
  let works = 0
  let isDriven = false
  const real = async <T>(work: Promise<T>): Promise<T> => {
    running += 1
    try {
      return await work
    } finally {
      running -= 1
    }
  }
  const settled = async (done: () => boolean) => {
    for (let quiet = 0; quiet < quietTurns && !done(); ) {
      await setTimeout(0)
      quiet = running === 0 ? quiet + 1 : 0
    }
  }
  const clock = createVirtualClock(start, { settled })
  /**
   * Only one loop lets time pass, for all works together: a second one would not wait for what the
   * first one has begun.
   */
  const drive = async () => {
    isDriven = true
    while (works > 0) await clock.runUntil(() => works === 0)
    isDriven = false
  }
  const around: CommandTime['around'] =
    (network, isHanging = () => false) =>
    (url, init) =>
      isHanging(String(url)) ? untilEnded(init?.signal) : real(network(url, init).then(withBody))
  return {
    clock,
    fetch: around(fetch),
    around,
    real,
    async run(work) {
      works += 1
      if (!isDriven) void drive()
      try {
        return await work
      } finally {
        works -= 1
      }
    },
  }
}

/** Waits for the body of a response, which comes later than its head. */
async function withBody(response: Response): Promise<Response> {
  const { status, headers } = response
  return new Response(await response.arrayBuffer(), { status, headers })
}

/** A request without an answer: rejects when the signal ends it. */
function untilEnded(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('the request was ended')))
  })
}
