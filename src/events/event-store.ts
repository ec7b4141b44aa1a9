import type { EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { StoredEvent } from './event.ts'

/** Events in a page, at most. */
export const eventsMax = 100

/** The events, in their order. */
export interface EventReader {
  /** Up to `max` events after `id`. None is stored below one that was read: there is one writer, which numbers them. */
  after(id: EventId | 0, max: number): Promise<readonly StoredEvent[]>
}

/** The events, and the removal of old ones. */
export interface EventStore extends EventReader {
  /** Removes up to `max` of the oldest events, where they are older than `before` and every endpoint has received them. */
  removeOld(before: UnixMs, max: number): Promise<void>
}
