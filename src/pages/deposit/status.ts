import { isZero } from '../kit/decimal.ts'
import { button, type Child, createSlot, html, linkTo, type PageView } from '../kit/dom.ts'
import { createArrivalList, explorerLink, stateIcon } from './arrivals.ts'
import { amountText, arrivalAmount, type DepositContext, isStray, requestOf, requestProgress } from './context.ts'
import type { Arrival, ArrivalState } from './data.ts'

/** The progress of the request, and transfers that do not count towards it. */
export function createSummary(context: DepositContext): PageView {
  const element = html('div', { class: 'summary' })
  const fill = createSlot(element)
  return {
    element,
    update() {
      const words = summaryWords(context)
      const strays = straysOf(context).map((one) => strayWords(context, one))
      element.hidden = words === null && strays.length === 0
      fill(JSON.stringify([words, strays]), () => [
        ...(words === null ? [] : summaryParts(words)),
        ...strays.map((line) => html('p', { class: 'note warn' }, line)),
      ])
    },
  }
}

/** The payments of this visit: each with its state, whether the page can be closed, and a link to the explorer. */
export function createVisitStatus(context: DepositContext): PageView {
  const { texts, model } = context
  const list = createArrivalList(context, texts.transaction)
  const hint = html('p', { class: 'muted' }, texts.mayClose)
  const links = html('p', {})
  const fillLinks = createSlot(links)
  const element = html('div', { class: 'status' }, list.element, hint, links)
  return {
    element,
    update() {
      const visited = visitedOf(context)
      list.show(visited)
      list.element.classList.toggle('single', visited.length === 1 && !isPart(context))
      hint.hidden = !visited.some(({ state }) => state === 'seen')
      element.hidden = visited.length === 0
      const { address, offer } = model
      const explorer = offer?.explorer ?? null
      fillLinks(JSON.stringify([explorer, address]), () => {
        return explorer === null || address === null
          ? []
          : [explorerLink(explorer, `address/${address}`, texts.viewAddress)]
      })
    },
    tick: list.tick,
  }
}

/** Whether something of the requested amount is still to be paid. Then the status is a list below the address. */
const isPart = (context: DepositContext) => ['unpaid', 'partly paid'].includes(requestProgress(context)?.state ?? '')

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

/** A link back to the site that asked for the payment. `isFirst` makes it the main button of the page, for when everything is paid. */
export function backLink({ texts }: DepositContext, back: string, isFirst: boolean): HTMLElement {
  return linkTo(back, 'here', { class: isFirst ? 'button primary' : 'button' }, texts.backTo(new URL(back).host))
}

/** Most transfers in another currency than the requested one that the summary names. The list of transfers has all of them. */
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
    one.state === 'credited' ? texts.inBalance(amount) : texts.titleWith(texts[one.state], amount) + texts.stop
  return known + texts.gap + texts.notCounted(requestOf(context)?.currency.symbol ?? '')
}

interface SummaryWords {
  readonly title: readonly [kind: ArrivalState, words: string] | null
  readonly lines: readonly string[]
}

function summaryParts({ title, lines }: SummaryWords): Child[] {
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

/** The progress of the request; null without a requested amount, and before any of it has arrived. */
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
  return newest === undefined ? texts.title : texts.titleWith(texts[newest.state], arrivalAmount(context, newest))
}
