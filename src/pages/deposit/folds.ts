import { countedText } from '../kit/counted.ts'
import { button, createSlot, html, type PageView } from '../kit/dom.ts'
import { loadScript } from '../kit/load-script.ts'
import { createArrivalList } from './arrivals.ts'
import type { DepositContext, FoldName } from './context.ts'
import { readArrivals } from './data.ts'
import { arrivalsPath, pageRows } from './paths.ts'

/** How many transfers are added each time the reader asks for older ones. */
const olderRows = 10

/**
 * A part of the page below the card with the address: a heading that opens it, and its content.
 * Opening it has the page read the data that only this part shows.
 */
export function createFold(
  context: DepositContext,
  name: FoldName,
  heading: string,
  inner: readonly PageView[],
): PageView {
  const { folds } = context.model
  const element = html(
    'details',
    { class: 'fold', 'data-fold': name },
    html('summary', {}, html('h2', {}, heading)),
    html('div', { class: 'folded' }, ...inner.map(elementOf)),
  )
  element.open = folds.has(name)
  element.addEventListener('toggle', () => {
    if (element.open === folds.has(name)) return
    if (element.open) folds.add(name)
    else folds.delete(name)
    if (element.open) context.refresh()
  })
  return {
    element,
    update: () => {
      for (const view of inner) view.update()
    },
    tick: () => {
      for (const view of inner) view.tick?.()
    },
  }
}

/** The part with the user's wallet. Its script is loaded when the reader opens it. */
export function createWalletFold(context: DepositContext): PageView {
  const { model, texts } = context
  const views: PageView[] = []
  const fold = createFold(context, 'wallet', texts.walletHeading, views)
  const place = fold.element.querySelector('.folded')
  let isAsked = false
  const load = async () => {
    isAsked = true
    const script = await loadScript(() => import('./wallet.ts'), './wallet.js')
    views.push(...(script?.createWallet(context) ?? []))
    place?.replaceChildren(
      ...(script === null ? [html('p', { class: 'note warn' }, texts.offline)] : views.map(elementOf)),
    )
    isAsked = script !== null // if loading failed, the next update tries again
    fold.update()
  }
  return {
    element: fold.element,
    update() {
      if (model.folds.has('wallet') && !isAsked) void load()
      fold.update()
    },
  }
}

const elementOf = ({ element }: PageView) => element

/** The part with the transfers before this visit, newest first. It is hidden if there are none. */
export function createEarlier(context: DepositContext): PageView {
  const { model, texts } = context
  const list = createArrivalList(context, texts.arrivalsHeading)
  const older = button({}, texts.older, () => void loadOlder(context))
  const fold = createFold(context, 'arrivals', texts.arrivalsHeading, [
    { element: list.element, update: () => {}, tick: list.tick },
    { element: older, update: () => {} },
  ])
  const fillHeading = createSlot(fold.element.querySelector('h2') ?? fold.element)
  return {
    element: fold.element,
    update() {
      const { arrivals, visited } = model
      const earlier = arrivals?.list.filter(({ id }) => !visited.has(id)) ?? []
      const count = (arrivals?.count ?? 0) - visited.size
      fold.element.hidden = count <= 0
      const shown = countedText(context.format, Math.max(0, count))
      fillHeading(shown, () => [`${texts.arrivalsHeading} (${shown})`])
      list.show(earlier.slice(0, model.arrivalsOpen))
      older.hidden = model.arrivalsOpen >= count
      fold.update()
    },
    tick: () => fold.tick?.(),
  }
}

async function loadOlder(context: DepositContext): Promise<void> {
  const { model, api } = context
  const { account, arrivals } = model
  if (arrivals === null) return
  model.arrivalsOpen += olderRows
  const known = arrivals.list
  if (known.length < Math.min(model.arrivalsOpen + model.visited.size, arrivals.count)) {
    const answer = await api.get(arrivalsPath(pageRows, known.at(-1)?.id), readArrivals)
    if (!answer.ok) model.refusal = answer
    else if (model.arrivals !== null && model.account === account) {
      const { list, count } = model.arrivals
      const last = list.at(-1)?.id ?? 0 // read now, because the list may have been reloaded meanwhile
      const all = [...list, ...answer.data.list.filter(({ id }) => id < last)]
      model.arrivals = { list: all, count: answer.data.list.length < pageRows ? all.length : count }
    }
  }
  context.update()
}
