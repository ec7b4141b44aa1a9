import type { Refusal } from '../kit/api.ts'
import { createCsv } from '../kit/csv.ts'
import { type ListFilter, type ListRow, type ReadRows, type RowSource, unwalked, type Walked, walkOn } from './walk.ts'

/**
 * Downloads a CSV file with all rows of a list that pass the filter. `isWanted` gets the number of rows so far; if it returns false, reading stops and there is
 * no file. Returns the refusal of the service because of which there is no file, otherwise null.
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

/** The pause after a failed request if the service names none, and how many requests in a row may fail before the last try. */
const retrySeconds = 5
const retriesMax = 5

/** Passes all rows to `take`, page by page, until `take` returns false. After a failure it waits and tries again. Returns the last failure if it gives up. */
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
