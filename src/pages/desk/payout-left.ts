import { type DeskContext, deskAmount } from './context.ts'
import type { DeskPayout } from './payout-data.ts'

/** The outflows from the payout address for this payout, in sentences. */
export function leftTexts(context: DeskContext, { moved }: DeskPayout): readonly string[] {
  const { texts, format } = context
  return (moved ?? []).map((one) => {
    const what =
      'contract' in one
        ? texts.movedUnits(format.amount(one.units), one.contract)
        : deskAmount(context, one.amount, one.cuy)
    return texts.movedTo(what, one.to)
  })
}
