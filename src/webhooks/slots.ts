import { createSignal } from './signal.ts'

/** Work that needs one of a few places, in the order of the calls. */
export interface Slots {
  /** Runs `work` as soon as a place is free. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Whether other work waits for a place. */
  readonly isWanted: () => boolean
  /** Resolves as soon as other work waits for a place. */
  readonly wanted: () => Promise<void>
}

/** So many places. */
export function createSlots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  const arrivals = createSignal()
  const isWanted = () => waiting.length > 0
  return {
    async run(work) {
      if (free > 0) free -= 1
      else {
        await new Promise<void>((start) => {
          waiting.push(start)
          arrivals.notify()
        })
      }
      try {
        return await work()
      } finally {
        const startNext = waiting.shift()
        if (startNext === undefined) free += 1
        else startNext() // it takes over this place
      }
    },
    isWanted,
    async wanted() {
      while (!isWanted()) await arrivals.next()
    },
  }
}
