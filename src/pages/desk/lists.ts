import { downloadCsv } from '../kit/csv.ts'
import { button, type Child, html, type PageView } from '../kit/dom.ts'
import {
  type DeskContext,
  depositAmount,
  deskAmount,
  deskSymbol,
  type ListedState,
  listedStates,
  sinceText,
  stateName,
  typeName,
} from './context.ts'
import { type DeskEvent, type OwnedDeposit, readOwnedDeposits } from './data.ts'
import { gapRange, seenIn } from './findings.ts'
import { createLiveSlot, depositRow, hint, listTable, type Row, small, storyButton } from './parts.ts'
import { reasonWords } from './reasons.ts'
import { differenceWords } from './words.ts'

/** Deposits that are read at once, for the page and for a file. */
const pageRows = 20
const fileRows = 100
/** The summary has at most so many ranges of unread blocks. */
const gapsMax = 20

/** The path of a page of the deposits in a state, newest first. */
export function listPath(state: ListedState, limit = pageRows, before?: number): string {
  return `/ledger/deposits?state=${state}&limit=${limit}${before === undefined ? '' : `&before=${before}`}`
}

interface List {
  readonly id: string
  readonly title: string
  /** What is in it. */
  readonly help: string
  /** How many there are in all; null before they are loaded. */
  count(): number | null
  rows(): readonly Row[]
  /** The rows of its file, all of them or with a last row that says where they end; null if they could not be read. */
  file(): Promise<readonly (readonly string[])[] | null>
  /** What belongs below the rows. */
  notes?(): readonly Child[]
  /** More buttons below the list. */
  readonly more: readonly HTMLElement[]
}

/** A list with its file. */
function createList(context: DeskContext, { id, title, help, count, rows, file, notes, more }: List): PageView {
  const { texts, format } = context
  const number = html('span', { class: 'muted' })
  const body = html('div', { class: 'list' })
  const show = createLiveSlot(body)
  let isBusy = false
  const save = async () => {
    if (isBusy) return
    isBusy = true
    const lines = await file()
    if (lines !== null) downloadCsv(`${id}.csv`, lines)
    isBusy = false
  }
  const download = button({ 'aria-label': texts.csvOf(title) }, texts.csv, () => void save())
  const heading = html('h2', { id, tabindex: '-1' }, `${title} `, number)
  const head = html('div', { class: 'row between' }, heading, download)
  return {
    element: html('section', { class: 'card' }, head, hint(help), body, ...more),
    update() {
      const all = count()
      const list = rows()
      number.textContent = all === null ? '' : format.count(all)
      download.hidden = list.length === 0
      body.classList.toggle('skeleton', all === null)
      show([...listTable(context, list, all ?? 0), ...(notes?.() ?? [])])
    },
  }
}

/** Held or refused deposits, newest first. */
function createDeposits(context: DeskContext, state: ListedState): PageView {
  const { texts, model, api } = context
  const older = button({}, texts.older, () => {
    const known = model.lists[state]
    void readPage(known?.list.at(-1)?.id, pageRows).then((page) => {
      if (page === null || known === null || model.lists[state] !== known) return
      model.lists[state] = { list: [...known.list, ...page], count: known.count }
      context.update()
    })
  })
  const readPage = async (before: number | undefined, limit: number) => {
    const answer = await api.get(listPath(state, limit, before), readOwnedDeposits)
    if (answer.ok) return answer.data.list
    model.refusal = answer
    context.update()
    return null
  }
  const file = async () => {
    const all: OwnedDeposit[] = []
    for (let last = fileRows; last === fileRows; ) {
      const page = await readPage(all.at(-1)?.id, fileRows)
      if (page === null) return null
      all.push(...page)
      last = page.length
    }
    const lines = all.map(({ at, uid, amount, cuy, txid, address, reason, why }) => {
      return [at, String(uid), amount, deskSymbol(context, cuy), txid, address, reason ?? '', why ?? '']
    })
    return [['created_at', 'uid', 'amount', 'currency', 'txid', 'address', 'reason', 'why'], ...lines]
  }
  const view = createList(context, {
    ...(state === 'held'
      ? { title: texts.heldHeading, help: texts.heldHelp }
      : { title: texts.refusedHeading, help: texts.refusedHelp }),
    ...{ id: state, file },
    count: () => model.lists[state]?.count ?? null,
    rows: () => (model.lists[state]?.list ?? []).map((deposit) => depositRow(context, deposit)),
    more: [older],
  })
  const update = () => {
    const page = model.lists[state]
    older.hidden = page === null || page.list.length >= page.count
    view.update()
  }
  return { ...view, update }
}

/** A list that comes whole. */
interface WholeList<Item> extends Pick<List, 'id' | 'title' | 'help' | 'notes'> {
  /** Null before they are loaded. */
  items(): readonly Item[] | null
  /** How many there are in all, where the list can have fewer. */
  all?(): number
  /** Where its file with so many rows ends, if `all` does not say it; undefined if it has all. */
  ends?(shown: number): string | undefined
  row(item: Item): Row
  readonly columns: readonly string[]
  values(item: Item): readonly (string | number | null)[]
}

function createWholeList<Item>(context: DeskContext, list: WholeList<Item>): PageView {
  const { items, row, columns, values } = list
  const { texts, format } = context
  const text = (value: string | number | null) => String(value ?? '')
  const endOf = (shown: number) => {
    const all = list.all?.() ?? 0
    return all > shown ? texts.shownOf(format.count(shown), format.count(all)) : list.ends?.(shown)
  }
  return createList(context, {
    ...{ ...list, more: [] },
    count: () => (items() === null ? null : Math.max(items()?.length ?? 0, list.all?.() ?? 0)),
    rows: () => (items() ?? []).map(row),
    file: async () => {
      const rows = (items() ?? []).map((item) => values(item).map(text))
      const end = endOf(rows.length)
      return [columns, ...rows, ...(end === undefined ? [] : [[end]])]
    },
  })
}

function createGaps(context: DeskContext): PageView {
  const { model, texts, format } = context
  return createWholeList(context, {
    ...{ id: 'gaps', title: texts.gapsHeading, help: texts.gapsHelp },
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
    ...{ id: 'differences', title: texts.differencesHeading, help: texts.differencesHelp },
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
    values: ({ cuy, amount, address, since }) => [deskSymbol(context, cuy), amount, address, since],
  })
}

function createEvents(context: DeskContext): PageView {
  const { model, texts } = context
  const list = createWholeList(context, {
    ...{ id: 'events', title: texts.eventsHeading, help: texts.eventsHelp, ends: () => texts.eventsEnd },
    items: () => model.events,
    row: (event) => eventRow(context, event),
    columns: ['id', 'type', 'created_at', 'uid', 'amount', 'currency', 'txid', 'osn', 'reason', 'why'],
    values: ({ id, type, at, uid, cuy, amount, txid, entry, reason, why }) => {
      const symbol = deskSymbolOf(context, entry?.cuy ?? cuy)
      return [id, type, at, uid, entry?.amount ?? amount, symbol, txid, entry?.osn ?? null, reason, why]
    },
  })
  list.element.classList.add('wide')
  return list
}

const deskSymbolOf = (context: DeskContext, cuy: number | null) => (cuy === null ? null : deskSymbol(context, cuy))

/** What happened, and how much. Not every type has an amount; a type that this page does not know leads to its user. */
function eventRow(context: DeskContext, { type, uid, at, txid, cuy, amount, entry, reason, why }: DeskEvent): Row {
  const { texts } = context
  const [kind = '', state = ''] = type.split('.')
  const isDeposit = kind === 'deposit'
  const posted = type === 'entry.posted' && entry !== null ? typeName(context, entry.type) : type
  const sum = amount ?? entry?.amount ?? null
  const currency = entry?.cuy ?? cuy
  const about =
    sum === null || currency === null
      ? deskSymbolOf(context, currency)
      : isDeposit
        ? depositAmount(context, sum, currency)
        : deskAmount(context, sum, currency, 'always')
  const name = isDeposit ? texts.pair(texts.type1, stateName(context, state)) : posted
  const question = txid ?? (entry === null ? String(uid) : `${uid} ${entry.osn}`)
  const label = storyButton(context, [name, about].filter(Boolean).join(' · '), question)
  const reasonText = reason === null ? null : html('span', {}, reasonWords(context, reason, why).why)
  return [
    [label, reasonText, small(isDeposit ? null : (entry?.mark ?? null)), small(texts.user(String(uid)))],
    [sinceText(context, at)],
  ]
}

/** The lists, in their order on the page. */
export function createLists(context: DeskContext): readonly PageView[] {
  const deposits = listedStates.map((state) => createDeposits(context, state))
  return [...deposits, ...[createGaps, createDifferences, createEvents].map((create) => create(context))]
}
