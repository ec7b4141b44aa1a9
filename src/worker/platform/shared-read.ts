import type { Clock } from './clock.ts'

/** Least time between the beginnings of two reads of one shared value. */
export const sharedReadMs = 1_000
/** A shared value of this age or more is not returned, even if a read is running. */
const sharedReadMsMax = 2_000

/** A value that the requests of one isolate share, so that many requests cause few queries. A new isolate begins without one. */
export interface SharedRead<T> {
  /** The newest value, and when its read began; null before the first read has ended. */
  newest: { readonly value: T; readonly at: number } | null
  /** When the newest read began. That read may still be running, or may have failed. */
  readAt: number
}

/** Makes a shared value for one isolate. It has no value yet, so the first `readShared` reads. */
export const createSharedRead = <T>(): SharedRead<T> => ({ newest: null, readAt: 0 })

/** Returns the shared value if a read began less than `sharedReadMs` ago and the value is younger than `sharedReadMsMax`; otherwise calls `read`. */
export async function readShared<T>(
  shared: SharedRead<T>,
  clock: Pick<Clock, 'now'>,
  read: () => Promise<T>,
): Promise<T> {
  const { newest, readAt } = shared
  const now = clock.now()
  // While a read runs, other requests get the previous value. After a pause or failed reads that value is too old, and each request reads.
  const isShared = now - readAt < sharedReadMs
  if (isShared && newest !== null && now - newest.at < sharedReadMsMax) return newest.value
  shared.readAt = now
  const value = await read()
  shared.newest = { value, at: now }
  return value
}
