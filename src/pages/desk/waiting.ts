import { ageSeconds, type DeskContext, durationText } from './context.ts'
import type { DeskSummary } from './data.ts'

/**
 * A payout or deposit that has waited for a person for longer than this is shown as a finding, not
 * only as waiting.
 */
const lateSeconds = 3_600

/** Whether something that has waited for a person since this instant has waited too long. */
export const isOverdue = (context: DeskContext, since: string) => (ageSeconds(context, since) ?? 0) >= lateSeconds

/** Payouts or deposits that wait for a decision, but not for too long. */
export interface Waiting {
  readonly name: string
  readonly count: number
  /** How long the oldest of the payouts or deposits has waited, in words. */
  readonly age: string
  /** The search that leads to the list of these payouts or deposits. */
  readonly ask: string
}

/**
 * What waits for a person: payouts to be approved, and deposits to be reviewed. They are listed
 * here from their first second on. After `lateSeconds` they are a finding instead.
 */
export function waitingFor(context: DeskContext, { transfers, payouts }: DeskSummary): readonly Waiting[] {
  const { texts } = context
  const groups = [
    [texts.payouts, '#queue=payouts', (payouts?.open ?? []).filter(({ state }) => state === 'waiting')],
    [texts.inReview, '#queue=deposits', transfers.held_for.filter(({ reason }) => reason === 'review')],
  ] as const
  return groups.flatMap(([name, ask, all]) => {
    const open = all.filter(({ oldest_at }) => !isOverdue(context, oldest_at))
    if (open.length === 0) return []
    const age = Math.max(...open.map(({ oldest_at }) => ageSeconds(context, oldest_at) ?? 0))
    const count = open.reduce((sum, one) => sum + one.count, 0)
    return [{ name, count, age: durationText(context, age), ask }]
  })
}
