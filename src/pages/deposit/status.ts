import { isZero } from '../kit/decimal.ts'
import { button, type Child, createSlot, html, linkTo, type PageView } from '../kit/dom.ts'
import { arrivalState, createArrivalList, explorerLink, stateIcon } from './arrivals.ts'
import { amountText, arrivalAmount, type DepositContext, isStray, requestOf, requestProgress } from './context.ts'
import type { Arrival } from './data.ts'

/**
 * The progress of the request, and transfers that do not count towards it, where nothing is to pay.
 * While something is, `createPayment` shows them above it.
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
 * The progress of the request, and sentences about transfers that do not count towards it; null if
 * there is nothing to say.
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
 * Whether there is something to pay. A requested amount is to pay until all of it was sent; without
 * a request, a first transfer is awaited.
 */
export function isToPay(context: DepositContext): boolean {
  const progress = requestProgress(context)
  if (progress !== null) return progress.state === 'unpaid' || progress.state === 'partly paid'
  return visitedOf(context).length === 0
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
      const progress = requestProgress(context)
      const visited = visitedOf(context)
      const back = model.session.request?.back ?? null
      const isOver = progress === null && visited.length > 0
      const isPaid = progress === null ? isOver && visited.every(isCredited) : progress.state === 'paid'
      element.hidden = back === null && !isOver
      fill(JSON.stringify([back, isOver, isPaid]), () => [
        back === null ? null : backLink(context, back, isPaid),
        isOver ? button({}, texts.another, context.startOver) : null,
      ])
    },
  }
}

const isCredited = ({ state }: Arrival) => state === 'credited'

/** The transfers of this visit, newest first. */
export function visitedOf({ model }: DepositContext): readonly Arrival[] {
  if (model.offer === null) return [] // the currencies of the transfers are not loaded yet
  return model.arrivals?.list.filter(({ id }) => model.visited.has(id)) ?? []
}

/**
 * A link back to the site that asked for the payment. `isFirst` makes it the main button of the
 * page, for when everything is paid.
 */
export function backLink({ texts }: DepositContext, back: string, isFirst: boolean): HTMLElement {
  return linkTo(back, 'here', { class: isFirst ? 'button primary' : 'button' }, texts.backTo(new URL(back).host))
}

/**
 * Most transfers in another currency than the requested one that the summary names. The list of
 * transfers has all of them.
 */
const straysMax = 3

/** The transfers of this visit in another currency than the requested one. */
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
  return known + texts.gap + texts.notCounted(requestOf(context)?.currency.symbol ?? '')
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

/** The progress of the request as one text; empty if there is nothing to say. */
export function summaryText(context: DepositContext): string {
  const { title, lines } = summaryWords(context) ?? { title: null, lines: [] }
  const { stop, gap } = context.texts
  return [...(title === null ? [] : [title[1] + stop]), ...lines].join(gap)
}

/**
 * The progress of the request; null without a requested amount, and before any of it has arrived.
 */
function summaryWords(context: DepositContext): SummaryWords | null {
  const { texts } = context
  const progress = requestProgress(context)
  const asked = requestOf(context)
  if (progress === null || asked === null) return null
  const { credited, seen, missing, over, state } = progress
  const text = (amount: string) => amountText(context, amount, asked.currency.cuy)
  const total = text(asked.request.amount ?? '0')
  const part = (amount: string, words: (amount: string) => string) => (isZero(amount) ? [] : [words(text(amount))])
  switch (state) {
    case 'paid':
      return { title: ['credited', texts.paid], lines: [texts.paidHelp(total), ...part(over, texts.paidOver)] }
    case 'on its way':
      return { title: ['seen', texts.coming(text(seen))], lines: [texts.comingHelp] }
    case 'partly paid': {
      const parts = [
        ...part(credited, texts.partCredited),
        ...part(seen, texts.partSeen),
        ...part(missing, texts.partMissing),
      ]
      return { title: null, lines: [texts.sums(total, parts.join(texts.comma))] }
    }
    case 'unpaid':
      return null
  }
}

/** The title of the page: the state of the newest payment, or of the request. */
export function titleOf(context: DepositContext): string {
  const { texts } = context
  const asked = requestOf(context)
  const progress = requestProgress(context)
  if (progress !== null && asked !== null) {
    const total = amountText(context, asked.request.amount ?? '0', asked.currency.cuy)
    switch (progress.state) {
      case 'unpaid':
        return texts.titlePay(total)
      case 'paid':
        return texts.titleWith(texts.paid, total)
      case 'on its way':
        return texts.titleWith(texts.seen, total)
      case 'partly paid':
        return texts.missing(amountText(context, progress.missing, asked.currency.cuy))
    }
  }
  const [newest] = visitedOf(context)
  return newest === undefined
    ? texts.title
    : texts.titleWith(arrivalState(context, newest.state), arrivalAmount(context, newest))
}
