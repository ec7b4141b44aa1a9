import { difference, isZero, sumOf } from '../kit/decimal.ts'
import { type DeskContext, deskAmount, deskSymbol, payoutsNow } from './context.ts'
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

/** The sums of payouts that are approved and have not left yet. */
export const leavingNow = ({ model }: DeskContext) =>
  (payoutsNow(model)?.open ?? []).filter(({ state }) => state === 'approved' || state === 'signed')

/**
 * Says for each currency how much the payout address lacks for these payouts, beside what is
 * approved already. Empty if it holds enough, or if nobody knows.
 */
export function lackTexts(context: DeskContext, list: readonly Pick<DeskPayout, 'cuy' | 'amt'>[]): readonly string[] {
  return [...new Set(list.map(({ cuy }) => cuy))].flatMap((cuy) => {
    const held = payoutsNow(context.model)?.holds.find(({ symbol }) => symbol === deskSymbol(context, cuy))
    const leaving = leavingNow(context).flatMap((one) => (one.cuy === cuy ? one.sum : []))
    const own = list.flatMap((one) => (one.cuy === cuy ? one.amt : []))
    const lack = held === undefined ? '0' : difference(sumOf([...own, ...leaving]), held.amt)
    return lack.startsWith('-') || isZero(lack) ? [] : [context.texts.queueMissing(deskAmount(context, lack, cuy))]
  })
}
