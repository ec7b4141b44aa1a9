import { type SQL, sql } from 'drizzle-orm'

/**
 * SQL that selects, as `newest_id`, the `limit` highest ids below `before` of the rows in one of
 * some states and currencies, which `states` and `currencies` (SQL for JSON lists) name. It may
 * also select NULLs.
 *
 * Within an index, ids are in order only for one state and currency. `highest` is SQL for the
 * highest id of a pair below an id, one look-up in an index, or NULL. The queue of a recursive
 * query is in the order of ids: each id that is taken from it is replaced by the next one of its
 * pair. So `limit` look-ups follow one for each pair, however the rows of the pairs lie.
 */
export function selectHighest(
  states: SQL,
  currencies: SQL,
  highest: (state: SQL, cuy: SQL, below: SQL) => SQL,
  before: SQL,
  limit: SQL,
): SQL {
  return sql`
WITH RECURSIVE highest(state, cuy, newest_id) AS (
  SELECT state.value, currency.value, ${highest(sql`state.value`, sql`currency.value`, before)}
  FROM json_each(${states}) AS state CROSS JOIN json_each(${currencies}) AS currency
  UNION ALL
  SELECT highest.state, highest.cuy, ${highest(sql`highest.state`, sql`highest.cuy`, sql`highest.newest_id`)}
  FROM highest WHERE highest.newest_id IS NOT NULL
  ORDER BY 3 DESC LIMIT ${limit}
)
SELECT newest_id FROM highest`
}
