/** What D1 was asked and says that it did. */
export interface D1Counts {
  roundTrips: number
  statements: number
  rowsRead: number
  rowsWritten: number
  /** Statements of the last round trips, newest last. */
  newest: { readonly sql: string; readonly values: readonly unknown[] }[]
}

/** Counts that go on until they are taken. */
export interface Counts {
  readonly now: () => D1Counts
  readonly take: () => D1Counts
}

const newestMax = 20

/** Counts of nothing yet. */
export function createCounts(): Counts {
  const none = (): D1Counts => ({ roundTrips: 0, statements: 0, rowsRead: 0, rowsWritten: 0, newest: [] })
  let current = none()
  return {
    now: () => current,
    take() {
      const taken = current
      current = none()
      return taken
    },
  }
}

/** `db` with every statement counted, in its sessions too. Only what the service and Drizzle call of D1 is there. */
export function countingDatabase(db: D1Database, counts: Counts): D1Database {
  const counted = countingSession(db, counts)
  const withSession = (start: string) => {
    const session = db.withSession(start)
    return { ...countingSession(session, counts), getBookmark: () => session.getBookmark() }
  }
  return { ...counted, withSession } as unknown as D1Database // safe: the part of it that is called
}

function countingSession(db: D1Database | D1DatabaseSession, counts: Counts) {
  const known = new WeakMap<object, Statement>()

  const record = (statements: readonly Statement[], results: readonly D1Result[]) => {
    const now = counts.now()
    now.roundTrips += 1
    now.statements += statements.length
    now.newest.push(...statements.map(({ sql, values }) => ({ sql, values })))
    now.newest.splice(0, Math.max(0, now.newest.length - newestMax))
    for (const { meta } of results) {
      now.rowsRead += meta.rows_read
      now.rowsWritten += meta.rows_written
    }
  }

  const wrap = (statement: Statement): D1PreparedStatement => {
    const all = async <T>() => {
      const result = await statement.inner.all<T>()
      record([statement], [result])
      return result
    }
    const wrapped = {
      bind: (...values: unknown[]) =>
        wrap({ sql: statement.sql, values, inner: db.prepare(statement.sql).bind(...values) }),
      all,
      run: all,
      first: async () => (await all()).results[0] ?? null,
      // D1 gives no counts with `raw`, so the rows are asked for as objects; no query here names a column twice.
      raw: async () => (await all<Record<string, unknown>>()).results.map((row) => Object.values(row)),
    }
    known.set(wrapped, statement)
    return wrapped as unknown as D1PreparedStatement // safe: the part of it that is called
  }

  return {
    prepare: (sql: string) => wrap({ sql, values: [], inner: db.prepare(sql) }),
    batch: async (wrapped: object[]) => {
      const statements = wrapped.flatMap((one) => known.get(one) ?? [])
      const results = await db.batch(statements.map(({ inner }) => inner))
      record(statements, results)
      return results
    },
  }
}

interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
  readonly inner: D1PreparedStatement
}
