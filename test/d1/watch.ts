/** A database that counts the cost of its prepared reads. */
export interface WatchedDatabase {
  readonly db: D1Database
  /** The rows that D1 read, and the round trips, since the last call. */
  readonly spent: () => { readonly rows: number; readonly trips: number }
}

/** `db`, counting. It has only `prepare`, `bind`, `all`, `raw` and `batch`. */
export function watch(db: D1Database): WatchedDatabase {
  let rows = 0
  let trips = 0
  const all = async (statement: D1PreparedStatement) => {
    trips += 1
    const result = await statement.all<Record<string, unknown>>()
    rows += result.meta.rows_read
    return result
  }
  const prepare = (sql: string) => ({
    bind: (...values: unknown[]) => {
      const statement = db.prepare(sql).bind(...values)
      return {
        statement,
        all: () => all(statement),
        raw: async () => (await all(statement)).results.map((row) => Object.values(row)),
      }
    },
  })
  const batch = async (statements: readonly { readonly statement: D1PreparedStatement }[]) => {
    trips += 1
    const results = await db.batch(statements.map(({ statement }) => statement))
    for (const { meta } of results) rows += meta.rows_read
    return results
  }
  return {
    db: { prepare, batch } as unknown as D1Database, // safe: a read that calls anything else fails its test
    spent: () => {
      const spent = { rows, trips }
      rows = 0
      trips = 0
      return spent
    },
  }
}
