import type { Clock } from './clock.ts'

/** A run of work that all wait for who ask while it runs. */
export interface SharedRun<T> {
  readonly startedAt: number
  readonly result: Promise<T>
}

/** How long a run counts, in milliseconds. */
export interface SharedRunLimits<T> {
  /** After this a run that has not ended counts as lost: the next call begins another one. Without it none does. */
  readonly lostMs?: number
  /** Results that are kept answer for so long from the start of their run. Without it none is kept. */
  readonly keptMs?: number
  readonly isKept?: (result: T) => boolean
}

/** Runs that are known, each by its key. */
export interface SharedRuns<T> {
  /** The run of this key that goes on or is kept, or null. */
  known(key?: string): SharedRun<T> | null
  /** That run, or else a new one of this work. */
  join(work: () => Promise<T>, key?: string): SharedRun<T>
}

/** Runs that are known at a time. With more of them what is known is forgotten. */
export const knownMax = 1_000

/** One run at a time of each key, for all who ask. What it remembers can be lost at any time. */
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
