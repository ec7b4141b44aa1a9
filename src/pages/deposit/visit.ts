import type { Memory } from '../kit/memory.ts'
import { readInteger, readMembers } from '../kit/read.ts'
import type { PayerSession } from './context.ts'
import type { Arrival } from './data.ts'

/** Which transfers a visit is about: those that it has seen on their way, and all that came later. It outlives a reload. */
interface Visit {
  /** Whose visit it is, and for what. */
  readonly of: string
  /** The newest transfer before the visit. */
  readonly after: number
  /** The newest transfer when the reader began a further deposit; 0 before that. */
  readonly over: number
  readonly followed: readonly number[]
}

const keptName = 'visit'

/** The visit of a tab. */
export interface Visits {
  /** The transfers of the visit among these, which are all that are known. */
  follow(session: PayerSession, arrivals: readonly Arrival[]): ReadonlySet<number>
  /** Begins a further deposit: none of these belongs to it. */
  startOver(session: PayerSession, arrivals: readonly Arrival[]): void
}

/** Visits that this memory keeps. */
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

/** What was there before the visit: what is earlier than what is asked for, and else all that is not on its way. */
function beforeVisit({ request }: PayerSession, arrivals: readonly Arrival[]): readonly Arrival[] {
  const since = request?.since ?? 0
  return arrivals.filter(({ state, at }) => (since > 0 ? Date.parse(at) < since : state !== 'seen'))
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
