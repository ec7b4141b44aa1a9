/** The statement of one user or of all users. */
import { dayMs } from '../../worker/common/time.ts'
import type { Reply } from '../kit/api.ts'
import { downloadCsv } from '../kit/csv.ts'
import { difference, isZero, sumOf } from '../kit/decimal.ts'
import { button, type Child, html, setText } from '../kit/dom.ts'
import { lookUp } from '../kit/look-up.ts'
import { readerOf } from '../kit/read.ts'
import { postedStatementShape } from '../shapes.ts'
import { bridgeOf } from './bridge.ts'
import { type DeskContext, deskAmount, deskSymbol, typeName } from './context.ts'
import { markOf } from './data.ts'
import type { StatementTexts } from './languages/en-statements.ts'
import { fact, listTable, small, storyButton } from './parts.ts'
import type { Row } from './walk.ts'

/** Entries in one request. */
const rowsAtOnce = 1_000
/**
 * Most entries of a statement on the page, because more make it slow. The file contains all of
 * them.
 */
const shownMax = 5_000

/**
 * A statement: `from` and `to` are its period, and the balances are those before `from` and at
 * `until`, without currencies that were at 0 at both. `list` has the entries read so far.
 */
type Statement = ReturnType<typeof readStatement>
type Entry = Statement['list'][number]

const readPeriod = readerOf(postedStatementShape)

/** Reads the data of `GET /ledger/statement`. */
function readStatement(data: unknown) {
  const statement = readPeriod(data)
  const balances = statement.balances.filter(({ opening, closing }) => !(isZero(opening) && isZero(closing)))
  return { ...statement, balances }
}

/**
 * Which statement the reader wants. `uid` is empty for all users. `period` is a day (`2026-11-27`)
 * or a month (`2026-11`).
 */
interface Wanted {
  readonly uid: string
  readonly period: string
}

/** The part of the desk in which the reader chooses a statement and sees it. */
export interface StatementView {
  /**
   * The form that chooses a statement, a line that says how far reading is, and the place of the
   * statement.
   */
  readonly elements: readonly HTMLElement[]
  /** Shows the statement of a user for the month that is chosen. At first it is the present one. */
  showUser(uid: string): void
}

/** Makes the form and the place of the statement. */
export function createStatementView(context: DeskContext): StatementView {
  const { statement: texts } = context.texts
  const progress = html('p', { class: 'muted', role: 'status' })
  const result = html('div', { class: 'list' })
  let asked = 0
  const read = async ({ uid, period }: Wanted, max: number): Promise<Statement | null> => {
    asked += 1
    const own = asked
    const query = `${period.length === 7 ? 'month' : 'day'}=${period}${uid === '' ? '' : `&uid=${uid}`}&limit=${rowsAtOnce}`
    const answer = await readAll(context, query, max, (done, all) => setText(progress, texts.reading(done, all)))
    if (own !== asked) return null // the reader has asked for another statement meanwhile
    setText(progress, '')
    if (answer.ok) return answer.data
    result.replaceChildren(
      html('p', { class: 'fault' }, context.texts[answer.kind]),
      ...[small(answer.msg, 'en')].filter((one) => one !== null),
    )
    return null
  }
  const show = async (wanted: Wanted) => {
    const statement = await read(wanted, shownMax)
    if (statement === null) return
    const download = async () => {
      const whole = await read(wanted, Number.POSITIVE_INFINITY)
      if (whole !== null)
        downloadCsv(`statement-${wanted.uid || 'all'}-${wanted.period}.csv`, fileOf(context, wanted, whole))
    }
    const actions = html(
      'div',
      { class: 'row' },
      button({}, texts.print, print),
      button({}, context.texts.csv, () => void download()),
    )
    result.replaceChildren(...statementParts(context, texts, wanted, statement, actions))
    form.element.scrollIntoView({ block: 'start' })
  }
  const form = createForm(context, texts, (wanted) => void show(wanted))
  return { elements: [form.element, progress, result], showUser: form.showUser }
}

/**
 * Fields for a user, and for a day or a month. Yesterday is preset, because that is the day which
 * operators close.
 */
function createForm(context: DeskContext, texts: StatementTexts, show: (wanted: Wanted) => void) {
  const now = context.api.now() ?? performance.timeOrigin
  const iso = (at: number) => new Date(at).toISOString()
  const uid = html('input', {
    id: 'statement-uid',
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'off',
    maxlength: '20',
  })
  const kind = html(
    'select',
    { id: 'statement-period' },
    html('option', { value: 'day' }, texts.day),
    html('option', { value: 'month' }, texts.month),
  )
  const day = html('input', { id: 'statement-day', type: 'date', value: iso(now - dayMs).slice(0, 10) })
  const month = html('select', { id: 'statement-month', hidden: '' })
  const [year = 0, index = 0] = iso(now).slice(0, 7).split('-').map(Number)
  for (let back = 0; back < 36; back += 1) {
    const value = iso(Date.UTC(year, index - 1 - back)).slice(0, 7)
    month.append(html('option', { value }, value))
  }
  const labelled = (text: string, field: HTMLElement) => html('div', {}, html('label', { for: field.id }, text), field)
  const fields = [labelled(texts.day, day), labelled(texts.month, month)] as const
  const choose = () => {
    for (const [n, field] of fields.entries()) field.hidden = (n === 0) !== (kind.value === 'day')
  }
  month.hidden = false
  choose()
  kind.addEventListener('change', choose)
  const fault = html('p', { class: 'fault', role: 'alert' })
  const ask = () => {
    const user = uid.value.trim().replace(/^(user|#|用户)\s*/i, '')
    const isUser = /^\d{0,16}$/.test(user)
    uid.setAttribute('aria-invalid', String(!isUser))
    setText(fault, isUser ? '' : texts.badUser)
    if (isUser) show({ uid: user, period: kind.value === 'day' ? day.value : month.value })
  }
  const go = button({}, texts.show, ask)
  const row = html('div', { class: 'filter' }, labelled(texts.user, uid), labelled(texts.period, kind), ...fields, go)
  return {
    element: html('div', {}, row, fault),
    showUser(user: string) {
      Object.assign(uid, { value: user })
      Object.assign(kind, { value: 'month' })
      choose()
      ask()
    },
  }
}

function statementParts(
  context: DeskContext,
  texts: StatementTexts,
  { uid, period }: Wanted,
  { to, until, balances, list, count }: Statement,
  actions: HTMLElement,
): HTMLElement[] {
  const { format } = context
  const title = uid === '' ? texts.ofAll(period) : texts.ofUser(uid, period)
  const facts = balances.map(({ cuy, opening, closing }) =>
    fact(
      deskSymbol(context, cuy),
      html('span', {}, texts.before(deskAmount(context, opening, cuy))),
      ...(list.length < count ? [] : sumLines(context, texts, list, cuy)),
      html('span', {}, texts.change(changeText(context, difference(closing, opening), cuy))),
      html('strong', {}, texts.after(deskAmount(context, closing, cuy))),
    ),
  )
  const notes = [
    ...(until < to ? [texts.running(utc(until))] : []),
    ...(list.length < count ? [context.texts.shownOf(format.count(list.length), format.count(count))] : []),
  ]
  const rows = list.map((entry): Row => entryRow(context, texts, entry, uid === ''))
  const shown: Child[] = rows.length === 0 ? [html('p', { class: 'muted' }, texts.none)] : listTable(context, rows)
  return [
    html('h3', {}, title),
    html('p', { class: 'muted' }, location.host),
    ...notes.map((line) => html('p', { class: 'muted' }, line)),
    html('dl', { class: 'delays' }, ...facts),
    actions,
    ...(uid === '' ? holdings(context, texts) : []),
    html('div', {}, ...shown),
  ]
}

/** The sums that are owed and held, for the statement of all users. */
function holdings(context: DeskContext, texts: StatementTexts): HTMLElement[] {
  const currencies = context.model.summary?.currencies ?? []
  const tables = html('div', { class: 'currencies' }, ...currencies.map((one) => bridgeOf(context, one)))
  return currencies.length === 0 ? [] : [html('h4', {}, texts.holdings), tables]
}

/** How many entries of each type there are in a currency, and their sum. */
function sumLines(context: DeskContext, texts: StatementTexts, list: readonly Entry[], cuy: number): HTMLElement[] {
  const own = list.filter((entry) => entry.cuy === cuy)
  return [...new Set(own.map(({ type }) => type))]
    .sort((a, b) => a - b)
    .map((type) => {
      const amounts = own.filter((entry) => entry.type === type).map(({ amt }) => amt)
      const name = lookUp(context.texts.sums, type) ?? String(type)
      const sum = changeText(context, sumOf(amounts), cuy)
      return html('span', {}, context.texts.pair(texts.ofType(name, context.format.count(amounts.length)), sum))
    })
}

const changeText = (context: DeskContext, amount: string, cuy: number) =>
  isZero(amount) ? deskAmount(context, amount, cuy) : deskAmount(context, amount, cuy, 'always')

/**
 * A time in UTC and not in the reader's time zone, because the periods of statements are days and
 * months of UTC.
 */
const utc = (at: string) => at.slice(0, 16).replace('T', ' ')

function entryRow(context: DeskContext, texts: StatementTexts, entry: Entry, isOfAll: boolean): Row {
  const { uid, osn, by, cuy, amt, balance, created_at, to, txid } = entry
  const name = `${deskAmount(context, amt, cuy, 'always')} ${wordOf(context, texts, entry)}`
  const user = isOfAll ? small(context.texts.user(String(uid))) : null
  const after = isOfAll ? null : small(texts.balance(deskAmount(context, balance, cuy)))
  return [
    [
      storyButton(context, name, `${uid} ${osn}`),
      user,
      small(osn),
      small(to),
      small(txid),
      small(markOf(entry)),
      small(by),
    ],
    [utc(created_at), after],
  ]
}

/** The word for an entry: of this page, or of its type. */
const wordOf = (context: DeskContext, texts: StatementTexts, { what, type }: Entry): string =>
  lookUp(texts.words, what) ?? typeName(context, type)

/**
 * Prints the statement alone: the attribute `data-paper` has the style sheet hide all other parts
 * of the page until printing has ended.
 */
function print(): void {
  document.body.dataset.paper = ''
  window.addEventListener('afterprint', () => delete document.body.dataset.paper, { once: true })
  window.print()
}

const columns = [
  ...[
    'kind',
    'id',
    'uid',
    'osn',
    'type',
    'what',
    'cuy',
    'symbol',
    'amt',
    'balance',
    'mark',
    'to',
    'txid',
    'created_at',
    'by',
  ],
]

/**
 * The statement as a table. That of all users goes on with what is owed and held now, and what lies
 * between, so that an operator has the month in one file.
 */
function fileOf(context: DeskContext, { uid }: Wanted, { from, until, balances, list }: Statement): string[][] {
  const sum = (kind: string, cuy: number, amount: string, at: string) => [
    ...[kind, '', '', '', '', '', String(cuy), deskSymbol(context, cuy), amount, '', '', '', '', at, ''],
  ]
  const entries = list.map(({ id, uid, osn, type, what, cuy, amt, balance, mark, to, txid, created_at, by }) =>
    [
      ...['entry', id, uid, osn, type, what, cuy, deskSymbol(context, cuy), amt, balance, mark],
      ...[to ?? '', txid ?? '', created_at, by],
    ].map(String),
  )
  return [
    columns,
    ...balances.map(({ cuy, opening }) => sum('opening', cuy, opening, from)),
    ...entries,
    ...balances.map(({ cuy, closing }) => sum('closing', cuy, closing, until)),
    ...(uid === '' ? holdingLines(context) : []),
  ]
}

/**
 * Lines of the kinds `owed`, `held` (which the lines `moved`, `destroyed` and `unexplained` make
 * up), and `difference` for each address that holds something else than is recorded.
 */
function holdingLines(context: DeskContext): string[][] {
  const { summary } = context.model
  const line = (kind: string, what: string, cuy: number, amount: string, to: string, at: string) => [
    ...[kind, '', '', '', '', what, String(cuy), deskSymbol(context, cuy), amount, '', '', to, '', at, ''],
  ]
  return [
    ...(summary?.currencies ?? []).flatMap(({ cuy, owed, held, held_at, held_by, destroyed, unexplained }) => [
      line('owed', '', cuy, owed, '', ''),
      ...(held === null ? [] : [line('held', '', cuy, held, '', held_at ?? '')]),
      ...held_by.map(({ what, sum }) => line('moved', what, cuy, sum, '', held_at ?? '')),
      line('destroyed', '', cuy, difference('0', destroyed), '', held_at ?? ''),
      line('unexplained', '', cuy, unexplained, '', held_at ?? ''),
    ]),
    ...(summary?.differences ?? []).map(({ cuy, address, amt, since }) =>
      line('difference', '', cuy, amt, address, since),
    ),
  ]
}

/**
 * Reads the pages of a statement until its end, or until it has `max` entries. Balances and `until`
 * are those of the last page.
 */
async function readAll(
  { api, format }: DeskContext,
  query: string,
  max: number,
  progress: (done: string, all: string) => void,
): Promise<Reply<Statement>> {
  const list: Entry[] = []
  for (;;) {
    const after = list.at(-1)?.id
    const path = `/ledger/statement?${query}${after === undefined ? '' : `&after=${after}`}`
    const answer = await api.get(path, readStatement)
    if (!answer.ok) return answer
    const { data } = answer
    list.push(...data.list)
    if (data.list.length === 0 || list.length >= Math.min(data.count, max))
      return { ...answer, data: { ...data, list } }
    progress(format.count(list.length), format.count(data.count))
  }
}
