import type { Refusal, Reply } from '../kit/api.ts'
import { decimalsOf, unitsOf } from '../kit/decimal.ts'
import type { Child } from '../kit/dom.ts'

/** How many rows a list adds at a time. */
export const listRows = 20

/** A row of `listTable`: the content of its two cells. */
export type Row = readonly [what: readonly Child[], when: readonly Child[]]

/** A filter of a list. An empty text filters nothing. */
export interface ListFilter {
  readonly state: string
  readonly cuy: string
  /**
   * Days of the reader's time zone (`2026-11-27`), both included. With `toHour` the last day counts
   * only up to that hour.
   */
  readonly from: string
  readonly to: string
  /**
   * Hours, `00` to `23`: rows count from the beginning of `fromHour` on the first day, and before
   * the beginning of `toHour` on the last day.
   */
  readonly fromHour: string
  readonly toHour: string
  /**
   * The least and the most amount, as decimals, both included. The sign of an amount does not
   * count.
   */
  readonly least: string
  readonly most: string
}

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

/** A row of a list, with the values by which it is filtered. Newer rows have higher ids. */
export interface ListRow {
  readonly id: number
  readonly at: string
  readonly state: string
  readonly cuy: number | null
  readonly amount: string | null
  /** Makes the cells that the page shows. Called again to show present ages. */
  cells(): Row
  /** The values for the file, in the order of the source's `columns`. */
  values(): readonly (string | number | null)[]
}

/**
 * A page of a list, newest row first. `count` is the number of rows on all pages; null if that is
 * not known.
 */
export interface RowPage {
  readonly rows: readonly ListRow[]
  readonly count: number | null
}

/**
 * Reads the rows below the id `before`, or the newest ones if that is null. They may include rows
 * that do not pass the filter.
 */
export type ReadRows = (before: number | null, limit: number, filter: ListFilter) => Promise<Reply<RowPage>>

/** A list that is read page by page. */
export interface RowSource {
  /** The name of the list's file, without `.csv`. */
  readonly name: string
  readonly title: string
  /** The column names of the list's file. */
  readonly columns: readonly string[]
  readonly read: ReadRows
}

/** A list with a filter by state or type. */
export interface FilteredSource extends RowSource {
  /**
   * What `state` of the filter means for this list (its label), and the values that it can have,
   * with their names.
   */
  readonly states: { readonly name: string; readonly values: () => readonly (readonly [value: string, name: string])[] }
  /**
   * Whether the service has this list: without `PAYOUTS` it has no payouts. Absent: every service
   * has the list.
   */
  readonly isThere?: () => boolean
}

/**
 * Whether the service's count is that of the filtered list. With times or amounts it is not,
 * because only the page filters by those.
 */
export const isCounted = ({ from, to, least, most }: ListFilter) => from + to + least + most === ''

/** How far a list was read, and the rows so far that pass the filter. */
export interface Walked {
  readonly rows: readonly ListRow[]
  readonly count: number | null
  /**
   * Where reading continues: below the id `before`, or at the newest row if that is null. `next` is
   * null at the end of the list.
   */
  readonly next: { readonly before: number | null } | null
  /** The time of the last row that was looked at; null before the first one. */
  readonly back: string | null
}

/** A list of which nothing was read yet. */
export const unwalked: Walked = { rows: [], count: null, next: { before: null }, back: null }

/** Whether the filter can leave rows out. An empty text filters nothing. */
export const isFiltered = (filter: ListFilter) => Object.values(filter).some((value) => value !== '')

/** How many rows are requested at a time if the filter may leave some out; and at most. */
const searchRows = 100

/**
 * Reads a list further, from where `from` ends, until `wanted` rows pass the filter or `pagesMax`
 * pages were read. So a filter that few rows pass does not keep the reader waiting: the next call
 * continues where this one stopped. If the filter has an end, a binary search finds where to begin.
 * Returns only the new rows, or a refusal.
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
  for (let pages = 0; next !== null && pages < pagesMax && found.length < wanted; pages += 1) {
    const size = isFiltered(filter) ? searchRows : Math.min(searchRows, wanted - found.length)
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

/**
 * The pause after a failed request if the service names none, and how many requests in a row may
 * fail before the last try.
 */
const retrySeconds = 5
const retriesMax = 5

/**
 * Passes all rows to `take`, page by page, until `take` returns false. After a failure it waits and
 * tries again. Returns the last failure if it gives up.
 */
export async function walkToEnd(
  read: ReadRows,
  filter: ListFilter,
  take: (rows: readonly ListRow[]) => boolean,
): Promise<Refusal | null> {
  let walked: Omit<Walked, 'rows'> = unwalked
  for (let tries = 0; walked.next !== null; ) {
    const next = await walkOn(read, filter, walked, { wanted: 100, pagesMax: 1 })
    if (!('kind' in next)) {
      if (!take(next.rows)) return null
      walked = next
      tries = 0
      continue
    }
    tries += 1
    if (tries > retriesMax || next.status === 401) return next
    const seconds = next.retrySeconds ?? retrySeconds
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  }
  return null
}

/**
 * Finds the id of the oldest row that is not older than `time`, by binary search. All rows below
 * that id are older. Null if all rows are older.
 */
async function firstBefore(read: ReadRows, filter: ListFilter, time: number): Promise<Reply<number | null>> {
  const rowAt = async (before: number | null) => {
    const page = await read(before, 1, filter)
    return page.ok ? { ...page, data: page.data.rows[0] ?? null } : page
  }
  const newest = await rowAt(null)
  if (!newest.ok) return newest
  const answer = (data: number | null) => ({ ok: true, data, msg: '' }) as const
  if (newest.data === null || Date.parse(newest.data.at) < time) return answer(null)
  let [low, high] = [0, newest.data.id] // rows with ids up to `low` are older than `time`, row `high` is not
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
  // the sign does not count: a payment is −5 in the ledger, and 5 for the filter
  const size = unitsOf(amount.replace('-', ''), decimals)
  if (filter.least !== '' && size < unitsOf(filter.least, decimals)) return false
  return filter.most === '' || size <= unitsOf(filter.most, decimals)
}

/**
 * The beginning of an hour of a day, in the reader's time zone. Without an hour: the beginning of
 * the day `later` days after it. Null without a day.
 */
function timeOf(day: string, hour: string, later: number): number | null {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const at = new Date(year, month - 1, hour === '' ? date + later : date, Number(hour)).getTime()
  return day === '' || Number.isNaN(at) ? null : at
}
