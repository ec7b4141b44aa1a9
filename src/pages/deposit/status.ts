import { button, type Child, createSlot, html, linkTo, type PageView } from '../kit/dom.ts'
import { createArrivalList, explorerLink, stateIcon } from './arrivals.ts'
import { amountText, arrivalAmount, type DepositContext, requestOf, requestProgress } from './context.ts'
import type { Arrival, ArrivalState } from './data.ts'

/** How far what is asked for is paid. */
export function createSummary(context: DepositContext): PageView {
  const element = html('div', { class: 'summary' })
  const fill = createSlot(element)
  return {
    element,
    update() {
      const progress = requestProgress(context)
      element.hidden = progress === null || progress.state === 'unpaid'
      fill(JSON.stringify([progress, requestOf(context)?.currency.cuy]), () => summaryParts(context))
    },
  }
}

/** What has become of the payments of this visit. */
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
      list.element.classList.toggle('single', visited.length === 1 && requestProgress(context) === null)
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

/** What the reader can do next: go back, or make a further deposit. */
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

/** The transfers of this visit, the newest first. */
export function visitedOf({ model }: DepositContext): readonly Arrival[] {
  if (model.offer === null) return [] // their currencies are not known yet
  return model.arrivals?.list.filter(({ id }) => model.visited.has(id)) ?? []
}

/** A link back to who asks to be paid: the first thing to do when that is done. */
export function backLink({ texts }: DepositContext, back: string, isFirst: boolean): HTMLElement {
  return linkTo(back, 'here', { class: isFirst ? 'button primary' : 'button' }, texts.backTo(new URL(back).host))
}

function summaryParts(context: DepositContext): Child[] {
  const { texts } = context
  const progress = requestProgress(context)
  const asked = requestOf(context)
  if (progress === null || asked === null) return []
  const text = (amount: string) => amountText(context, amount, asked.currency.cuy)
  const total = text(asked.request.amount ?? '0')
  const words = (kind: ArrivalState, title: string, ...lines: (string | null)[]) => [
    html('h2', { class: 'state', 'data-state': kind }, stateIcon(kind), title),
    ...lines.map((line) => (line === null ? null : html('p', {}, line))),
  ]
  switch (progress.state) {
    case 'paid':
      return words(
        'credited',
        texts.paid,
        texts.paidHelp(total),
        progress.over === '0' ? null : texts.paidOver(text(progress.over)),
      )
    case 'on its way':
      return words('seen', texts.coming(text(progress.seen)), texts.comingHelp)
    case 'partly paid':
      return [html('p', {}, texts.sums(total, text(progress.credited), text(progress.seen), text(progress.missing)))]
    case 'unpaid':
      return []
  }
}

/** What the title of the page says: the state of the newest payment, or of what is asked for. */
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
