import { drawBars } from '../kit/bars.ts'
import { decimalsOf, decimalText, unitsOf } from '../kit/decimal.ts'
import { createSlot, html, type PageView } from '../kit/dom.ts'
import { type DeskContext, typeName } from './context.ts'
import type { DeskCurrency, DeskDay } from './data.ts'

/** The type of entries that deposits make. */
const depositType = 1

/**
 * Charts of the last 30 days of one currency: deposits, their sums, and the other entries by type.
 * The reader can choose the currency.
 */
export function createCharts(context: DeskContext): PageView {
  const { model, texts } = context
  const select = html('select', { id: 'charted' })
  const fillSelect = createSlot(select)
  const body = html('div', { class: 'charts' })
  const fillBody = createSlot(body)
  select.addEventListener('change', () => {
    model.charted = Number(select.value)
    context.update()
  })
  const label = html('label', { for: 'charted' }, texts.currency)
  const head = html('div', { class: 'row between' }, html('h2', {}, texts.chartsHeading))
  head.append(html('div', { class: 'row' }, label, select))
  return {
    element: html('section', { class: 'card wide' }, head, body),
    update() {
      const currencies = model.summary?.currencies ?? []
      const busiest = currencies.find(({ days }) => days.some(({ deposits }) => deposits > 0)) ?? currencies[0]
      const shown = currencies.find(({ cuy }) => cuy === model.charted) ?? busiest
      fillSelect(JSON.stringify(currencies.map(({ cuy, symbol }) => [cuy, symbol])), () =>
        currencies.map(({ cuy, symbol }) => html('option', { value: String(cuy) }, symbol)),
      )
      select.value = String(shown?.cuy ?? '')
      body.classList.toggle('skeleton', shown === undefined)
      const key = [shown?.cuy, shown?.days]
      fillBody(JSON.stringify(key), () => (shown === undefined ? [] : chartsOf(context, shown)))
    },
  }
}

function chartsOf(context: DeskContext, { days, symbol }: DeskCurrency): HTMLElement[] {
  const { texts, format } = context
  const count = (select: (day: DeskDay) => number) => (day: DeskDay) => String(select(day))
  const types = new Set(days.flatMap(({ entries }) => entries.map(({ type }) => type)).sort((a, b) => a - b))
  types.delete(depositType) // the first chart shows deposits
  const countOf = (wanted: number) => count(({ entries }) => entries.find(({ type }) => type === wanted)?.count ?? 0)
  const whole = (value: string) => format.amount(value)
  const inCurrency = (value: string) => `${format.amount(value)} ${symbol}`
  const charts: readonly Bars[] = [
    [texts.depositsChart, count(({ deposits }) => deposits), whole],
    [texts.sumsChart, ({ sum }) => sum, inCurrency],
    ...[...types].map((type): Bars => {
      return [texts.entriesChart(typeName(context, type)), countOf(type), whole]
    }),
  ]
  return charts.map((chart) => chartOf(context, days, chart))
}

type Bars = readonly [title: string, read: (day: DeskDay) => string, shownOf: (value: string) => string]

function chartOf({ texts, format }: DeskContext, days: readonly DeskDay[], [title, read, shownOf]: Bars): HTMLElement {
  const values = days.map(read)
  const decimals = Math.max(0, ...values.map(decimalsOf))
  const units = values.map((value) => unitsOf(value, decimals))
  const [highest = 0n] = [...units].sort((a, b) => (a > b ? -1 : 1))
  const points = days.map(({ day }, index) => {
    const value = values[index] ?? '0'
    return { label: format.day(day), value, shown: shownOf(value) }
  })
  const sum = units.reduce((a, b) => a + b, 0n)
  const text = (value: bigint) => shownOf(decimalText(value, decimals))
  const summary = texts.chartSummary(title, text(sum), text(highest))
  return drawBars({
    title,
    summary,
    points,
    columns: [texts.day, texts.value],
    tableName: texts.numbersAsTable,
    nothing: texts.nothingIn30,
    scaleText: format.short,
  })
}
