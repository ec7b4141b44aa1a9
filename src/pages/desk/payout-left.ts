import { type DeskContext, deskAmount } from './context.ts'
import type { DeskPayout } from './data.ts'

/** The outflows from the payout address for this payout, in sentences. */
export function leftTexts(context: DeskContext, { moved }: DeskPayout): readonly string[] {
  const { texts, format } = context
  return (moved ?? []).map(({ to, cuy, amt, contract, units }) => {
    const what =
      contract === null
        ? deskAmount(context, amt ?? '', cuy ?? 0)
        : texts.movedUnits(format.amount(units ?? ''), contract)
    return texts.movedTo(what, to)
  })
}
