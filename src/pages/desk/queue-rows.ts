import { query, type Reply } from '../kit/api.ts'
import { isZero } from '../kit/decimal.ts'
import { button, type Child, html } from '../kit/dom.ts'
import type { ListPage } from '../kit/read.ts'
import { ownHint } from './action-buttons.ts'
import { type DeskContext, depositAmount, deskAmount, sinceText } from './context.ts'
import { type ActionItem, isPayout, readDeskPayouts, readOwnedDeposits } from './data.ts'
import { fragmentOfQueue, type QueuePlace } from './list-place.ts'
import { hint, small, storyButton } from './parts.ts'
import { leftTexts } from './payout-left.ts'
import { depositReason, waitText } from './reasons.ts'

/** The name of a list of the queue. */
export const queueName = ({ texts }: DeskContext, list: QueuePlace['list']): string =>
  list === 'payouts' ? texts.payouts : texts.inReview

/** Reads payouts or deposits that wait for a person, the oldest first. */
export async function readQueue(
  context: DeskContext,
  { list, cuy, after }: QueuePlace,
  limit: number,
): Promise<Reply<ListPage<ActionItem>>> {
  const { api, hasPayouts } = context
  if (list === 'deposits') {
    return api.get(`/ledger/deposits?${query({ reason: 'review', cuy, after, limit })}`, readOwnedDeposits)
  }
  if (!(await hasPayouts())) return { ok: true, data: { list: [], count: 0 }, msg: '' }
  return api.get(`/ledger/payouts?${query({ state: 'waiting', cuy, after, limit })}`, readDeskPayouts)
}

/** The search for the story of a payout or a deposit. */
const storyOf = (item: ActionItem) => (isPayout(item) ? `payout ${item.id}` : item.txid)

/** The names of the columns of a list. */
export function columnsOf({ texts }: DeskContext, list: QueuePlace['list']): readonly string[] {
  return list === 'payouts'
    ? [texts.what, texts.queueTo, texts.queueFee, texts.queueBy, texts.queueSince, texts.queueWhy, texts.queueLeft]
    : [texts.what, texts.queueTo, texts.transaction, texts.queueSince, texts.queueWhy]
}

/** The cells of a row. `leave` is called before its story is shown. */
export function queueRow(context: DeskContext, item: ActionItem, leave: () => void): readonly (readonly Child[])[] {
  const { texts } = context
  const user = small(texts.user(String(item.uid)))
  const since = sinceText(context, item.created_at)
  const code = (text: string) => html('span', { class: 'code' }, text)
  const label = (amount: string) => {
    const made = storyButton(context, amount, storyOf(item), `${texts.story} ${item.id}`)
    made.addEventListener('click', leave, { capture: true })
    return made
  }
  if (!isPayout(item)) {
    const { address, txid, amt, cuy } = item
    const { why } = depositReason(context, item)
    return [[label(depositAmount(context, amt, cuy)), user], [code(address)], [code(txid)], [since], [why]]
  }
  const { id, to, amt, fee, cuy, by, osn } = item
  const left = leftTexts(context, item).map((text) => html('span', { class: 'fault' }, text))
  return [
    [label(deskAmount(context, amt, cuy)), user, small(`${id} · ${osn}`)],
    [code(to)],
    [isZero(fee) ? '–' : deskAmount(context, fee, cuy)],
    [html('span', {}, by), ownHint(context, item)],
    [since],
    [hint(waitText(context, item))],
    left.length === 0 ? ['–'] : left,
  ]
}

/**
 * The way on from the story of something that waits, or that was reached from the queue: back to
 * its row, and to the next one. Empty for anything else.
 */
export function queueLinks(context: DeskContext, item: ActionItem): Child[] {
  const { texts, model } = context
  const { last } = model.queue
  const list = isPayout(item) ? 'payouts' : 'deposits'
  const isWaiting = item.state === 'waiting' || (item.state === 'held' && item.reason === 'review')
  if (!isWaiting && last?.list !== list) return []
  const place: QueuePlace = last?.list === list ? last : { list, cuy: '', after: 0, at: 0 }
  const back = () => context.ask(fragmentOfQueue({ ...place, at: item.id }))
  const next = async () => {
    const page = await readQueue(context, { ...place, after: item.id }, 1)
    const [found] = page.ok ? page.data.list : []
    if (found === undefined) return context.ask(fragmentOfQueue({ ...place, after: 0, at: 0 }))
    context.ask(storyOf(found))
  }
  return [
    html(
      'div',
      { class: 'row' },
      button({ 'data-queue': 'back' }, texts.queueBack, back),
      button({ 'data-queue': 'next' }, texts.queueNext, () => void next()),
    ),
  ]
}
