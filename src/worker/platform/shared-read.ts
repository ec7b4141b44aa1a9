import type { Clock } from './clock.ts'

/** Time between two reads that the requests of one isolate share. */
export const sharedReadMs = 1_000
/** Highest age of what was read, which is used until the next read has ended. */
const sharedReadMsMax = 2_000

/** What the requests of one isolate share, so that many of them cause few queries. It can be lost at any time. */
export interface SharedRead<T> {
  /** The newest value, and when its read began. Null before the first read. */
  newest: { readonly value: T; readonly at: number } | null
  /** When the newest read began, which can have failed. */
  readAt: number
}

/** What is shared in a new isolate. */
export const createSharedRead = <T>(): SharedRead<T> => ({ newest: null, readAt: 0 })

/** The shared value, or what `read` returns: at most once in `sharedReadMs`, unless what is shared is older than twice that. */
export async function readShared<T>(
  shared: SharedRead<T>,
  clock: Pick<Clock, 'now'>,
  read: () => Promise<T>,
): Promise<T> {
  const { newest, readAt } = shared
  const now = clock.now()
  // While a read runs, others use the value before it, unless that is older: after a pause, or where reads fail.
  const isShared = now - readAt < sharedReadMs
  if (isShared && newest !== null && now - newest.at < sharedReadMsMax) return newest.value
  shared.readAt = now
  const value = await read()
  shared.newest = { value, at: now }
  return value
}
