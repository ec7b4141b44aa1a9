import type { Refusal } from './api.ts'

/**
 * Longest pause after a failure for which the service has not said how long to wait, in
 * milliseconds.
 */
const backOffMaxMs = 30_000
const backOffMs = 2_000

/** A request to be repeated by a poller. */
export interface Polled {
  /**
   * Sends the request. Returns null if the answer is good, and otherwise why the service refused.
   * `signal` ends a request that the service holds: when another one is wanted, and while the page
   * is hidden. Such a request counts as answered well.
   */
  ask(signal: AbortSignal): Promise<Refusal | null>
  /** The pause after a good answer, in milliseconds. */
  paceMs(): number
  /**
   * Shows the result of a request. Called after the poller has set the time of the next one
   * (`nextAt`).
   */
  show(refusal: Refusal | null): void
}

/** Repeats a request while the page is visible. */
export interface Poller {
  /** Sends the request now, unless the service has asked for a longer pause. */
  now(): void
  /**
   * The time of the next request, by `performance.now()`; null before the first request, during
   * one, and after the session has ended (401).
   */
  nextAt(): number | null
}

/**
 * Makes a poller. After a failure it pauses as long as the service has asked for. If the service
 * has not said it, the pause doubles with each failure. The poller sends nothing while the page is
 * hidden, nor after the session has ended (401), until `now` is called.
 */
export function createPoller({ ask, paceMs, show }: Polled): Poller {
  let timer: ReturnType<typeof setTimeout> | undefined
  let nextAt: number | null = null
  let unwantedUntil = 0
  let failures = 0
  let isAsking = false
  let isWanted = false
  let asking = new AbortController()
  const plan = (at: number) => {
    clearTimeout(timer)
    nextAt = at
    timer = setTimeout(() => void run(), at - performance.now())
  }
  const run = async () => {
    isWanted = isAsking
    if (isAsking) asking.abort()
    if (isAsking || document.hidden) return
    clearTimeout(timer)
    nextAt = null
    isAsking = true
    asking = new AbortController()
    const refusal = await ask(asking.signal)
    isAsking = false
    failures = refusal === null ? 0 : failures + 1
    const retrySeconds = refusal?.retrySeconds ?? 0
    unwantedUntil = performance.now() + 1_000 * retrySeconds
    if (isWanted && retrySeconds === 0) return void run()
    const backOff = Math.min(backOffMaxMs, backOffMs * 2 ** Math.min(failures, 10))
    if (refusal === null) plan(performance.now() + paceMs())
    else if (refusal.kind !== 'unauthorized')
      plan(Math.max(unwantedUntil, performance.now() + backOff * (retrySeconds === 0 ? 1 : 0)))
    show(refusal)
  }
  const now = () => {
    if (performance.now() >= unwantedUntil) void run()
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      clearTimeout(timer)
      asking.abort()
    } else if (nextAt !== null) plan(nextAt)
    else now()
  })
  window.addEventListener('online', now)
  return { now, nextAt: () => nextAt }
}
