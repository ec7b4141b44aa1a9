import { settled } from './event-loop.ts'

/** Virtual time: events run in the order of their times, and time passes only from one event to the next. */
export interface Scheduler {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs `event` after `ms` milliseconds, rounded up to a whole number as a real clock does. */
  after(ms: number, event: () => void): void
  /** Resolves after `ms` milliseconds. */
  wait(ms: number): Promise<void>
  /** Runs events until `done`, or until none is left. All effects of an event are complete before the next one. */
  runUntil(done: () => boolean): Promise<void>
}

interface Entry {
  readonly time: number
  readonly order: number
  readonly event: () => void
}

/** A scheduler whose time begins at `start`. Of two events at one time, the one that was added first runs first. */
export function createScheduler(start: number): Scheduler {
  const heap: Entry[] = []
  let now = start
  let added = 0
  const after = (ms: number, event: () => void) => {
    added += 1
    push(heap, { time: now + Math.max(0, Math.ceil(ms)), order: added, event })
  }
  return {
    now: () => now,
    after,
    wait: (ms) => new Promise((resolve) => after(ms, resolve)),
    async runUntil(done) {
      await settled()
      while (!done()) {
        const entry = pop(heap)
        if (entry === undefined) return
        now = entry.time
        entry.event()
        await settled()
      }
    },
  }
}

const isBefore = (a: Entry, b: Entry) => a.time < b.time || (a.time === b.time && a.order < b.order)

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent]
    if (above === undefined || isBefore(above, entry)) break
    heap[at] = above
    at = parent
  }
  heap[at] = entry
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = at * 2 + 1
    let below = heap[child]
    if (below === undefined) break
    const right = heap[child + 1]
    if (right !== undefined && isBefore(right, below)) {
      below = right
      child += 1
    }
    if (isBefore(last, below)) break
    heap[at] = below
    at = child
  }
  heap[at] = last
  return first
}
