import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { flows } from '../../d1/tables.ts'

const { id } = flows
const probe = alias(flows, 'probe')

/**
 * SQL: the first id of an entry at or after a time (Unix milliseconds), or an id above all. `created_at` never decreases as ids grow (a trigger ensures it), so
 * a time range is a range of ids. A binary search over about thirty entries finds the id, so no index of times is stored.
 */
export function firstEntryAt(time: number | SQLWrapper): SQL {
  const middle = sql`(low + high) / 2`
  // Ids have gaps: the first entry at or above the middle stands for it.
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
