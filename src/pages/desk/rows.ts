import type { Refusal } from '../kit/api.ts'
import { createCsv } from '../kit/csv.ts'
import { button, html } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'
import { createLiveSlot, listTable, small } from './parts.ts'
import { refusalElements } from './refusal.ts'
import {
  isFiltered,
  type ListFilter,
  listRows,
  noFilter,
  type RowSource,
  unwalked,
  type Walked,
  walkOn,
  walkToEnd,
} from './walk.ts'

/**
 * Most pages that are read at a time. Several are if the filter leaves few rows of each, or if many
 * rows are read again.
 */
const pagesMax = 10

/**
 * A list on the page: its rows, a line that says how much of it is shown, and the button for its
 * file.
 */
export interface RowsView {
  readonly element: HTMLElement
  /** Draws the rows again, with their present ages. */
  update(): void
  /** Reads the list from its beginning, with another filter. */
  filterBy(filter: ListFilter): void
  /**
   * Called when there is a new event, or when the reader has done something (`isOwn`), which the
   * list shows at once: it is read again, as far as it is shown. For an event it is read again if
   * only its first page is shown; otherwise there is a button for that, so that nothing jumps.
   */
  renew(isOwn: boolean): void
}

/** Makes the view of a list. `walked` is the part of it that was read already. */
export function createRows(context: DeskContext, source: RowSource, walked: Walked = unwalked): RowsView {
  const { texts } = context
  const body = html('div', { class: 'list' })
  const show = createLiveSlot(body)
  const state = { walked, filter: noFilter, refusal: null as Refusal | null, hasNewer: false, run: 0 }
  const read = async (from: Walked, wanted = listRows) => {
    state.run += 1
    const { run, filter } = state
    more.disabled = true
    const next = await walkOn(source.read, filter, from, { wanted, pagesMax })
    if (run !== state.run) return // the filter or list has changed meanwhile
    state.refusal = 'kind' in next ? next : null
    if (!('kind' in next)) {
      const rows = [...from.rows, ...next.rows]
      Object.assign(state, { walked: { ...next, rows }, hasNewer: from === unwalked ? false : state.hasNewer })
    }
    update()
  }
  const more = button({}, texts.showMore, () => void read(state.walked))
  const newest = button({}, texts.showNewest, () => void read(unwalked))
  const save = createFileButton(context, source, () => state.filter)
  const update = () => {
    const { walked: shown, filter, refusal, hasNewer } = state
    const isUnread = shown === unwalked
    body.classList.toggle('skeleton', isUnread && refusal === null)
    more.disabled = false
    more.textContent = refusal !== null ? texts.tryAgain : isFiltered(filter) ? texts.searchOn : texts.showMore
    more.hidden = (isUnread && refusal === null) || shown.next === null
    newest.hidden = !hasNewer
    save.hidden = shown.rows.length === 0
    const table = listTable(
      context,
      shown.rows.map((row) => row.cells()),
    )
    const end = isUnread ? null : small(endText(context, shown, filter))
    show([...table, end, ...(refusal === null ? [] : refusalElements(context, refusal))])
  }
  update()
  return {
    element: html('div', { class: 'rows' }, newest, body, html('div', { class: 'row' }, more, save)),
    update,
    filterBy(filter) {
      Object.assign(state, { filter, walked: unwalked, refusal: null, hasNewer: false })
      update()
      void read(unwalked)
    },
    renew(isOwn) {
      const shown = state.walked.rows.length
      if (isOwn || shown <= listRows) return void read(unwalked, Math.max(shown, listRows))
      state.hasNewer = true
      update()
    },
  }
}

/** How much of the list is shown, and, with a filter, back to which time it was searched. */
function endText({ texts, format }: DeskContext, { rows, count, next, back }: Walked, filter: ListFilter): string {
  const shown = format.count(rows.length)
  if (next === null) return rows.length === 0 ? texts.noRows : texts.rowsAll(shown)
  const isSearched = isFiltered(filter) && back !== null
  const some = isSearched ? texts.foundSoFar(shown) : texts.rowsSome(shown)
  const found = count === null ? some : texts.shownOf(shown, format.count(count))
  if (!isSearched) return found
  return `${rows.length === 0 ? texts.noMatch : found} ${texts.readBackTo(format.time(back))}`
}

/**
 * A button that reads the whole list, and downloads the rows that pass the filter as a file. A
 * second press stops that, and there is no file.
 */
function createFileButton(context: DeskContext, source: RowSource, filterOf: () => ListFilter): HTMLButtonElement {
  const { texts, format, announce } = context
  let running: object | null = null
  const save = async () => {
    if (running !== null) {
      running = null
      label.textContent = texts.csv
      return
    }
    const own = {}
    running = own
    const refusal = await saveList(source, filterOf(), (count) => {
      if (running === own) label.textContent = texts.csvBusy(format.count(count))
      return running === own
    })
    if (running !== own) return
    running = null
    label.textContent = texts.csv
    if (refusal !== null) announce(texts[refusal.kind])
  }
  const label = html('span', {}, texts.csv)
  return button({ 'aria-label': texts.csvOf(source.title) }, label, () => void save())
}

/**
 * Downloads a CSV file with all rows of a list that pass the filter. `isWanted` gets the number of
 * rows so far; if it returns false, reading stops and there is no file. Returns the refusal of the
 * service because of which there is no file, otherwise null.
 */
async function saveList(
  { name, columns, read }: RowSource,
  filter: ListFilter,
  isWanted: (count: number) => boolean,
): Promise<Refusal | null> {
  const file = createCsv(columns)
  let count = 0
  const refusal = await walkToEnd(read, filter, (rows) => {
    file.add(rows.map((row) => row.values().map(asText)))
    count += rows.length
    return isWanted(count)
  })
  if (refusal === null && isWanted(count)) file.save(`${name}.csv`)
  return refusal
}

const asText = (value: string | number | null) => String(value ?? '')
