/** A database that counts what its prepared reads cost. */
export interface Watched {
  readonly db: D1Database
  /** Rows that D1 says it read, and round trips, since the last call. */
  readonly spent: () => { readonly rows: number; readonly trips: number }
}

/** `db` with every statement run in the form that reports rows read. Only `bind` and `raw` are watched. */
export function watch(db: D1Database): Watched {
  let rows = 0
  let trips = 0
  const raw = async (statement: D1PreparedStatement) => {
    trips += 1
    const { results, meta } = await statement.all<Record<string, unknown>>()
    rows += meta.rows_read
    return results.map((row) => Object.values(row))
  }
  const prepare = (sql: string) => ({
    bind: (...values: unknown[]) => ({ raw: () => raw(db.prepare(sql).bind(...values)) }),
  })
  return {
    db: { prepare } as unknown as D1Database, // safe: a hot read that calls anything else fails its test
    spent: () => {
      const spent = { rows, trips }
      rows = 0
      trips = 0
      return spent
    },
  }
}
