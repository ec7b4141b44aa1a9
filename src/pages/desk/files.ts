/** CSV files of the desk: a script of its own, loaded when somebody wants one. */
import type { Refusal } from '../kit/api.ts'
import { createCsv, downloadCsv } from '../kit/csv.ts'
import { type ListFilter, type ListRow, type ReadRows, type RowSource, unwalked, type Walked, walkOn } from './walk.ts'

/** Gives the reader a file with these rows, the first one being the names of its columns. */
export function saveTable(name: string, rows: readonly (readonly string[])[]): void {
  downloadCsv(name, rows)
}

/**
 * Gives the reader a file with everything of a list that the filter leaves. `isWanted` is told how many rows there are so far, and can end
 * it: then there is no file. Why there is none, or null.
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

/** How long a file waits where the service does not say it, and how often in a row. */
const retrySeconds = 5
const retriesMax = 5

/**
 * Hands over everything to the end, page by page, until `take` wants no more. It waits where the service wants it, and gives up where
 * that does not help: then why.
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
