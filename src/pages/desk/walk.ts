import type { Refusal, Reply } from '../kit/api.ts'
import { decimalsOf, unitsOf } from '../kit/decimal.ts'
import type { Child } from '../kit/dom.ts'

/** Rows that are shown at once. */
export const listRows = 20

/** A row of two columns. */
export type Row = readonly [what: readonly Child[], when: readonly Child[]]

/** Which rows of a list are wanted. An empty text filters nothing. */
export interface ListFilter {
  readonly state: string
  readonly cuy: string
  /** Days of the reader, the last one included where no hour of it is given. */
  readonly from: string
  readonly to: string
  /** Hours of these days, `00` to `23`: from its start on, and up to its start. */
  readonly fromHour: string
  readonly toHour: string
  /** Decimals. */
  readonly least: string
  readonly most: string
}

/** The filter that leaves everything. */
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

/** A row of a list, with what filters read. Newer rows have higher ids. */
export interface ListRow {
  readonly id: number
  readonly at: string
  readonly state: string
  readonly cuy: number | null
  readonly amount: string | null
  /** What the page shows. */
  cells(): Row
  /** What its file has. */
  values(): readonly (string | number | null)[]
}

/** The rows below an id, the newest first, and how many there are in all, where that is known. */
export interface RowPage {
  readonly rows: readonly ListRow[]
  readonly count: number | null
}

/** Reads a page of a list; `before` null begins with the newest row. The service can filter it already, and need not. */
export type ReadRows = (before: number | null, limit: number, filter: ListFilter) => Promise<Reply<RowPage>>

/** A list that is read page by page. */
export interface RowSource {
  /** Of its file. */
  readonly name: string
  readonly title: string
  /** The first line of its file. */
  readonly columns: readonly string[]
  readonly read: ReadRows
}

/** How far a list was read, and what was found on the way. */
export interface Walked {
  readonly rows: readonly ListRow[]
  readonly count: number | null
  /** Where to go on; null where there is no more. */
  readonly next: { readonly before: number | null } | null
  /** When the last row was made that was looked at; null before the first one. */
  readonly back: string | null
}

/** Nothing was read. */
export const unwalked: Walked = { rows: [], count: null, next: { before: null }, back: null }

/** Whether rows are left out that the service would give. */
export const isFiltered = (filter: ListFilter) => Object.values(filter).some((value) => value !== '')

/** Rows that are read at once where some may be left out. */
const searchRows = 100

/**
 * Reads on until there are `wanted` rows, or `pagesMax` pages were read: a filter that few rows pass ends there, and goes on from there
 * the next time. The first row in time is found by halving. Only the new rows are in the answer, so the cost is that of what is read.
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

/** The id above all rows that are older than a time; null where that is the newest one. */
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
  const size = unitsOf(amount.replace('-', ''), decimals) // a payment of 5 is an amount of 5
  if (filter.least !== '' && size < unitsOf(filter.least, decimals)) return false
  return filter.most === '' || size <= unitsOf(filter.most, decimals)
}

/** The start of an hour of a day of the reader; without an hour that of the day, or of one `later`. Null without a day. */
function timeOf(day: string, hour: string, later: number): number | null {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const at = new Date(year, month - 1, hour === '' ? date + later : date, Number(hour)).getTime()
  return day === '' || Number.isNaN(at) ? null : at
}
