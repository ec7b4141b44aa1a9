/** Work that needs one of a few places, in the order of the calls. */
export interface Slots {
  /** Runs `work` as soon as a place is free. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** So many places. */
export function createSlots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  return {
    async run(work) {
      if (free > 0) free -= 1
      else await new Promise<void>((start) => waiting.push(start))
      try {
        return await work()
      } finally {
        const startNext = waiting.shift()
        if (startNext === undefined) free += 1
        else startNext() // it takes over this place
      }
    },
  }
}
