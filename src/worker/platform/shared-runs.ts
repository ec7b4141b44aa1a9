import { type Clock, endsWithin } from './clock.ts'

/** One run of some work, for whose result several callers may wait. */
export interface SharedRun<T> {
  readonly startedAt: number
  readonly result: Promise<T>
}

/** How long a run is shared after its start. Times are in milliseconds. */
export interface SharedRunLimits<T> {
  /** A run that has not ended this long after its start counts as lost: the next call begins another one. */
  readonly lostMs: number
  /** For this long after its start, a run is shared also once it has ended. Absent: a run is shared only while it is in progress. */
  readonly keptMs?: number
  /** Whether a run with this result is shared after it has ended; absent: every one, if `keptMs` is set. A failed run is never shared. */
  readonly isKept?: (result: T) => boolean
}

/** Runs by key. Runs of different keys do not wait for each other. */
export interface SharedRuns<T> {
  /** The run of this key that is in progress, or kept after its end; null if there is none. */
  known(key?: string): SharedRun<T> | null
  /** Returns the known run of this key; if there is none, calls `work` and returns the new run. */
  join(work: () => Promise<T>, key?: string): SharedRun<T>
  /**
   * Joins a run and returns its result. If the run is lost, joins once more, with all others who have waited for it; if that run is lost, too, throws an `Error`
   * with `lostText`.
   */
  wait(work: () => Promise<T>, key?: string): Promise<T>
}

/** The message of the exception for work that is given up because it hangs. What hangs is a call to the database or the platform: all others have limits. */
export const lostText = 'The database has not answered in time'

/** Most runs in memory. At this number all are forgotten: runs in progress go on, but are not shared any more. */
export const knownMax = 1_000

/** Makes runs that concurrent callers share: for each key one at a time. The memory is that of one isolate or object, which may end at any time. */
export function createSharedRuns<T>(
  clock: Pick<Clock, 'now' | 'sleep'>,
  { lostMs, keptMs = 0, isKept = () => true }: SharedRunLimits<T>,
): SharedRuns<T> {
  const runs = new Map<string, SharedRun<T> & { hasEnded: boolean }>()
  const known = (key = '') => {
    const run = runs.get(key)
    return run !== undefined && clock.now() - run.startedAt < (run.hasEnded ? keptMs : lostMs) ? run : null
  }
  const forget = (key: string, run: SharedRun<T>) => {
    if (runs.get(key) === run) runs.delete(key)
  }
  const join: SharedRuns<T>['join'] = (work, key = '') => {
    const before = known(key)
    if (before !== null) return before
    if (runs.size >= knownMax) runs.clear()
    const run = { startedAt: clock.now(), result: work(), hasEnded: false }
    runs.set(key, run)
    const end = (result: T) => {
      run.hasEnded = true
      if (keptMs === 0 || !isKept(result)) forget(key, run)
    }
    run.result.then(end, () => forget(key, run))
    return run
  }
  return {
    known,
    join,
    async wait(work, key = '') {
      for (let tries = 0; tries < 2; tries += 1) {
        const run = join(work, key)
        if (await endsWithin(run.result, run.startedAt + lostMs - clock.now(), clock)) return run.result
        forget(key, run) // a timer can end before the clock says so
      }
      throw new Error(lostText)
    },
  }
}
