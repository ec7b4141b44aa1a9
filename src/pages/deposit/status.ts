import { isZero } from '../kit/decimal.ts'
import { button, type Child, createSlot, html, linkTo, type PageView } from '../kit/dom.ts'
import { arrivalState, createArrivalList, explorerLink, stateIcon } from './arrivals.ts'
import {
  amountText,
  arrivalAmount,
  type DepositContext,
  isStray,
  orderBack,
  orderOf,
  orderProgress,
} from './context.ts'
import type { Arrival } from './data.ts'

/**
 * The progress of the order, and transfers that do not count for it, where nothing is to pay. While
 * something is, `createPayment` shows them above it.
 */
export function createSummary(context: DepositContext): PageView {
  const element = html('div', {})
  const fill = createSlot(element)
  return {
    element,
    update() {
      const summary = isToPay(context) ? null : summaryOf(context)
      element.hidden = summary === null
      fill(JSON.stringify(summary), () => [summaryPart(summary)])
    },
  }
}

/**
 * The progress of the order, and sentences about transfers that do not count for it; null if there
 * is nothing to say.
 */
interface Summary {
  readonly words: SummaryWords | null
  readonly strays: readonly string[]
}

export function summaryOf(context: DepositContext): Summary | null {
  const words = summaryWords(context)
  const strays = straysOf(context).map((one) => strayWords(context, one))
  return words === null && strays.length === 0 ? null : { words, strays }
}

export function summaryPart(summary: Summary | null): Child {
  if (summary === null) return null
  const { words, strays } = summary
  const notes = strays.map((line) => html('p', { class: 'note warn' }, line))
  return html('div', { class: 'summary' }, ...(words === null ? [] : wordsParts(words)), ...notes)
}

/**
 * Whether there is something to pay: an order that is not loaded yet, or of which something is
 * missing; without an order, a first transfer.
 */
export function isToPay(context: DepositContext): boolean {
  if (context.model.session.claim.order === null) return visitedOf(context).length === 0
  const phase = orderProgress(context)?.phase
  return phase === undefined || phase === 'waiting' || phase === 'partly'
}

/**
 * The payments of this visit: each with its state, whether the page can be closed, and links to the
 * explorer. They are below the address while something is to pay (`place`), and otherwise in place
 * of it, with a link for the address. Each place has its own elements: browsers count an element
 * that changes its place as a layout shift, and one that appears not.
 */
export function createVisitStatus(context: DepositContext, place: 'below' | 'instead'): PageView {
  const { texts, model } = context
  const list = createArrivalList(context, texts.transaction)
  const hint = html('p', { class: 'muted' }, texts.mayClose)
  const links = html('p', {})
  const fillLinks = createSlot(links)
  const element = html('div', { class: 'status' }, list.element, hint, links)
  return {
    element,
    update() {
      const visited = isToPay(context) === (place === 'below') ? visitedOf(context) : []
      list.show(visited)
      list.element.classList.toggle('single', visited.length === 1 && place === 'instead')
      hint.hidden = !visited.some(({ state }) => state === 'seen')
      element.hidden = visited.length === 0
      const { address, offer } = model
      const explorer = offer?.explorer ?? null
      fillLinks(JSON.stringify([explorer, address, element.hidden]), () => {
        return explorer === null || address === null || place === 'below' || element.hidden
          ? []
          : [explorerLink(explorer, `address/${address}`, texts.viewAddress)]
      })
    },
    tick: list.tick,
  }
}

/** The next actions of the reader: to go back, or to make another deposit. */
export function createActions(context: DepositContext): PageView {
  const { texts, model } = context
  const element = html('div', { class: 'row actions' })
  const fill = createSlot(element)
  return {
    element,
    update() {
      const isOver = model.session.claim.order === null && visitedOf(context).length > 0
      const back = orderBack(context)
      const phase = orderProgress(context)?.phase
      const isFirst = phase === 'paid' || phase === 'ended' || phase === 'cancelled'
      element.hidden = back === null && !isOver
      fill(JSON.stringify([back, isOver, isFirst]), () => [
        back === null ? null : backLink(context, back, isFirst),
        isOver ? button({}, texts.another, context.startOver) : null,
      ])
    },
  }
}

/** The transfers of this visit, newest first. */
export function visitedOf({ model }: DepositContext): readonly Arrival[] {
  if (model.offer === null) return [] // the currencies of the transfers are not loaded yet
  return model.arrivals?.list.filter(({ id }) => model.visited.has(id)) ?? []
}

/**
 * A link back to the site that made the order. `isFirst` makes it the main button of the page, for
 * when there is nothing more to do here.
 */
export function backLink({ texts }: DepositContext, back: string, isFirst: boolean): HTMLElement {
  return linkTo(back, 'here', { class: isFirst ? 'button primary' : 'button' }, texts.backTo(new URL(back).host))
}

/**
 * Most transfers in another currency than the order's that the summary names. The list of
 * transfers has all of them.
 */
const straysMax = 3

/** The transfers of this visit in another currency than the order's. */
function straysOf(context: DepositContext): readonly Arrival[] {
  const arrived = visitedOf(context).filter(({ state }) => state !== 'dropped' && state !== 'refused')
  return arrived.filter((one) => isStray(context, one)).slice(0, straysMax)
}

function strayWords(context: DepositContext, one: Arrival): string {
  const { texts } = context
  const amount = arrivalAmount(context, one)
  const known =
    one.state === 'credited'
      ? texts.inBalance(amount)
      : texts.titleWith(arrivalState(context, one.state), amount) + texts.stop
  return known + texts.gap + texts.notCounted(orderOf(context)?.currency.symbol ?? '')
}

interface SummaryWords {
  readonly title: readonly [state: string, words: string] | null
  readonly lines: readonly string[]
}

function wordsParts({ title, lines }: SummaryWords): Child[] {
  const heading =
    title === null ? null : html('h2', { class: 'state', 'data-state': title[0] }, stateIcon(title[0]), title[1])
  return [heading, ...lines.map((line) => html('p', {}, line))]
}

/** The progress of the order as one text; empty if there is nothing to say. */
export function summaryText(context: DepositContext): string {
  const { title, lines } = summaryWords(context) ?? { title: null, lines: [] }
  const { stop, gap } = context.texts
  return [...(title === null ? [] : [title[1] + stop]), ...lines].join(gap)
}

/** The progress of the order; null without one, and before any of it has arrived. */
function summaryWords(context: DepositContext): SummaryWords | null {
  const { texts } = context
  const progress = orderProgress(context)
  const asked = orderOf(context)
  if (progress === null || asked === null) return null
  const { phase, credited, seen, missing, over, isHeld } = progress
  const text = (amount: string) => amountText(context, amount, asked.order.cuy)
  const total = text(asked.order.amt)
  const part = (amount: string, words: (amount: string) => string) => (isZero(amount) ? [] : [words(text(amount))])
  const parts = [
    ...part(credited, texts.partCredited),
    ...part(seen, isHeld ? texts.partHeld : texts.partSeen),
    ...part(missing, texts.partMissing),
  ]
  const sums = texts.sums(total, parts.join(texts.comma))
  switch (phase) {
    case 'paid': {
      const help = isZero(missing) ? texts.paidHelp(total) : texts.paidShort(text(credited), total)
      return { title: ['credited', texts.paid], lines: [help, ...part(over, texts.paidOver)] }
    }
    case 'coming':
      if (isHeld) return { title: ['held', texts.held], lines: [texts.heldOrderHelp] }
      return { title: ['seen', texts.coming(text(seen))], lines: [texts.comingHelp] }
    case 'partly':
      return { title: null, lines: [sums] }
    case 'ended': {
      const lines = isZero(credited) && isZero(seen) ? [texts.endedOrderHelp] : [texts.endedOrderHelp, sums]
      return { title: ['dropped', texts.endedOrder], lines }
    }
    case 'cancelled':
      return { title: ['dropped', texts.cancelledOrder], lines: [texts.endedOrderHelp] }
    case 'waiting':
      return null
  }
}

/** The title of the page: the state of the order, or of the newest payment. */
export function titleOf(context: DepositContext): string {
  const { texts } = context
  const asked = orderOf(context)
  const progress = orderProgress(context)
  if (progress !== null && asked !== null) {
    const total = amountText(context, asked.order.amt, asked.order.cuy)
    switch (progress.phase) {
      case 'waiting':
        return texts.titlePay(total)
      case 'paid':
        return texts.titleWith(texts.paid, total)
      case 'coming':
        return texts.titleWith(progress.isHeld ? texts.held : texts.seen, total)
      case 'partly':
        return texts.missing(amountText(context, progress.missing, asked.order.cuy))
      case 'ended':
        return texts.endedOrder
      case 'cancelled':
        return texts.cancelledOrder
    }
  }
  const [newest] = visitedOf(context)
  return newest === undefined
    ? texts.title
    : texts.titleWith(arrivalState(context, newest.state), arrivalAmount(context, newest))
}
