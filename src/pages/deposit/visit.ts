import type { Memory } from '../kit/memory.ts'
import { readInteger, readMembers } from '../kit/read.ts'
import type { PayerSession } from './context.ts'
import type { Arrival } from './data.ts'

/**
 * A reader's visit without an order, with the transfers that belong to it: those that the page saw
 * before they were final, and all later ones. It survives a reload.
 */
interface Visit {
  /** The account that the visit is for. */
  readonly of: string | null
  /** The id of the newest transfer before the visit. */
  readonly after: number
  /**
   * The id of the newest transfer when the reader began another deposit; 0 if the reader has not.
   */
  readonly over: number
  readonly followed: readonly number[]
}

const keptName = 'visit'

/** Decides which transfers the status of the page is about. */
export interface Visits {
  /**
   * Adds transfers that are not final yet to the visit, and returns the ids of all its transfers.
   * `arrivals` are the loaded transfers.
   */
  follow(session: PayerSession, arrivals: readonly Arrival[]): ReadonlySet<number>
  /** Begins another deposit, to which none of these transfers belongs. */
  startOver(session: PayerSession, arrivals: readonly Arrival[]): void
}

/**
 * Continues the visit that is stored in `memory` if it is for the same account; otherwise begins a
 * new visit.
 */
export function createVisits(memory: Memory): Visits {
  let visit = readVisit(memory.read(keptName))
  const keep = (next: Visit) => {
    if (JSON.stringify(next) === JSON.stringify(visit)) return
    visit = next
    memory.write(keptName, JSON.stringify(next))
  }
  const newest = (arrivals: readonly Arrival[]) => Math.max(0, ...arrivals.map(({ id }) => id))
  return {
    follow({ uid: of }, arrivals) {
      const before = arrivals.filter(({ state }) => state !== 'seen')
      const known = visit?.of === of ? visit : { of, after: newest(before), over: 0, followed: [] }
      const seen = arrivals.filter(({ id, state }) => state === 'seen' && id > known.over).map(({ id }) => id)
      const next = { ...known, followed: [...new Set([...known.followed, ...seen])] }
      keep(next)
      const own = arrivals.filter(({ id }) => id > next.after || next.followed.includes(id))
      return new Set(own.map(({ id }) => id))
    },
    startOver({ uid: of }, arrivals) {
      const id = newest(arrivals)
      keep({ of, after: id, over: id, followed: [] })
    },
  }
}

function readVisit(text: string | null): Visit | null {
  try {
    const { of, after, over, followed } = readMembers(JSON.parse(text ?? ''))
    if ((typeof of !== 'string' && of !== null) || !Array.isArray(followed)) return null
    return { of, after: readInteger(after), over: readInteger(over), followed: followed.map(readInteger) }
  } catch {
    return null
  }
}
