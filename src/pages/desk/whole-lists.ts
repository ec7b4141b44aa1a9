import { downloadCsv } from '../kit/csv.ts'
import { button, type Child, html, type PageView } from '../kit/dom.ts'
import { type DeskContext, deskSymbol, sinceText } from './context.ts'
import { gapRange, seenIn } from './findings.ts'
import { createLiveSlot, hint, listTable, small, storyButton } from './parts.ts'
import type { Row } from './walk.ts'
import { differenceWords } from './words.ts'

/** The summary has at most this many ranges of unread blocks. */
const gapsMax = 20

/** A list that the desk's summary contains, so that no pages of it are requested. */
interface WholeList<Item> {
  readonly id: string
  readonly title: string
  /** A sentence that says what the list contains. */
  readonly help: string
  /** Null before the summary is loaded. */
  items(): readonly Item[] | null
  /** How many items there are altogether. Absent if the summary does not say it. */
  all?(): number
  /**
   * Needed without `all`. Returns the last line of a file with `shown` rows, which says that there
   * can be more rows; undefined if the list is complete.
   */
  ends?(shown: number): string | undefined
  row(item: Item): Row
  /** Notes to be shown below the rows. */
  notes?(): readonly Child[]
  readonly columns: readonly string[]
  values(item: Item): readonly (string | number | null)[]
}

/** The part of the page with a list from the summary, and with a button for its file. */
function createWholeList<Item>(context: DeskContext, list: WholeList<Item>): PageView {
  const { id, title, help, items, row, columns, values, notes } = list
  const { texts, format } = context
  const number = html('span', { class: 'muted' })
  const body = html('div', { class: 'list' })
  const show = createLiveSlot(body)
  const endOf = (shown: number) => {
    const all = list.all?.() ?? 0
    return all > shown ? texts.shownOf(format.count(shown), format.count(all)) : list.ends?.(shown)
  }
  const save = () => {
    const rows = (items() ?? []).map((item) => values(item).map((value) => String(value ?? '')))
    const end = endOf(rows.length)
    downloadCsv(`${id}.csv`, [columns, ...rows, ...(end === undefined ? [] : [[end]])])
  }
  const download = button({ 'aria-label': texts.csvOf(title) }, texts.csv, save)
  const heading = html('h2', { id, tabindex: '-1' }, `${title} `, number)
  const head = html('div', { class: 'row between' }, heading, download)
  return {
    element: html('section', { class: 'card' }, head, hint(help), body),
    update() {
      const known = items()
      const rows = (known ?? []).map(row)
      const end = list.all === undefined ? undefined : endOf(rows.length)
      number.textContent = known === null ? '' : format.count(Math.max(rows.length, list.all?.() ?? 0))
      download.hidden = rows.length === 0
      body.classList.toggle('skeleton', known === null)
      show([...listTable(context, rows), small(rows.length === 0 ? null : (end ?? null)), ...(notes?.() ?? [])])
    },
  }
}

function createGaps(context: DeskContext): PageView {
  const { model, texts, format } = context
  return createWholeList(context, {
    id: 'gaps',
    title: texts.gapsHeading,
    help: texts.gapsHelp,
    ends: (shown) => (shown < gapsMax ? undefined : texts.gapsEnd),
    items: () => model.summary?.gaps ?? null,
    row: (gap) => [
      [
        storyButton(context, gapRange(context, gap), `gap ${gap.from}`),
        small(gap.why, 'en'),
        small(seenIn(context, gap)),
      ],
      [sinceText(context, gap.since), small(texts.tries(format.count(gap.attempts)))],
    ],
    columns: ['from', 'to', 'since', 'attempts', 'why'],
    values: ({ from, to, since, attempts, why }) => [from, to, since, attempts, why],
  })
}

function createDifferences(context: DeskContext): PageView {
  const { model, texts } = context
  return createWholeList(context, {
    id: 'differences',
    title: texts.differencesHeading,
    help: texts.differencesHelp,
    items: () => model.summary?.differences ?? null,
    all: () => (model.summary?.currencies ?? []).reduce((sum, { differing }) => sum + differing, 0),
    row: (one) => {
      const { name, amount } = differenceWords(context, one)
      const words = html('span', {}, texts.pair(name, amount))
      return [[storyButton(context, one.address, one.address), words], [sinceText(context, one.since)]]
    },
    notes() {
      const words = (model.summary?.differences ?? []).map((one) => differenceWords(context, one))
      const remedies = new Map(words.map(({ name, remedy }) => [name, remedy]))
      return [...remedies].map(([name, remedy]) => hint(texts.pair(name, remedy)))
    },
    columns: ['currency', 'difference', 'address', 'since'],
    values: ({ cuy, amt, address, since }) => [deskSymbol(context, cuy), amt, address, since],
  })
}

/** The lists that the summary contains (unread blocks, differences), in their order on the page. */
export const createWholeLists = (context: DeskContext): readonly PageView[] =>
  [createGaps, createDifferences].map((create) => create(context))
