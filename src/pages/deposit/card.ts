import { createSlot, html, type PageView } from '../kit/dom.ts'
import { amountText, type DepositContext, networkOf, orderOf } from './context.ts'
import { createNotice, createWaiting } from './message.ts'
import { createChoice, createPayment } from './pay.ts'
import { createActions, createSummary, createVisitStatus, isToPay } from './status.ts'

/**
 * The card at the top of the page: the account, the amount to send and the address; later the
 * status of the payment. `remember` gets the currency that the reader chooses.
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
  const below = createVisitStatus(context, 'below')
  const instead = createVisitStatus(context, 'instead')
  const notice = createNotice(context, nextAt)
  const paying = html('div', { class: 'paying' }, choice.element, payment.element)
  const actions = createActions(context)
  const receipt = createReceipt(context)
  const views = [receipt, notice, summary, instead, choice, payment, waiting, below, actions]
  const element = html(
    'section',
    { class: 'card screen' },
    owner,
    receipt.element,
    ...[summary.element, instead.element, paying, waiting.element, notice.element, below.element, actions.element],
  )
  return {
    element,
    update() {
      const { name, uid, claim } = model.session
      const { order } = claim
      fillOwner(JSON.stringify([name, uid, order]), () => [
        uid === null ? null : fact(texts.account, name ?? texts.user(uid)),
        order === null ? null : fact(texts.order, order),
      ])
      keepPlaces(element, () => {
        paying.hidden = !isToPay(context)
        for (const view of views) view.update()
      })
    },
    tick: () => {
      for (const view of views) view.tick?.()
    },
  }
}

/** On paper: what was asked for, on which network and to which address. */
function createReceipt(context: DepositContext): PageView {
  const { texts, model } = context
  const element = html('dl', { class: 'owner printed' })
  const fill = createSlot(element)
  return {
    element,
    update() {
      const asked = orderOf(context)?.order ?? null
      const { address, offer } = model
      const amount = asked === null ? null : amountText(context, asked.amt, asked.cuy)
      const isPaid = address !== null && offer !== null && !isToPay(context)
      fill(JSON.stringify([amount, address, offer?.network, isPaid]), () => {
        if (!isPaid) return []
        const facts = [fact(texts.network, networkOf(context).name), fact(texts.address, address)]
        return amount === null ? facts : [fact(texts.asked, amount), ...facts]
      })
    },
  }
}

const fact = (name: string, value: string) => html('div', {}, html('dt', {}, name), html('dd', {}, value))

/**
 * Draws the element by `change`, so that nothing moves that a reader may be about to press.
 * - If what is above the address changes, the style sheet gets how much that would move the address
 *   (`--moved`): the QR code takes that room, or gives it.
 * - If the status comes in place of the address, the style sheet gets the height that the element
 *   had (`--height-before`): the status of a single payment fills it. The status of several
 *   payments has its own height, without a hole below it.
 */
function keepPlaces(element: HTMLElement, change: () => void): void {
  const before = element.dataset.shown
  const height = element.offsetHeight
  const at = addressTop(element)
  change()
  const now = element.querySelector('.paying')?.hasAttribute('hidden') ? 'status' : 'paying'
  element.dataset.shown = now
  if (before === 'paying' && now === 'status') element.style.setProperty('--height-before', `${height}px`)
  element.style.setProperty('--moved', '0px')
  const moved = at === 0 ? 0 : addressTop(element) - at
  if (moved === 0) element.style.removeProperty('--moved')
  else element.style.setProperty('--moved', `${moved}px`)
}

/** How far the address is below the top of the page; 0 if it is not shown. */
const addressTop = (element: HTMLElement) => element.querySelector<HTMLElement>('.address')?.offsetTop ?? 0
