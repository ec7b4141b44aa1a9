/** Counts notifications. Also a reader that asks late misses none. */
export interface Signal {
  readonly notify: () => void
  /** There is no further notification. */
  readonly close: () => void
  /** Resolves with the count of notifications as soon as it is more than `seen`, or with null where it remains `seen`. */
  readonly next: (seen: number) => Promise<number | null>
}

/** A signal that is not closed. */
export function createSignal(): Signal {
  let count = 0
  let isClosed = false
  let waiting: (() => void)[] = []
  const wake = () => {
    for (const start of waiting) start()
    waiting = []
  }
  return {
    notify: () => {
      count += 1
      wake()
    },
    close: () => {
      isClosed = true
      wake()
    },
    async next(seen) {
      if (count <= seen && !isClosed) await new Promise<void>((start) => waiting.push(start))
      return count > seen ? count : null
    },
  }
}
