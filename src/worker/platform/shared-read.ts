import type { Clock } from './clock.ts'

/** Pause between two reads that the requests of one isolate share. */
export const sharedReadMs = 1_000
/** A shared value of this age or more is not used. */
const sharedReadMsMax = 2_000

/** A value that the requests of one isolate share, so that many requests cause few queries. It may be lost at any time. */
export interface SharedRead<T> {
  /** The newest value, and when its read began. Null before the first read. */
  newest: { readonly value: T; readonly at: number } | null
  /** When the newest read began, which may have failed. */
  readAt: number
}

/** The shared value of a new isolate. */
export const createSharedRead = <T>(): SharedRead<T> => ({ newest: null, readAt: 0 })

/** Returns the shared value, or calls `read`: at most once in `sharedReadMs`, unless the shared value is older than `sharedReadMsMax`. */
export async function readShared<T>(
  shared: SharedRead<T>,
  clock: Pick<Clock, 'now'>,
  read: () => Promise<T>,
): Promise<T> {
  const { newest, readAt } = shared
  const now = clock.now()
  // While a read runs, other requests use the value before it, unless that is too old, as after a pause or failed reads.
  const isShared = now - readAt < sharedReadMs
  if (isShared && newest !== null && now - newest.at < sharedReadMsMax) return newest.value
  shared.readAt = now
  const value = await read()
  shared.newest = { value, at: now }
  return value
}
