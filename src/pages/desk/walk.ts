import type { Refusal, Reply } from '../kit/api.ts'
import { decimalsOf, unitsOf } from '../kit/decimal.ts'
import type { Child } from '../kit/dom.ts'

/** Rows that are added at a time. */
export const listRows = 20

/** A row of two columns. */
export type Row = readonly [what: readonly Child[], when: readonly Child[]]

/** A filter of a list. An empty text filters nothing. */
export interface ListFilter {
  readonly state: string
  readonly cuy: string
  /** Days of the reader's time zone. The last day is included, unless an hour of it is given. */
  readonly from: string
  readonly to: string
  /** Hours of these days, `00` to `23`: from the beginning of the first one, up to the beginning of the last one. */
  readonly fromHour: string
  readonly toHour: string
  /** Least and most amount, as decimals. */
  readonly least: string
  readonly most: string
}

/** The filter that every row passes. */
export const noFilter: ListFilter = {
  state: '',
  cuy: '',
  from: '',
  fromHour: '',
  to: '',
  toHour: '',
  least: '',
  most: '',
}

/** A row of a list, with the values that filters need. Newer rows have higher ids. */
export interface ListRow {
  readonly id: number
  readonly at: string
  readonly state: string
  readonly cuy: number | null
  readonly amount: string | null
  /** The cells on the page. */
  cells(): Row
  /** The values in the file. */
  values(): readonly (string | number | null)[]
}

/** Rows below an id, newest first, and the number of all rows if that is known. */
export interface RowPage {
  readonly rows: readonly ListRow[]
  readonly count: number | null
}

/** Reads a page of a list, from the newest row if `before` is null. The service may filter it, but need not. */
export type ReadRows = (before: number | null, limit: number, filter: ListFilter) => Promise<Reply<RowPage>>

/** A list that is read page by page. */
export interface RowSource {
  /** The name of its file. */
  readonly name: string
  readonly title: string
  /** The column names of its file. */
  readonly columns: readonly string[]
  readonly read: ReadRows
}

/** How far a list was read, and the rows that passed the filter. */
export interface Walked {
  readonly rows: readonly ListRow[]
  readonly count: number | null
  /** Where to continue; null at the end. */
  readonly next: { readonly before: number | null } | null
  /** The time of the last row that was looked at; null before the first one. */
  readonly back: string | null
}

/** The state before anything was read. */
export const unwalked: Walked = { rows: [], count: null, next: { before: null }, back: null }

/** Whether the filter leaves rows out. */
export const isFiltered = (filter: ListFilter) => Object.values(filter).some((value) => value !== '')

/** Rows in one request if the filter may leave some out. */
const searchRows = 100

/**
 * Reads on until there are `wanted` rows, or `pagesMax` pages were read. So a filter that few rows pass ends, and continues from there the next time. A binary
 * search finds the first row of the time range. Only the new rows are returned, so the cost is that of the rows read.
 */
export async function walkOn(
  read: ReadRows,
  filter: ListFilter,
  from: Omit<Walked, 'rows'>,
  { wanted, pagesMax }: { readonly wanted: number; readonly pagesMax: number },
): Promise<Walked | Refusal> {
  const [earliest, end] = [timeOf(filter.from, filter.fromHour, 0), timeOf(filter.to, filter.toHour, 1)]
  let { count, next, back } = from
  const found: ListRow[] = []
  if (next !== null && next.before === null && end !== null) {
    const start = await firstBefore(read, filter, end)
    if (!start.ok) return start
    next = { before: start.data }
  }
  const size = isFiltered(filter) ? searchRows : wanted
  for (let pages = 0; next !== null && pages < pagesMax && found.length < wanted; pages += 1) {
    const page = await read(next.before, size, filter)
    if (!page.ok) return page
    const { rows } = page.data
    count = page.data.count
    const last = rows.at(-1)
    const isOver = last === undefined || rows.length < size || (earliest !== null && Date.parse(last.at) < earliest)
    next = isOver ? null : { before: last.id }
    back = last?.at ?? back
    found.push(...rows.filter((row) => passes(row, filter, earliest, end)))
  }
  return { rows: found, count, next, back }
}

/** The id above all rows that are older than a time; null if that is the newest row. */
async function firstBefore(read: ReadRows, filter: ListFilter, time: number): Promise<Reply<number | null>> {
  const rowAt = async (before: number | null) => {
    const page = await read(before, 1, filter)
    return page.ok ? { ...page, data: page.data.rows[0] ?? null } : page
  }
  const newest = await rowAt(null)
  if (!newest.ok) return newest
  const answer = (data: number | null) => ({ ok: true, data, msg: '' }) as const
  if (newest.data === null || Date.parse(newest.data.at) < time) return answer(null)
  let [low, high] = [0, newest.data.id] // rows up to `low` are older, `high` is not
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const row = await rowAt(middle + 1)
    if (!row.ok) return row
    if (row.data === null || Date.parse(row.data.at) < time) low = middle
    else high = row.data.id
  }
  return answer(high)
}

function passes({ at, state, cuy, amount }: ListRow, filter: ListFilter, earliest: number | null, end: number | null) {
  const time = Date.parse(at)
  if ((earliest !== null && time < earliest) || (end !== null && time >= end)) return false
  if (filter.state !== '' && filter.state !== state) return false
  if (filter.cuy !== '' && filter.cuy !== String(cuy)) return false
  if (filter.least === '' && filter.most === '') return true
  if (amount === null) return false
  const decimals = Math.max(...[amount, filter.least, filter.most].map(decimalsOf))
  const size = unitsOf(amount.replace('-', ''), decimals) // the size of a payment of 5 is 5
  if (filter.least !== '' && size < unitsOf(filter.least, decimals)) return false
  return filter.most === '' || size <= unitsOf(filter.most, decimals)
}

/** The beginning of an hour in a day of the reader's time zone; without an hour that of the day, or of a day `later`. Null without a day. */
function timeOf(day: string, hour: string, later: number): number | null {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const at = new Date(year, month - 1, hour === '' ? date + later : date, Number(hour)).getTime()
  return day === '' || Number.isNaN(at) ? null : at
}
