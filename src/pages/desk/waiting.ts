import { ageSeconds, type DeskContext, durationText } from './context.ts'
import type { DeskSummary } from './data.ts'

/** A matter that waits for a person longer than this is late. */
const lateSeconds = 3_600

/** Whether something has waited for a person for too long. */
export const isOverdue = (context: DeskContext, since: string) => (ageSeconds(context, since) ?? 0) >= lateSeconds

/** Matters that wait for a decision and are not late. */
export interface Waiting {
  readonly name: string
  readonly count: number
  /** How long the first one has waited. */
  readonly age: string
  /** The search for the list of them. */
  readonly ask: string
}

/** The matters that wait for a person, from their first second on: payouts, and deposits to be reviewed. */
export function waitingFor(context: DeskContext, { held, payouts }: DeskSummary): readonly Waiting[] {
  const { texts } = context
  const groups = [
    [texts.payouts, 'payouts waiting', (payouts?.open ?? []).filter(({ state }) => state === 'waiting')],
    [texts.inReview, 'deposits held', held.filter(({ reason }) => reason === 'review')],
  ] as const
  return groups.flatMap(([name, ask, all]) => {
    const open = all.filter(({ oldestAt }) => !isOverdue(context, oldestAt))
    if (open.length === 0) return []
    const age = Math.max(...open.map(({ oldestAt }) => ageSeconds(context, oldestAt) ?? 0))
    const count = open.reduce((sum, one) => sum + one.count, 0)
    return [{ name, count, age: durationText(context, age), ask }]
  })
}
