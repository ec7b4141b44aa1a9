/** Virtual time: things happen in the order of their times, and time passes only from one to the next. */
export interface Scheduler {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs `event` in `ms` milliseconds, whole ones: as a real clock, this one knows no others. */
  after(ms: number, event: () => void): void
  /** Resolves in `ms` milliseconds. */
  wait(ms: number): Promise<void>
  /** Lets time pass until `done`, or until nothing is left to happen. What one event sets off is over before the next. */
  runUntil(done: () => boolean): Promise<void>
}

interface Entry {
  readonly time: number
  readonly order: number
  readonly event: () => void
}

/** A scheduler that starts at `start`. Of two events at one time the one that was entered first happens first. */
export function createScheduler(start: number): Scheduler {
  const heap: Entry[] = []
  let now = start
  let entered = 0
  const after = (ms: number, event: () => void) => {
    entered += 1
    push(heap, { time: now + Math.max(0, Math.ceil(ms)), order: entered, event })
  }
  return {
    now: () => now,
    after,
    wait: (ms) => new Promise((resolve) => after(ms, resolve)),
    async runUntil(done) {
      await everythingElse()
      while (!done()) {
        const entry = pop(heap)
        if (entry === undefined) return
        now = entry.time
        entry.event()
        await everythingElse()
      }
    },
  }
}

/**
 * Node takes up the next tick when all promises that can settle by themselves have settled: the same as a turn of the
 * event loop for code that waits for nothing real, in a tenth of the time.
 */
const everythingElse = () => new Promise<void>((resolve) => process.nextTick(resolve))

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
