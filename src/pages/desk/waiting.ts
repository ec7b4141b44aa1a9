import { ageSeconds, type DeskContext, durationText } from './context.ts'
import type { DeskSummary } from './data.ts'

/** What waits for a person for longer is late. */
const lateSeconds = 3_600

/** Whether what waits for a person has waited for too long. */
export const isOverdue = (context: DeskContext, since: string) => (ageSeconds(context, since) ?? 0) >= lateSeconds

/** Things that wait for a decision, and are not late. */
export interface Waiting {
  readonly name: string
  readonly count: number
  /** How long the first one has waited. */
  readonly age: string
  /** The list that has them. */
  readonly ask: string
}

/** What waits for a person, from its first second on: payouts, and deposits that somebody has to look at. */
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
