import { downloadCsv } from '../kit/csv.ts'
import { isZero } from '../kit/decimal.ts'
import { button, type Child, createSlot, html, type PageView } from '../kit/dom.ts'
import { type DeskContext, deskAmount, deskSymbol, durationText, type ListedState, sinceText } from './context.ts'
import { type DeskSummary, type OwnedDeposit, readOwnedDeposits } from './data.ts'
import { gapRange } from './findings.ts'
import { depositRow, listTable, small, storyButton } from './parts.ts'

/** Deposits that are read at once, and most that are read for one file. */
const pageRows = 20
const fileRows = 100
const fileRowsMax = 10_000

type Row = readonly [what: Child[], when: Child[]]

/** The path of a page of the deposits in a state, newest first. */
export function listPath(state: ListedState, limit = pageRows, before?: number): string {
  return `/ledger/deposits?state=${state}&limit=${limit}${before === undefined ? '' : `&before=${before}`}`
}

interface List {
  readonly id: string
  readonly title: string
  /** How many there are in all; null before they are loaded. */
  count(): number | null
  rows(): readonly Row[]
  file(): Promise<readonly (readonly string[])[]>
  /** More buttons below the list. */
  readonly more: readonly HTMLElement[]
}

/** A list with its file. */
function createList(context: DeskContext, { id, title, count, rows, file, more }: List): PageView {
  const { texts, model, format } = context
  const number = html('span', { class: 'muted' })
  const body = html('div', { class: 'list' })
  const fill = createSlot(body)
  const save = () => void file().then((lines) => downloadCsv(`${id}.csv`, lines))
  const download = button({ 'aria-label': texts.csvOf(title) }, texts.csv, save)
  const heading = html('h2', { id, tabindex: '-1' }, `${title} `, number)
  return {
    element: html(
      'section',
      { class: 'card' },
      html('div', { class: 'row between' }, heading, download),
      body,
      ...more,
    ),
    update() {
      const all = count()
      number.textContent = all === null ? '' : format.count(all)
      download.hidden = (all ?? 0) === 0
      body.classList.toggle('skeleton', all === null)
      fill(JSON.stringify([all, model.summary, Object.values(model.lists)]), () => {
        const list = rows()
        return list.length === 0 ? [all === null ? null : small(texts.none)] : [listTable(context, list)]
      })
    },
  }
}

/** Held or refused deposits, newest first. */
export function createDeposits(context: DeskContext, state: ListedState): PageView {
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
    while (all.length < fileRowsMax) {
      const page = await readPage(all.at(-1)?.id, fileRows)
      all.push(...(page ?? []))
      if (page === null || page.length < fileRows) break
    }
    const lines = all.map(({ at, uid, amount, cuy, txid, address, reason, why }) => {
      return [at, String(uid), amount, deskSymbol(context, cuy), txid, address, reason ?? '', why ?? '']
    })
    return [['created_at', 'uid', 'amount', 'currency', 'txid', 'address', 'reason', 'why'], ...lines]
  }
  const view = createList(context, {
    ...{ id: state, title: state === 'held' ? texts.heldHeading : texts.refusedHeading, file },
    count: () => model.lists[state]?.count ?? null,
    rows: () => (model.lists[state]?.list ?? []).map((deposit) => depositRow(context, deposit)),
    more: [html('div', { class: 'row' }, older)],
  })
  const update = () => {
    const page = model.lists[state]
    older.hidden = page === null || page.list.length >= page.count
    view.update()
  }
  return { ...view, update }
}

/** A list of something in the summary. */
function createSummaryList<Item>(
  context: DeskContext,
  [id, title]: readonly [id: string, title: string],
  select: (summary: DeskSummary) => readonly Item[],
  row: (item: Item) => Row,
  [names, values]: readonly [names: readonly string[], values: (item: Item) => readonly string[]],
): PageView {
  const items = () => (context.model.summary === null ? [] : select(context.model.summary))
  return createList(context, {
    ...{ id, title, more: [] },
    count: () => (context.model.summary === null ? null : items().length),
    rows: () => items().map(row),
    file: async () => [names, ...items().map(values)],
  })
}

/** Gaps, differences and endpoints. */
export function createSummaryLists(context: DeskContext): readonly PageView[] {
  const { texts, format } = context
  const gaps = createSummaryList(
    context,
    ['gaps', texts.gapsHeading],
    (summary) => summary.gaps,
    (gap) => [
      [storyButton(context, gapRange(context, gap), `gap ${gap.from}`), small(gap.why, 'en')],
      [sinceText(context, gap.since), small(texts.tries(format.count(gap.attempts)))],
    ],
    [
      ['from', 'to', 'since', 'attempts', 'why'],
      ({ from, to, since, attempts, why }) => [String(from), String(to), since, String(attempts), why],
    ],
  )
  const differences = createSummaryList(
    context,
    ['differences', texts.differencesHeading],
    differencesOf,
    ({ cuy, address, since, sum }) => {
      const symbol = deskSymbol(context, cuy)
      const name = address === null ? deskAmount(context, sum, cuy, 'always') : storyButton(context, address, address)
      return [
        [name, small(address === null ? null : `${symbol} · ${kindText(sum)}`)],
        [since && sinceText(context, since)],
      ]
    },
    [
      ['currency', 'difference', 'address', 'since'],
      (one) => [deskSymbol(context, one.cuy), one.sum, one.address ?? '', one.since ?? ''],
    ],
  )
  const kindText = (sum: string) => (sum === 'more' ? texts.more : texts.less)
  const endpoints = createSummaryList(
    context,
    ['endpoints', texts.endpointsHeading],
    (summary) => summary.endpoints,
    ({ number, behindSeconds, failingSince, lastFailure }) => [
      [storyButton(context, texts.endpoint(format.count(number)), `endpoint ${number}`), small(lastFailure, 'en')],
      [
        behindSeconds === 0 ? texts.upToDate : texts.late(durationText(context, behindSeconds)),
        small(failingSince && texts.failing(sinceText(context, failingSince))),
      ],
    ],
    [
      ['number', 'behind_seconds', 'failing_since', 'last_failure'],
      (one) => [String(one.number), String(one.behindSeconds), one.failingSince ?? '', one.lastFailure ?? ''],
    ],
  )
  return [gaps, differences, endpoints]
}

/** The sum of each currency that differs, and the addresses whose difference has an alarm, with its sign. */
function differencesOf({ currencies, alarms }: DeskSummary) {
  const sums = currencies.filter(({ unexplained, differing }) => !isZero(unexplained) || differing > 0)
  const addresses = alarms.filter(({ kind }) => kind.startsWith('reconciliation-'))
  return [
    ...sums.map(({ cuy, unexplained }) => ({ cuy, sum: unexplained, address: null, since: null })),
    ...addresses.map(({ kind, subject, since }) => {
      const [cuy = '', address = ''] = subject.split(':')
      return { cuy: Number(cuy), sum: kind === 'reconciliation-surplus' ? 'more' : 'less', address, since }
    }),
  ]
}
