import { drawChart } from '../kit/chart.ts'
import { difference, isZero } from '../kit/decimal.ts'
import { button, createSlot, html, type PageView, setText } from '../kit/dom.ts'
import { amountText, currencyWith, type DepositContext } from './context.ts'
import { type HistoryEntry, readHistory } from './data.ts'
import { entryName, type LedgerRow, ledgerTable } from './ledger-table.ts'
import { createStatement, downloadHistory } from './papers.ts'
import { historyPath, pageRows } from './paths.ts'
import { loadPayouts, payoutParts } from './withdrawals.ts'

/**
 * Balances, history and statements. The page loads this script when the reader opens the wallet.
 */
export function createWallet(context: DepositContext): readonly PageView[] {
  const statement = html('section', { class: 'statement' }, ...createStatement(context))
  return [createBalances(context), createHistory(context), { element: statement, update() {} }]
}

/**
 * The balance in each currency. A currency that is no longer accepted is shown only with a balance.
 */
function createBalances(context: DepositContext): PageView {
  const { model, texts } = context
  const list = html('ul', { class: 'balances' })
  const fill = createSlot(list)
  return {
    element: html('section', {}, html('h3', {}, texts.balancesHeading), list),
    update() {
      const { balances, offer } = model
      const shown = (offer?.list ?? []).flatMap(({ cuy, symbol, retired }) => {
        const amount = balances?.get(cuy)
        return amount === undefined || (retired && isZero(amount)) ? [] : [[symbol, amount] as const]
      })
      list.classList.toggle('skeleton', balances === null || offer === null)
      fill(JSON.stringify(shown), () =>
        shown.map(([symbol, amount]) => {
          const number = html('strong', { class: 'number' }, context.format.amount(amount))
          return html('li', {}, html('span', {}, symbol), number)
        }),
      )
    },
  }
}

/** The ledger entries, with a filter by currency, a chart of the balance, and a download. */
function createHistory(context: DepositContext): PageView {
  const { model, texts, format } = context
  const filter = html('select', { id: 'filter' })
  const fillFilter = createSlot(filter)
  const body = html('div', { class: 'entries' })
  const fillBody = createSlot(body)
  filter.addEventListener('change', () => {
    model.filter = filter.value === '' ? null : Number(filter.value)
    void loadHistory(context)
  })
  const older = button({}, texts.older, () => void loadHistory(context, model.history?.list.at(-1)?.id))
  const download = createDownload(context)
  const counted = html('span', { class: 'muted' })
  const label = html('label', { for: 'filter' }, texts.filter)
  return {
    element: html(
      'section',
      { class: 'history' },
      html(
        'div',
        { class: 'row between' },
        html('h3', {}, texts.historyHeading),
        html('div', { class: 'row' }, label, filter),
      ),
      body,
      html('div', { class: 'row' }, older, ...download.elements, counted),
    ),
    update() {
      const { history, offer } = model
      fillFilter(JSON.stringify(offer), () => {
        const known = (offer?.list ?? []).map(({ cuy, symbol }) => html('option', { value: String(cuy) }, symbol))
        return [html('option', { value: '' }, texts.all), ...known]
      })
      filter.value = model.filter === null ? '' : String(model.filter)
      body.classList.toggle('skeleton', history === null || offer === null)
      const [shown, count] = [history?.list.length ?? 0, history?.count ?? 0]
      older.hidden = shown >= count
      setText(counted, count === 0 ? '' : texts.shownOf(format.count(shown), format.count(count)))
      download.update()
      fillBody(JSON.stringify([history, offer, [...model.payouts.values()]]), () => {
        if (history === null || offer === null) return []
        if (history.list.length > 0) return [chartOf(context, history.list), tableOf(context, history.list)]
        const words = html('p', {}, texts.historyEmptyHelp)
        return [html('div', { class: 'empty' }, html('strong', {}, texts.historyEmpty), words)]
      })
    },
  }
}

/**
 * Loads the newest entries, or with `before` adds the entries before that id. Then loads the
 * payouts that belong to withdrawals among them.
 */
async function loadHistory(context: DepositContext, before?: number): Promise<void> {
  const { model, api } = context
  const { filter, account } = model
  const answer = await api.get(historyPath(filter, pageRows, before), readHistory)
  // the reader has changed the filter or the account meanwhile
  if (model.filter !== filter || model.account !== account) return
  if (!answer.ok) model.refusal = answer
  else if (before === undefined) model.history = answer.data
  else if (model.history?.list.at(-1)?.id === before) {
    model.history = { list: [...model.history.list, ...answer.data.list], count: model.history.count }
  }
  context.update()
  const payouts = await loadPayouts(model, api)
  if (model.account !== account) return
  if (payouts?.ok === false) model.refusal = payouts
  context.update()
}

/**
 * A chart of the balance over the loaded entries, in the chosen currency or in that of the newest
 * entry.
 */
function chartOf(context: DepositContext, entries: readonly HistoryEntry[]): HTMLElement | null {
  const { texts, format, api } = context
  const cuy = context.model.filter ?? entries[0]?.cuy
  const isDrawn = (entry: HistoryEntry) => entry.cuy === cuy && !Number.isNaN(Date.parse(entry.created_at))
  const own = entries.filter(isDrawn).reverse()
  const [first] = own
  if (first === undefined) return null
  const symbol = currencyWith(context, cuy ?? 0)?.symbol ?? ''
  const points = own.map(({ created_at, balance }) => ({
    at: Date.parse(created_at),
    label: format.time(created_at),
    value: balance,
    shown: format.amount(balance),
  }))
  return drawChart({
    title: texts.balanceOf(symbol),
    summary: texts.balanceSummary(symbol, points[0]?.shown ?? '', points.at(-1)?.shown ?? ''),
    points,
    before: difference(first.balance, first.amt),
    until: api.now() ?? 0,
    mark: format.mark,
    columns: [texts.time, texts.balance],
    tableName: texts.numbersAsTable,
  })
}

function tableOf(context: DepositContext, entries: readonly HistoryEntry[]): HTMLElement {
  const { texts, format } = context
  const rows = entries.map((entry): LedgerRow => {
    const { type, created_at: at, mark, amt, balance, cuy } = entry
    const time = type === 1 ? texts.creditedAt(format.time(at)) : format.time(at)
    return {
      name: entryName(context, type),
      time: html('time', { datetime: at, class: 'muted' }, time),
      remark: type === 1 ? '' : mark, // the remark of a deposit only repeats the name of its type
      more: payoutParts(context, entry),
      amount: amountText(context, amt, cuy, 'always'),
      balance: amountText(context, balance, cuy),
    }
  })
  return ledgerTable(context, rows)
}

/**
 * The button that downloads every entry of the chosen currency as a file, and a text that says how
 * far the download is.
 */
function createDownload(context: DepositContext) {
  const { model, texts } = context
  const progress = html('span', { class: 'muted', role: 'status' })
  let isBusy = false
  const start = async () => {
    if (isBusy) return
    isBusy = true
    await downloadHistory(context, (words) => setText(progress, words))
    setText(progress, '')
    isBusy = false
  }
  const download = button({}, texts.download, () => void start())
  const update = () => {
    download.hidden = (model.history?.count ?? 0) === 0
  }
  return { elements: [download, progress], update }
}
