/** Files for the reader: the history as CSV, and statements. */
import type { Refusal, Reply } from '../kit/api.ts'
import { downloadCsv } from '../kit/csv.ts'
import { isZero } from '../kit/decimal.ts'
import { button, html, setText } from '../kit/dom.ts'
import { type ListPage, readerOf } from '../kit/read.ts'
import { statementShape } from '../shapes.ts'
import { amountText, currencyWith, type DepositContext } from './context.ts'
import { type HistoryEntry, readHistory } from './data.ts'
import { entryName, type LedgerRow, ledgerTable } from './ledger-table.ts'
import { historyPath } from './paths.ts'
import { refusalTitle } from './refusal.ts'

/** Entries in one request, for the history and for a statement. */
const rowsAtOnce = { history: 100, statement: 1_000 }
/**
 * Most entries of a statement on the page, because more make a phone slow. The file contains all of
 * them.
 */
const shownMax = 5_000
/** Months to choose from, including the current one. */
const months = 36

/**
 * Downloads a CSV file with every entry of the currency that the history shows. `progress` gets
 * sentences about how far it is.
 */
export async function downloadHistory(context: DepositContext, progress: (words: string) => void): Promise<void> {
  const { model, api } = context
  const { filter } = model
  const read = (last?: number) => api.get(historyPath(filter, rowsAtOnce.history, last), readHistory)
  const answer = await readAll(context, read, progress)
  if (answer?.ok) downloadCsv('history.csv', [namesOf(context), ...answer.data.list.map((one) => rowOf(context, one))])
  if (answer?.ok !== false) return
  model.refusal = answer
  context.update()
}

/**
 * A statement of the month from `from` to `to`. `until` is `to`, or the time of the statement while
 * the month still runs. The opening balances are from before `from`, the closing ones at `until`.
 * `list` has the entries read so far.
 */
type Statement = ReturnType<typeof readStatement>
type StatementEntry = Statement['list'][number]

/** The word for an entry. A fee is named as such, all others by their type. */
const wordOf = (context: DepositContext, what: string, type: number) =>
  what === 'fee' ? context.texts.fee : entryName(context, type)

const readStatement = readerOf(statementShape)

/** Leaves out currencies that have no entry and no balance. */
function withAmounts(statement: Statement): Statement {
  const { balances, list } = statement
  const hasAny = new Set(list.map(({ cuy }) => cuy))
  const shown = balances.filter(({ cuy, opening, closing }) => hasAny.has(cuy) || !isZero(opening) || !isZero(closing))
  return { ...statement, balances: shown }
}

/**
 * Makes the form with which the reader chooses a month, and the element that shows the month's
 * statement.
 */
export function createStatement(context: DepositContext): readonly HTMLElement[] {
  const { texts, api } = context
  const now = new Date(api.now() ?? performance.timeOrigin)
  const values = Array.from({ length: months }, (_, n) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - n)).toISOString().slice(0, 7),
  )
  const month = html('select', { id: 'month' }, ...values.map((value) => html('option', { value }, value)))
  const progress = html('p', { class: 'muted', role: 'status' })
  const result = html('div', { class: 'entries' })
  let asked = 0
  const read = async (max: number) => {
    asked += 1
    const own = asked
    const of = month.value
    const path = (last?: number) =>
      `/wallet/statement?month=${of}&limit=${rowsAtOnce.statement}${last === undefined ? '' : `&after=${last}`}`
    setText(progress, texts.asking)
    const answer = await readAll(
      context,
      (last) => api.get(path(last), readStatement),
      (words) => setText(progress, words),
      max,
    )
    setText(progress, '')
    if (own !== asked || answer === null) return null // the reader has asked for another statement meanwhile
    if (answer.ok) return withAmounts(answer.data)
    result.replaceChildren(html('p', { class: 'note warn' }, refusalTitle(context, answer) + texts.stop))
    return null
  }
  const show = async () => {
    const statement = await read(shownMax)
    if (statement !== null) result.replaceChildren(...statementParts(context, statement, download))
  }
  const download = async () => {
    const statement = await read(Number.POSITIVE_INFINITY)
    if (statement !== null) downloadCsv(`statement-${statement.from.slice(0, 7)}.csv`, fileOf(context, statement))
  }
  const label = html('label', { for: 'month' }, texts.month)
  const choice = html(
    'div',
    { class: 'row' },
    label,
    month,
    button({}, texts.show, () => void show()),
  )
  return [html('h3', {}, texts.statement), choice, progress, result]
}

/**
 * A time in UTC and not in the reader's time zone, because the months of statements are months of
 * UTC.
 */
const utc = (at: string) => at.slice(0, 16).replace('T', ' ')

function statementParts(context: DepositContext, statement: Statement, download: () => Promise<void>): HTMLElement[] {
  const { texts, model, format } = context
  const { from, to, until, list, count } = statement
  const { name, uid } = model.session
  const title = texts.statementOf(name ?? texts.user(uid ?? ''), from.slice(0, 7))
  const notes = [
    ...(until < to ? [texts.monthRuns(utc(until))] : []),
    ...(list.length < count ? [texts.shownOf(format.count(list.length), format.count(count)) + texts.stop] : []),
  ]
  const rows = rowsOf(context, statement)
  const none = html('p', { class: 'muted' }, texts.historyEmpty)
  return [
    html('p', {}, html('strong', {}, title)),
    ...notes.map((line) => html('p', { class: 'muted' }, line)),
    rows.length === 0 ? none : ledgerTable(context, rows),
    html(
      'div',
      { class: 'row' },
      button({}, texts.print, print),
      button({}, texts.download, () => void download()),
    ),
  ]
}

/**
 * Prints only the statement. Until printing has ended, the attribute `data-paper` makes the style
 * sheet hide all other parts of the page.
 */
function print(): void {
  document.body.dataset.paper = ''
  window.addEventListener('afterprint', () => delete document.body.dataset.paper, { once: true })
  window.print()
}

/** The rows of each currency: opening balance, entries, closing balance. */
function rowsOf(context: DepositContext, { from, until, balances, list }: Statement): readonly LedgerRow[] {
  const { texts } = context
  const sum = (name: string, at: string, amount: string, cuy: number): LedgerRow => ({
    name,
    time: html('time', { datetime: at, class: 'muted' }, utc(at)),
    remark: '',
    more: [],
    amount: amountText(context, amount, cuy),
    balance: '',
  })
  const row = ({ type, what, to, txid, created_at, osn, mark, amt, balance, cuy }: StatementEntry): LedgerRow => ({
    ...sum(wordOf(context, what, type), created_at, amt, cuy),
    more: [to, type === 1 ? null : txid].flatMap((one) => (one === null ? [] : html('span', { class: 'muted' }, one))),
    remark: type === 1 || mark === '' ? osn : `${osn} · ${mark}`,
    amount: amountText(context, amt, cuy, 'always'),
    balance: amountText(context, balance, cuy),
  })
  return balances.flatMap(({ cuy, opening, closing }) => [
    sum(texts.opening, from, opening, cuy),
    ...list.filter((one) => one.cuy === cuy).map(row),
    sum(texts.closing, until, closing, cuy),
  ])
}

const namesOf = ({ texts }: DepositContext) => [
  ...[texts.time, texts.entry, texts.filter, texts.amount, texts.balance, texts.reference, texts.remark],
]

const rowOf = (context: DepositContext, { created_at, type, cuy, amt, balance, osn, mark }: HistoryEntry) => [
  ...[created_at, entryName(context, type), currencyWith(context, cuy)?.symbol ?? '', amt, balance, osn, mark],
]

function fileOf(context: DepositContext, { from, until, balances, list }: Statement): string[][] {
  const { texts } = context
  const sum = (at: string, name: string, cuy: number, balance: string) => [
    ...[at, name, currencyWith(context, cuy)?.symbol ?? '', '', balance, '', '', '', ''],
  ]
  const openings = balances.map(({ cuy, opening }) => sum(from, texts.opening, cuy, opening))
  const closings = balances.map(({ cuy, closing }) => sum(until, texts.closing, cuy, closing))
  const rows = list.map((one) => {
    const [at = '', , ...rest] = rowOf(context, one)
    return [at, wordOf(context, one.what, one.type), ...rest, one.to ?? '', one.txid ?? '']
  })
  const names = [...namesOf(context), texts.address, texts.txid]
  return [names, ...openings, ...rows, ...closings]
}

/**
 * Reads the pages of a list until its end, or until it has `max` entries. The result has the joined
 * list and the other members of the last page. Null if the reader's account has changed meanwhile.
 */
async function readAll<Item extends HistoryEntry, Page extends ListPage<Item>>(
  { model, texts, format }: DepositContext,
  read: (last?: number) => Promise<Reply<Page>>,
  progress: (words: string) => void,
  max: number = Number.POSITIVE_INFINITY,
): Promise<{ readonly ok: true; readonly data: Page } | Refusal | null> {
  const { account } = model
  const list: Item[] = []
  for (;;) {
    const answer = await read(list.at(-1)?.id)
    if (model.account !== account) return null
    if (!answer.ok) return answer
    const { data } = answer
    list.push(...data.list)
    if (data.list.length === 0 || list.length >= Math.min(data.count, max)) return { ok: true, data: { ...data, list } }
    progress(texts.downloading(format.count(list.length), format.count(data.count)))
  }
}
