import type { DepositsChange } from '../chain/chain.ts'
import type { Uid } from '../common/ids.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'

/** Most requests that one scanner holds at a time. A further one is answered at once. */
export const heldMax = 5_000
/** Most requests of one user that one scanner holds at a time. */
export const heldOfUserMax = 4
/** The longest time for which a request is held, in milliseconds. */
export const holdMsMax = 25_000
/**
 * Most users whose changes are remembered. At this number all are forgotten, and everybody who
 * waits reads again.
 */
const changedMax = 10_000

/** The form of a mark: the instance, and how many changes it has noted. */
const markForm = /^([0-9a-z]+)-(\d{1,15})$/

/** Requests that are held until a transfer of their user changes. */
export interface Holds {
  /**
   * Waits until something of the user may have changed since `mark`, at most `ms` milliseconds. It
   * does not wait without a mark of this instance, while `isWell` is false, and where too many
   * requests are held already.
   */
  wait(uid: Uid, mark: string | null, ms: number): Promise<DepositsChange>
  /** Ends the wait of these users: transfers of theirs were stored. */
  changed(uids: Iterable<Uid>): void
  /** Ends the wait of all users: any of them may have to read again. */
  changedForAll(): void
}

/**
 * Makes the held requests of an instance. `isWell`: what is stored is up to date, as far as the
 * instance knows. Nothing is stored: a new instance tells every caller to read.
 */
export function createHolds(clock: Pick<Clock, 'now' | 'sleep' | 'random'>, isWell: () => boolean): Holds {
  const instance = clock.now().toString(36) + Math.floor(clock.random() * 2 ** 50).toString(36)
  const changes = new Map<Uid, number>()
  const waiting = new Map<Uid, Set<() => void>>()
  let [count, forAll, held] = [0, 0, 0]
  const end = (ends: Iterable<() => void>) => {
    for (const one of [...ends]) one()
  }
  const isStale = (uid: Uid, mark: string | null) => {
    const [, made, noted] = markForm.exec(mark ?? '') ?? []
    return made !== instance || Math.max(changes.get(uid) ?? 0, forAll) > Number(noted) || !isWell()
  }
  const answer = (isChanged: boolean): DepositsChange => ({ isChanged, mark: `${instance}-${count}` })
  const changedForAll = () => {
    count += 1
    forAll = count
    changes.clear()
    for (const ends of [...waiting.values()]) end(ends)
  }
  return {
    async wait(uid, mark, ms) {
      const ends = waiting.get(uid) ?? new Set()
      if (isStale(uid, mark) || held >= heldMax || ends.size >= heldOfUserMax) return answer(true)
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = () => resolve()
      waiting.set(uid, ends.add(wake))
      held += 1
      await endsWithin(promise, Math.min(ms, holdMsMax), clock)
      held -= 1
      ends.delete(wake)
      if (ends.size === 0 && waiting.get(uid) === ends) waiting.delete(uid)
      return answer(isStale(uid, mark))
    },
    changed(uids) {
      for (const uid of uids) {
        count += 1
        if (changes.size >= changedMax) return changedForAll()
        changes.set(uid, count)
        end(waiting.get(uid) ?? [])
      }
    },
    changedForAll,
  }
}
