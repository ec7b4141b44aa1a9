import { err, ok, type Result } from '../common/result.ts'
import type { Clock } from './clock.ts'
import { createSharedRuns } from './shared-runs.ts'

/** For this long after its start, the result of a shared read, or its failure, is returned to whoever asks. */
export const sharedReadMs = 1_000
/** A shared read that has not ended after this time counts as lost, and those who wait begin another one. */
const sharedReadLostMs = 10_000

/**
 * A read that the requests of one isolate share, so that many requests cause few queries: it runs `read` if no read is running and none began within
 * `sharedReadMs`. All who ask wait for the read that is running. It throws what `read` throws, for that long also to those who ask later, so that a database
 * that fails is not asked by every request. Nobody waits for longer than two lost reads: then it throws an `Error` with `lostText`.
 */
export type SharedRead<T> = (read: () => Promise<T>) => Promise<T>

export interface SharedReadParts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** Lets a read continue after the request that began it, because others may wait for it. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

/** Makes a shared read for one isolate. */
export function createSharedRead<T>({ clock, waitUntil }: SharedReadParts): SharedRead<T> {
  const runs = createSharedRuns<Result<T, unknown>>(clock, { lostMs: sharedReadLostMs, keptMs: sharedReadMs })
  return async (read) => {
    const ended = await runs.wait(() => {
      const result = read().then(ok, err)
      waitUntil(result)
      return result
    })
    if (!ended.ok) throw ended.error
    return ended.value
  }
}
