/** CSV files of the desk: a script of its own, loaded when somebody downloads one. */
import type { Refusal } from '../kit/api.ts'
import { createCsv, downloadCsv } from '../kit/csv.ts'
import { type ListFilter, type ListRow, type ReadRows, type RowSource, unwalked, type Walked, walkOn } from './walk.ts'

/** Downloads a file with these rows. The first row has the column names. */
export function saveTable(name: string, rows: readonly (readonly string[])[]): void {
  downloadCsv(name, rows)
}

/**
 * Downloads a file with all rows of a list that pass the filter. `isWanted` gets the number of rows so far, and can stop: then there is no file. Returns why
 * there is none, or null.
 */
export async function saveList(
  { name, columns, read }: RowSource,
  filter: ListFilter,
  isWanted: (count: number) => boolean,
): Promise<Refusal | null> {
  const file = createCsv(columns)
  let count = 0
  const refusal = await walkToEnd(read, filter, (rows) => {
    file.add(rows.map((row) => row.values().map(asText)))
    count += rows.length
    return isWanted(count)
  })
  if (refusal === null && isWanted(count)) file.save(`${name}.csv`)
  return refusal
}

const asText = (value: string | number | null) => String(value ?? '')

/** Pause if the service does not say how long to wait, and the number of pauses in a row. */
const retrySeconds = 5
const retriesMax = 5

/** Passes all rows to `take`, page by page, until the end or until `take` stops. If the service asks for a pause, it waits. Returns why it gave up, or null. */
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
