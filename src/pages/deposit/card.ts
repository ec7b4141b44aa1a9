import { createSlot, html, type PageView } from '../kit/dom.ts'
import { type DepositContext, requestOf, requestProgress } from './context.ts'
import { createNotice, createWaiting } from './message.ts'
import { createChoice, createPayment } from './pay.ts'
import { createActions, createSummary, createVisitStatus, visitedOf } from './status.ts'

/**
 * The card at the top of the page: the account, the amount to send and the address; later the status of the payment. `remember` gets the currency that the
 * reader chooses.
 */
export function createCard(
  context: DepositContext,
  nextAt: () => number | null,
  remember: (cuy: number) => void,
): PageView {
  const { model, texts } = context
  const owner = html('dl', { class: 'owner' })
  const fillOwner = createSlot(owner)
  const choice = createChoice(context, remember)
  const payment = createPayment(context)
  const summary = createSummary(context)
  const waiting = createWaiting(context)
  const status = createVisitStatus(context)
  const notice = createNotice(context, nextAt)
  const paying = html('div', { class: 'paying' }, choice.element, payment.element)
  const actions = createActions(context)
  const views = [notice, summary, choice, payment, waiting, status, actions]
  const element = html(
    'section',
    { class: 'card screen' },
    owner,
    ...[summary.element, paying, waiting.element, notice.element, status.element, actions.element],
  )
  return {
    element,
    update() {
      const { name, uid, request } = model.session
      const order = model.offer === null || requestOf(context) !== null ? (request?.order ?? null) : null
      fillOwner(JSON.stringify([name, uid, order]), () => [
        uid === null ? null : fact(texts.account, name ?? texts.user(uid)),
        order === null ? null : fact(texts.order, order),
      ])
      rememberHeight(element, () => {
        paying.hidden = !isToPay(context)
        for (const view of views) view.update()
      })
    },
    tick: () => {
      for (const view of views) view.tick?.()
    },
  }
}

const fact = (name: string, value: string) => html('div', {}, html('dt', {}, name), html('dd', {}, value))

/** Whether there is something to pay. A requested amount is to pay until all of it was sent; without a request, a first transfer is awaited. */
function isToPay(context: DepositContext): boolean {
  const progress = requestProgress(context)
  if (progress !== null) return progress.state === 'unpaid' || progress.state === 'partly paid'
  return visitedOf(context).length === 0
}

/**
 * Draws the element by `change`. If that puts the status in place of the address, the style sheet gets the height that the element had before: the status of a
 * single payment fills it, so that the parts below stay in place. The status of several payments has its own height, without a hole below it.
 */
function rememberHeight(element: HTMLElement, change: () => void): void {
  const before = element.dataset.shown
  const height = element.offsetHeight
  change()
  const now = element.querySelector('.paying')?.hasAttribute('hidden') ? 'status' : 'paying'
  element.dataset.shown = now
  if (before === 'paying' && now === 'status') element.style.setProperty('--height-before', `${height}px`)
}
