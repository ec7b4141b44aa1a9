import type { Refusal } from '../kit/api.ts'
import type { ActionItem, Failures } from './data.ts'
import type { QueuePlace } from './list-place.ts'

/** Most rows that can be chosen: the service decides about no more in one request. */
export const chosenMax = 20

/** The desk's knowledge of the queue: payouts or deposits that wait for a person. */
export interface QueueState {
  /** The part of the queue that is shown; null if the page shows something else. */
  place: QueuePlace | null
  /** The part that was shown last, for the way back from a story; null before the first. */
  last: QueuePlace | null
  /** Oldest first; null before they were read. */
  items: readonly ActionItem[] | null
  count: number
  /** The chosen rows by their ids. One that failed stays here until the reader drops it. */
  readonly chosen: Map<number, ActionItem>
  failures: Failures
  refusal: Refusal | null
}

export const emptyQueue = (): QueueState => ({
  place: null,
  last: null,
  items: null,
  count: 0,
  chosen: new Map(),
  failures: new Map(),
  refusal: null,
})
