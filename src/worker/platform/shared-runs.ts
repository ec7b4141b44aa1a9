import type { Clock } from './clock.ts'

/** A run of work. Callers that ask for it while it is in progress wait for its result. */
export interface SharedRun<T> {
  readonly startedAt: number
  readonly result: Promise<T>
}

/** How long runs count, in milliseconds. */
export interface SharedRunLimits<T> {
  /** A run that has not ended after this time counts as lost: the next call begins another one. Absent: no run counts as lost. */
  readonly lostMs?: number
  /** A kept result is returned for this long from the start of its run. Absent: no result is kept. */
  readonly keptMs?: number
  readonly isKept?: (result: T) => boolean
}

/** Known runs, by key. */
export interface SharedRuns<T> {
  /** The run of this key that is in progress or kept, or null. */
  known(key?: string): SharedRun<T> | null
  /** Joins that run, or begins a new run of `work`. */
  join(work: () => Promise<T>, key?: string): SharedRun<T>
}

/** Most known runs. With more, all are forgotten. */
export const knownMax = 1_000

/** Makes shared runs: one at a time for each key, whoever asks. The memory may be lost at any time. */
export function createSharedRuns<T>(
  clock: Pick<Clock, 'now'>,
  { lostMs = Number.POSITIVE_INFINITY, keptMs = 0, isKept = () => keptMs > 0 }: SharedRunLimits<T> = {},
): SharedRuns<T> {
  const runs = new Map<string, SharedRun<T>>()
  const answersMs = keptMs > 0 ? keptMs : lostMs
  const known = (key = '') => {
    const run = runs.get(key)
    return run !== undefined && clock.now() - run.startedAt < answersMs ? run : null
  }
  return {
    known,
    join(work, key = '') {
      const before = known(key)
      if (before !== null) return before
      if (runs.size >= knownMax) runs.clear()
      const run = { startedAt: clock.now(), result: work() }
      runs.set(key, run)
      const forget = () => {
        if (runs.get(key) === run) runs.delete(key)
      }
      run.result.then((result) => (isKept(result) ? undefined : forget()), forget)
      return run
    },
  }
}
