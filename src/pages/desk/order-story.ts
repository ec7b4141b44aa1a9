import { orderHoldMs } from '../../worker/common/order-states.ts'
import { difference, isZero, sumOf } from '../kit/decimal.ts'
import { type Child, html } from '../kit/dom.ts'
import { type DeskContext, deskAmount, durationText, sinceText, stateName } from './context.ts'
import { eventStep } from './event-step.ts'
import type { DeskOrder } from './order-data.ts'
import { orderStateName } from './order-source.ts'
import { small, storyButton } from './parts.ts'
import { forUser, line, type Step, steps } from './steps.ts'

/** The story of an order: what has arrived for it, what is missing, and how long it holds. */
export function orderStory(context: DeskContext, order: DeskOrder): Child[] {
  const { texts } = context
  const { uid, cuy, amt, state, mark, address } = order
  const text = (amount: string) => deskAmount(context, amount, cuy)
  const least = order.at_least === amt ? null : line(texts.paidFrom(text(order.at_least)))
  const list: readonly Step[] = [
    ['done', texts.stepAsked, line(texts.askedBy(sinceText(context, order.created_at), order.by)), least],
    ['done', texts.stepOwner, storyButton(context, texts.user(String(uid)), String(uid))],
    ['done', texts.orderAddress, storyButton(context, address, address)],
    arrivedStep(context, order),
    endStep(context, order),
    ...toldStep(context, order),
  ]
  return [
    html('h3', {}, texts.pair(text(amt), orderStateName(context, state))),
    small([`${texts.order} ${order.order}`, mark].filter(Boolean).join(' · ')),
    steps(list),
    forUser(context, sentenceOf(context, order)),
  ]
}

/** The step of the deposits: their sums, seen and credited, and each of them. */
function arrivedStep(context: DeskContext, { deposits, credited, seen, cuy }: DeskOrder): Step {
  const { texts } = context
  const text = (amount: string) => deskAmount(context, amount, cuy)
  if (deposits.length === 0) return ['wait', texts.stepArrived, line(texts.arrivedNone)]
  const each = deposits.map(({ txid, amt, state }) =>
    html('p', {}, storyButton(context, text(amt), txid), ` ${stateName(context, state)}`),
  )
  return [
    isZero(seen) ? 'done' : 'wait',
    texts.stepArrived,
    line(texts.arrivedSums(text(credited), text(seen))),
    ...each,
  ]
}

/** The amount without which the order is not paid: nothing that was seen or credited covers it. */
function missingOf({ at_least, credited, seen }: DeskOrder): string {
  const missing = difference(at_least, sumOf([credited, seen]))
  return missing.startsWith('-') ? '0' : missing
}

/** How the order has ended; or what is missing, and how long it holds. */
function endStep(context: DeskContext, order: DeskOrder): Step {
  const { texts, format } = context
  const { state, amt, credited, cuy, until } = order
  const text = (amount: string) => deskAmount(context, amount, cuy)
  if (state === 'cancelled') return ['no', texts.stepCancelled, line(texts.orderCancelled)]
  if (state === 'paid') {
    const over = difference(credited, amt)
    const notes = [
      order.late ? texts.orderLate : null,
      over.startsWith('-') || isZero(over) ? null : texts.orderSurplus(text(over)),
      order.taken ? texts.orderTaken : null,
    ]
    const time = order.paid_at === null ? '' : sinceText(context, order.paid_at)
    return ['done', texts.stepPaid, line(texts.orderPaid(text(credited), time)), ...notes.map((one) => small(one))]
  }
  const missing = missingOf(order)
  const amount = line(isZero(missing) ? texts.orderMissingNone : texts.orderMissing(text(missing)))
  const now = context.api.now() ?? 0
  const left = (end: number) => durationText(context, Math.ceil((end - now) / 1_000))
  const end = Date.parse(until)
  if (state !== 'expired' && now < end) {
    return ['wait', texts.stepPaid, amount, line(texts.orderHolds(left(end), format.time(until)))]
  }
  const held = end + orderHoldMs
  const hold =
    now < held ? texts.orderStillCounts(left(held), format.time(new Date(held).toISOString())) : texts.orderHeldNoMore
  return ['no', texts.stepPaid, amount, line(texts.orderExpired(sinceText(context, until))), line(hold)]
}

/** Whether endpoints know how the order has ended. */
function toldStep(context: DeskContext, { state, until, paid_at }: DeskOrder): Step[] {
  const at = state === 'paid' ? paid_at : state === 'expired' ? until : null
  return at === null ? [] : [eventStep(context, `order.${state}`, at, false)]
}

function sentenceOf(context: DeskContext, order: DeskOrder): string {
  const { texts, format, api } = context
  const { state, amt, credited, seen, cuy, address, until } = order
  const text = (amount: string) => deskAmount(context, amount, cuy)
  if (state === 'paid') return texts.sayOrderPaid(text(credited))
  if (state === 'cancelled') return texts.sayOrderCancelled
  const arrived = sumOf([credited, seen])
  if (isZero(missingOf(order))) return texts.sayOrderComes(text(arrived))
  if (state !== 'expired' && (api.now() ?? 0) < Date.parse(until)) {
    return texts.sayOrderWaits(text(difference(amt, arrived)), address, format.time(until))
  }
  return isZero(credited) ? texts.sayOrderExpired : texts.sayOrderExpiredPartly(text(credited))
}
