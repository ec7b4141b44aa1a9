import { type SQL, sql } from 'drizzle-orm'

/** The SQL of an order of ids: how an id that comes later compares with one before it. */
export interface IdOrder {
  readonly comesAfter: SQL
  readonly direction: SQL
}
export const newestFirst: IdOrder = { comesAfter: sql.raw('<'), direction: sql.raw('DESC') }
export const oldestFirst: IdOrder = { comesAfter: sql.raw('>'), direction: sql.raw('ASC') }

/**
 * SQL that selects, as `found_id`, the `limit` ids that come first after the id `from`, in an
 * order, of the rows in one of some states and currencies, which `states` and `currencies` (SQL for
 * JSON lists) name. It may also select NULLs.
 *
 * Within an index, ids are in order only for one state and currency. `next` is SQL for the id of a
 * pair that comes first after an id, one look-up in an index, or NULL. The queue of a recursive
 * query is in the order of ids: each id that is taken from it is replaced by the next one of its
 * pair. So `limit` look-ups follow one for each pair, however the rows of the pairs lie.
 */
export function selectInOrder(
  states: SQL,
  currencies: SQL,
  next: (state: SQL, cuy: SQL, from: SQL) => SQL,
  from: SQL,
  limit: SQL,
  { direction }: IdOrder = newestFirst,
): SQL {
  return sql`
WITH RECURSIVE found(state, cuy, found_id) AS (
  SELECT state.value, currency.value, ${next(sql`state.value`, sql`currency.value`, from)}
  FROM json_each(${states}) AS state CROSS JOIN json_each(${currencies}) AS currency
  UNION ALL
  SELECT found.state, found.cuy, ${next(sql`found.state`, sql`found.cuy`, sql`found.found_id`)}
  FROM found WHERE found.found_id IS NOT NULL
  ORDER BY 3 ${direction} NULLS LAST LIMIT ${limit}
)
SELECT found_id FROM found`
}
