import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { flows } from '../../d1/tables.ts'

const { id } = flows
const probe = alias(flows, 'probe')

/**
 * SQL for the lowest id of an entry that was created at or after `time` (Unix milliseconds); if
 * there is none, an id above those of all entries. A trigger ensures that `created_at` never
 * decreases as ids grow, so a range of times is a range of ids. The SQL is a binary search that
 * reads about thirty entries, so no index of times is needed.
 */
export function firstEntryAt(time: number | SQLWrapper): SQL {
  const middle = sql`(low + high) / 2`
  // If no entry has the id in the middle, the entry with the next higher id is compared.
  const isBefore = sql`${probe.created_at} < ${time}`
  return sql`(
  WITH RECURSIVE step (low, high) AS (
    SELECT 0, coalesce((SELECT max(${id}) FROM ${flows}), 0) + 1
    UNION ALL SELECT iif(${isBefore}, ${probe.id}, low), iif(${isBefore}, high, ${middle})
      FROM step CROSS JOIN ${flows} AS ${probe} ON ${probe.id} = (
        SELECT ${id} FROM ${flows} WHERE ${id} >= ${middle} ORDER BY ${id} LIMIT 1)
      WHERE high - low > 1)
  SELECT high FROM step WHERE high - low = 1)`
}
