import type { Memory } from '../kit/memory.ts'
import { readInteger, readMembers } from '../kit/read.ts'
import type { PayerSession } from './context.ts'
import type { Arrival } from './data.ts'

/**
 * A reader's visit, with the transfers that belong to it: those that the page saw before they were
 * final, and all later ones. It survives a reload.
 */
interface Visit {
  /** Which account and which payment request the visit is for, as the text of `nameOf` below. */
  readonly of: string
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
 * Continues the visit that is stored in `memory` if it is for the same account and payment request;
 * otherwise begins a new visit.
 */
export function createVisits(memory: Memory): Visits {
  let visit = readVisit(memory.read(keptName))
  const keep = (next: Visit) => {
    if (JSON.stringify(next) === JSON.stringify(visit)) return
    visit = next
    memory.write(keptName, JSON.stringify(next))
  }
  const nameOf = ({ uid, request }: PayerSession) =>
    JSON.stringify([uid, request?.order ?? null, request?.since ?? null])
  const newest = (arrivals: readonly Arrival[]) => Math.max(0, ...arrivals.map(({ id }) => id))
  return {
    follow(session, arrivals) {
      const of = nameOf(session)
      const known =
        visit?.of === of ? visit : { of, after: newest(beforeVisit(session, arrivals)), over: 0, followed: [] }
      const seen = arrivals.filter(({ id, state }) => state === 'seen' && id > known.over).map(({ id }) => id)
      const next = { ...known, followed: [...new Set([...known.followed, ...seen])] }
      keep(next)
      const own = arrivals.filter(({ id }) => id > next.after || next.followed.includes(id))
      return new Set(own.map(({ id }) => id))
    },
    startOver(session, arrivals) {
      const id = newest(arrivals)
      keep({ of: nameOf(session), after: id, over: id, followed: [] })
    },
  }
}

/**
 * The transfers before the visit: those before the payment request's time. Without such a time, all
 * except those that are not final yet.
 */
function beforeVisit({ request }: PayerSession, arrivals: readonly Arrival[]): readonly Arrival[] {
  const since = request?.since ?? 0
  return arrivals.filter(({ state, created_at }) => (since > 0 ? Date.parse(created_at) < since : state !== 'seen'))
}

function readVisit(text: string | null): Visit | null {
  try {
    const { of, after, over, followed } = readMembers(JSON.parse(text ?? ''))
    if (typeof of !== 'string' || !Array.isArray(followed)) return null
    return { of, after: readInteger(after), over: readInteger(over), followed: followed.map(readInteger) }
  } catch {
    return null
  }
}
