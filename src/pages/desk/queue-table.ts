import { type Child, html } from '../kit/dom.ts'
import { actionsFor } from './action-buttons.ts'
import { faultOf, sumText } from './action-form.ts'
import type { DeskContext } from './context.ts'
import { type ActionItem, isPayout } from './data.ts'
import { createLiveSlot } from './parts.ts'
import { columnsOf, queueRow } from './queue-rows.ts'
import { chosenMax } from './queue-state.ts'

/** The rows of the queue, with a box in each that can be chosen. */
export interface QueueTable {
  readonly element: HTMLElement
  update(items: readonly ActionItem[]): void
  /** Moves the focus to the row with this id; if there is none, to the first row. */
  focus(id: number): void
}

/** The reader's acts on the rows. */
export interface QueueActs {
  toggle(id: number, isChosen: boolean): void
  /** Goes on with what is chosen. */
  goOn(): void
  /** Called before the story of a row is shown. */
  leave(id: number): void
}

/** Makes the table. `heading` gets the focus if there are no rows. */
export function createQueueTable(context: DeskContext, heading: HTMLElement, acts: QueueActs): QueueTable {
  const { queue } = context.model
  const element = html('div', { class: 'list' })
  const show = createLiveSlot(element)
  const boxes = () => [...element.querySelectorAll<HTMLInputElement>('input')]
  element.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement) acts.toggle(Number(target.value), target.checked)
  })
  element.addEventListener('keydown', (event) => {
    const index = boxes().indexOf(event.target as HTMLInputElement) // safe: -1 for anything else
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0
    if (index < 0 || (step === 0 && event.key !== 'Enter')) return
    event.preventDefault()
    if (step === 0) acts.goOn()
    else boxes()[index + step]?.focus()
  })
  return {
    element,
    update(items) {
      const { chosen } = queue
      const focused = boxes().indexOf(document.activeElement as HTMLInputElement) // safe: -1 for anything else
      element.classList.toggle('skeleton', queue.items === null && queue.refusal === null)
      show(tableElements(context, items, acts))
      for (const box of boxes()) {
        box.checked = chosen.has(Number(box.value))
        box.disabled = chosen.size >= chosenMax && !box.checked
      }
      // the row of the focus is gone, because somebody has decided about it
      const isLost = focused >= 0 && !element.contains(document.activeElement)
      if (isLost) (boxes()[focused] ?? boxes().at(-1) ?? heading).focus()
    },
    focus(id) {
      const row = element.querySelector<HTMLElement>(`[data-id="${id}"] :is(input, button)`)
      const target = row ?? element.querySelector<HTMLElement>('tbody :is(input, button)') ?? heading
      target.focus({ preventScroll: true })
      target.scrollIntoView({ block: 'nearest' })
    },
  }
}

function tableElements(context: DeskContext, items: readonly ActionItem[], acts: QueueActs): Child[] {
  const { texts, model } = context
  if (items.length === 0) return model.queue.items === null ? [] : [html('p', {}, texts.noRows)]
  const names = columnsOf(context, model.queue.place?.list ?? 'payouts')
  const heads = ['', ...names].map((name) =>
    html(name === '' ? 'td' : 'th', { scope: name === '' ? null : 'col' }, name),
  )
  const rows = items.map((item) => rowElement(context, item, names, acts))
  return [html('table', {}, html('thead', {}, html('tr', {}, ...heads)), html('tbody', {}, ...rows))]
}

function rowElement(context: DeskContext, item: ActionItem, names: readonly string[], acts: QueueActs): HTMLElement {
  const { id } = item
  const failure = context.model.queue.failures.get(id)
  const place = isPayout(item) ? item.to : item.txid
  const label = context.texts.queueChoose(`${sumText(context, [item])}, ${place}, ${id}`)
  const box = html('input', { type: 'checkbox', value: String(id), 'aria-label': label })
  const cells = queueRow(context, item, () => acts.leave(id)).map((content, index) => {
    const faults = index > 0 || failure === undefined ? [] : faultOf(context, failure)
    return html('td', { 'data-name': names[index] ?? '' }, ...content, ...faults)
  })
  return html(
    'tr',
    { 'data-id': String(id) },
    html('td', {}, actionsFor(context, item).length > 0 ? box : null),
    ...cells,
  )
}
