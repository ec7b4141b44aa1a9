import type { Refusal } from '../kit/api.ts'
import { countedText } from '../kit/counted.ts'
import { button, createSlot, html, type PageView } from '../kit/dom.ts'
import { actionsFor, createFormPlace } from './action-buttons.ts'
import type { ActionKind } from './action-form.ts'
import { type DeskContext, payoutsNow } from './context.ts'
import type { ActionItem, Failures } from './data.ts'
import { fragmentOfQueue, type QueuePlace, queueAt } from './list-place.ts'
import { createLiveSlot, hint } from './parts.ts'
import { queueName, readQueue } from './queue-rows.ts'
import { chosenMax } from './queue-state.ts'
import { sumFacts } from './queue-sums.ts'
import { createQueueTable } from './queue-table.ts'
import { refusalElements } from './refusal.ts'

/** How many rows the queue shows at a time. */
const queueRows = 50
const kinds = ['approve', 'cancel', 'credit', 'refuse'] as const satisfies readonly ActionKind[]

/** The page of the desk with what waits for a person, on which many can be decided at once. */
export interface QueueView extends PageView {
  /** Shows the part of the queue that the page's URL names, or nothing if it names none. */
  showPlace(): void
  /** Reads the rows again. Returns why the service refused, or null. */
  read(): Promise<Refusal | null>
}

/** Makes the view of the queue. `poll` reads it at once, and again while it is shown. */
export function createQueue(context: DeskContext, poll: () => void): QueueView {
  const { model, texts } = context
  const { queue: state } = model
  const heading = html('h2', { id: 'queue', tabindex: '-1' }, texts.queueHeading)
  const choice = createChoice(context, () => {
    form.close()
    result.textContent = ''
    context.update()
  })
  const result = html('p', { role: 'status' })
  const form = createFormPlace(context)
  const acts = createActs(context, (kind, opener) => {
    form.open({ kind, list: [...state.chosen.values()] }, opener, settle)
  })
  const table = createQueueTable(context, heading, {
    toggle: choice.toggle,
    goOn: () => acts.buttons.find((one) => !(one.hidden || one.disabled))?.click(),
    // written into the URL, so that the way back from the story leads to the row
    leave: (id) => history.replaceState(null, '', fragmentOfQueue({ ...placeOf(context), at: id })),
  })
  /** The service has decided about each chosen row, and refused those with `failures`. */
  const settle = (failures: Failures) => {
    const all = [...state.chosen.values()]
    const failed = all.filter(({ id }) => failures.has(id))
    const isDone = (id: number) => state.chosen.has(id) && !failures.has(id)
    state.items = (state.items ?? []).filter(({ id }) => !isDone(id))
    state.failures = failures
    choice.choose(failed)
    table.focus(failed[0]?.id ?? 0)
    const [done, left] = [all.length - failed.length, failed.length].map(context.format.count)
    result.textContent = texts.queueDone(done ?? '', left ?? '')
    poll()
    context.refresh()
  }
  const [top, end, help] = [createTop(context, heading), createEnd(context), hint(texts.queueHelp)] as const
  const buttons = html('div', { class: 'row' }, choice.oldest, ...acts.buttons)
  const content = [top.element, buttons, help, result, form.element, table.element, end.element]
  const element = html('section', { class: 'card wide queue', hidden: '' })
  let isFocusWanted = false
  return {
    element,
    update() {
      const isShown = state.place !== null
      element.hidden = !isShown
      if (isShown !== element.hasChildNodes()) element.replaceChildren(...(isShown ? content : []))
      if (state.place === null || model.summary === null) return
      for (const part of [top, choice, acts, end]) part.update()
      help.hidden = choice.oldest.hidden
      table.update(shownItems(context))
      if (!isFocusWanted || state.items === null) return
      isFocusWanted = false
      table.focus(state.place.at)
    },
    showPlace() {
      const place = queueAt(location.hash)
      if (JSON.stringify(place) === JSON.stringify(state.place)) return
      form.close()
      if (place !== null && !isSamePart(place, state.last)) {
        state.chosen.clear()
        Object.assign(state, { items: null, count: 0, failures: new Map() })
      }
      Object.assign(state, { place, last: place ?? state.last, refusal: null })
      isFocusWanted = place !== null
      context.update()
      if (place !== null) poll()
    },
    read: () => readRows(context),
  }
}

const isSamePart = (a: QueuePlace, b: QueuePlace | null) => a.list === b?.list && a.cuy === b.cuy && a.after === b.after

const placeOf = ({ model }: DeskContext): QueuePlace =>
  model.queue.place ?? { list: 'payouts', cuy: '', after: 0, at: 0 }

/** The rows of the service, and those with which nothing could be done: they stay to say why. */
function shownItems({ model: { queue } }: DeskContext): readonly ActionItem[] {
  const items = queue.items ?? []
  const gone = [...queue.chosen.values()].filter(({ id }) => !items.some((one) => one.id === id))
  return [...gone, ...items].sort((a, b) => a.id - b.id)
}

/** Reads the rows that the page shows, and draws them. */
async function readRows(context: DeskContext): Promise<Refusal | null> {
  const { queue } = context.model
  const { place, items } = queue
  if (place === null) return null
  const page = await readQueue(context, place, queueRows)
  if (queue.place !== place) return null
  queue.refusal = page.ok ? null : page
  if (page.ok) {
    const { list, count } = page.data
    Object.assign(queue, { items: list, count })
    for (const id of queue.chosen.keys()) {
      const item = list.find((one) => one.id === id)
      if (item !== undefined) queue.chosen.set(id, item)
      else if (!queue.failures.has(id)) queue.chosen.delete(id) // somebody else has decided about it
    }
    const idsOf = (all: readonly ActionItem[]) => all.map(({ id }) => id).join()
    if (items !== null && idsOf(items) !== idsOf(list)) context.refresh() // the sums
  }
  context.update()
  return queue.refusal
}

/** The lists of the queue, the currencies, and the sums. */
function createTop(context: DeskContext, heading: HTMLElement): PageView {
  const { model, texts } = context
  const go = (changes: Partial<QueuePlace>) =>
    context.ask(fragmentOfQueue({ ...placeOf(context), after: 0, at: 0, ...changes }))
  const names = (['payouts', 'deposits'] as const).map((list) => {
    return button({ 'data-queue': list }, queueName(context, list), () => go({ list, cuy: '' }))
  })
  const cuy = html('select', { id: 'queue-cuy' })
  const fill = createSlot(cuy)
  cuy.addEventListener('change', () => go({ cuy: cuy.value }))
  const sums = html('dl', { class: 'delays', 'aria-live': 'polite' })
  const showSums = createLiveSlot(sums)
  const leave = button({ class: 'plain' }, texts.overview, () => context.ask('#'))
  return {
    element: html(
      'div',
      { class: 'rows' },
      html('div', { class: 'row between' }, heading, leave),
      html('div', { class: 'row names', role: 'group', 'aria-label': texts.queueHeading }, ...names),
      html('div', { class: 'row' }, html('label', { for: cuy.id }, texts.currency), cuy),
      sums,
    ),
    update() {
      const place = placeOf(context)
      for (const made of names) made.setAttribute('aria-pressed', String(made.dataset.queue === place.list))
      names[0]?.toggleAttribute('hidden', payoutsNow(model) === null)
      const currencies = (model.summary?.currencies ?? []).map(({ cuy: id, symbol }) => [String(id), symbol] as const)
      fill(JSON.stringify(currencies), () =>
        [['', texts.filterAll] as const, ...currencies].map(([value, name]) => html('option', { value }, name)),
      )
      cuy.value = place.cuy
      showSums(sumFacts(context, [...model.queue.chosen.values()], place))
    },
  }
}

/** The choice of rows, with the button that chooses the oldest ones, or none. */
function createChoice(context: DeskContext, changed: () => void) {
  const { queue } = context.model
  const { texts, format } = context
  const choose = (items: readonly ActionItem[]) => {
    queue.chosen.clear()
    for (const item of items) queue.chosen.set(item.id, item)
    queue.failures = new Map([...queue.failures].filter(([id]) => queue.chosen.has(id)))
    changed()
  }
  const oldest = button({ 'data-queue': 'oldest' }, '', () => choose(queue.chosen.size > 0 ? [] : oldestOf(context)))
  return {
    oldest,
    choose,
    toggle(id: number, isChosen: boolean) {
      const others = [...queue.chosen.values()].filter((one) => one.id !== id)
      choose(isChosen ? [...others, ...shownItems(context).filter((one) => one.id === id)] : others)
    },
    update() {
      const { length } = oldestOf(context)
      oldest.hidden = length === 0
      oldest.textContent = queue.chosen.size > 0 ? texts.queueNone : texts.queueOldest(format.count(length))
    },
  }
}

/** The oldest rows that can be chosen together: those with the first action that any has. */
function oldestOf(context: DeskContext): readonly ActionItem[] {
  const items = shownItems(context)
  const kind = kinds.find((one) => items.some((item) => actionsFor(context, item).includes(one)))
  return items.filter((item) => kind !== undefined && actionsFor(context, item).includes(kind)).slice(0, chosenMax)
}

/** The buttons of the actions, each enabled if every chosen row has it. */
function createActs(context: DeskContext, open: (kind: ActionKind, opener: HTMLElement) => void) {
  const buttons = kinds.map((kind) => {
    const made = button({ 'data-act': kind }, context.texts.actions[kind], () => open(kind, made))
    return made
  })
  return {
    buttons,
    update() {
      const chosen = [...context.model.queue.chosen.values()]
      const offered = shownItems(context).flatMap((item) => actionsFor(context, item))
      for (const [index, kind] of kinds.entries()) {
        const isForAll = chosen.every((item) => actionsFor(context, item).includes(kind))
        buttons[index]?.toggleAttribute('hidden', !offered.includes(kind))
        buttons[index]?.toggleAttribute('disabled', chosen.length === 0 || !isForAll)
      }
    },
  }
}

/** How much is shown, the way to the rest, and why the rows could not be read. */
function createEnd(context: DeskContext): PageView {
  const { model, texts, format } = context
  const { queue } = model
  const on = button({}, texts.queueOn, () => {
    context.ask(fragmentOfQueue({ ...placeOf(context), after: queue.items?.at(-1)?.id ?? 0, at: 0 }))
  })
  const shown = html('p', { class: 'muted' })
  const fault = html('div', {})
  const showFault = createLiveSlot(fault)
  return {
    element: html('div', {}, fault, shown, on),
    update() {
      const { items, count, refusal } = queue
      on.hidden = (items ?? []).length < queueRows
      shown.textContent = items === null ? '' : texts.shownOf(format.count(items.length), countedText(format, count))
      showFault(refusal === null ? [] : refusalElements(context, refusal))
    },
  }
}
