import { sumOf } from '../kit/decimal.ts'
import { type Child, html } from '../kit/dom.ts'
import { sumText } from './action-form.ts'
import { type DeskContext, deskAmount, deskSymbol, payoutsNow } from './context.ts'
import type { ActionItem } from './data.ts'
import type { QueuePlace } from './list-place.ts'
import { fact } from './parts.ts'
import { lackTexts, leavingNow } from './payout-left.ts'
import { chosenMax } from './queue-state.ts'

/**
 * The sum of what is chosen. For payouts, also what the payout address holds and what is approved
 * already, in the currencies of what is chosen, or in all if nothing is.
 */
export function sumFacts(context: DeskContext, list: readonly ActionItem[], place: QueuePlace): Child[] {
  const { texts, model, format } = context
  const name = texts.queueChosen(format.count(list.length), format.count(chosenMax))
  const chosen = fact(name, list.length === 0 ? '–' : sumText(context, list))
  const payouts = payoutsNow(model)
  if (place.list === 'deposits' || payouts === null) return [chosen]
  const symbols = new Set(list.map(({ cuy }) => deskSymbol(context, cuy)))
  const isShown = (symbol: string) => symbols.size === 0 || symbols.has(symbol)
  const holds = payouts.holds.filter(({ symbol }) => isShown(symbol))
  const leaving = leavingNow(context).filter(({ cuy }) => isShown(deskSymbol(context, cuy)))
  const approvedIn = (cuy: number) => sumOf(leaving.filter((one) => one.cuy === cuy).map(({ sum }) => sum))
  const values = (all: readonly string[]) => (all.length === 0 ? ['–'] : all.map((one) => html('span', {}, one)))
  return [
    chosen,
    fact(
      texts.payoutsHeld,
      ...values(holds.map(({ symbol, amt }) => `${format.amount(amt)} ${symbol}`)),
      ...lackTexts(context, list).map((text) => html('span', { class: 'fault' }, text)),
    ),
    fact(texts.queueApproved, ...values(cuysOf(leaving).map((cuy) => deskAmount(context, approvedIn(cuy), cuy)))),
  ]
}

const cuysOf = (list: readonly { readonly cuy: number }[]) => [...new Set(list.map(({ cuy }) => cuy))]
