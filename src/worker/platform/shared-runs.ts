import { err, ok, type Result } from '../common/result.ts'
import { type Clock, endsWithin } from './clock.ts'

/** One run of some work, for whose result several callers may wait. */
export interface SharedRun<T> {
  readonly startedAt: number
  readonly result: Promise<T>
}

/** How long a run is shared after its start. Times are in milliseconds. */
export interface SharedRunLimits<T> {
  /**
   * A run that has not ended this long after its start counts as lost: the next call begins another
   * one.
   */
  readonly lostMs: number
  /**
   * For how long after its start a run that has ended so is still shared. Absent: a run is shared
   * only while it is in progress.
   */
  readonly keptMs?: (end: Result<T, unknown>) => number
}

/** For how long after its start the result of a read, or its failure, is shared. */
export const sharedReadMs = 1_000

/**
 * Limits of a read of the database that the requests of one isolate share, so that many requests
 * cause few queries. Its failure is shared as well, so that a database that fails is not asked by
 * every request.
 */
export const sharedReads: SharedRunLimits<unknown> = { lostMs: 10_000, keptMs: () => sharedReadMs }

export interface SharedRunParts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /**
   * Lets a run continue after the request that began it, because others may wait for it. Absent
   * where no request ends it.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** Runs by key. Runs of different keys do not wait for each other. */
export interface SharedRuns<T> {
  /** The run of this key that is in progress, or kept after its end; null if there is none. */
  known(key?: string): SharedRun<T> | null
  /** Returns the known run of this key; if there is none, calls `work` and returns the new run. */
  join(work: () => Promise<T>, key?: string): SharedRun<T>
  /**
   * Joins a run and returns its result. If the run is lost, joins once more, with all others who
   * have waited for it; if that run is lost, too, throws an `Error` with `lostText`.
   */
  wait(work: () => Promise<T>, key?: string): Promise<T>
}

/**
 * The message of the exception for work that is given up because it hangs. What hangs is a call to
 * the database or the platform: all others have limits.
 */
export const lostText = 'The database has not answered in time'

/**
 * Most runs in memory. At this number all are forgotten: runs in progress go on, but are not shared
 * any more.
 */
export const knownMax = 1_000

/**
 * Makes runs that concurrent callers share: for each key one at a time. The memory is that of one
 * isolate or object, which may end at any time.
 */
export function createSharedRuns<T>(
  { clock, waitUntil = () => {} }: SharedRunParts,
  { lostMs, keptMs = () => 0 }: SharedRunLimits<T>,
): SharedRuns<T> {
  const runs = new Map<string, SharedRun<T> & { sharedMs: number }>()
  const known = (key = '') => {
    const run = runs.get(key)
    return run !== undefined && clock.now() - run.startedAt < run.sharedMs ? run : null
  }
  const forget = (key: string, run: SharedRun<T>) => {
    if (runs.get(key) === run) runs.delete(key)
  }
  const join: SharedRuns<T>['join'] = (work, key = '') => {
    const before = known(key)
    if (before !== null) return before
    if (runs.size >= knownMax) runs.clear()
    const run = { startedAt: clock.now(), result: work(), sharedMs: lostMs }
    runs.set(key, run)
    const end = (ended: Result<T, unknown>) => {
      run.sharedMs = keptMs(ended)
      if (run.sharedMs === 0) forget(key, run)
    }
    waitUntil(
      run.result.then(
        (value) => end(ok(value)),
        (thrown) => end(err(thrown)),
      ),
    )
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
