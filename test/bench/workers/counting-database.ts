/** A statement that was sent to D1. */
export interface RecordedStatement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** The queries to D1, and the rows that D1 reports. */
export interface D1Counts {
  roundTrips: number
  statements: number
  rowsRead: number
  rowsWritten: number
  /** Statements of the last round trips, newest last. */
  newest: RecordedStatement[]
}

/** Counts since the last `take`. */
export interface Counts {
  readonly now: () => D1Counts
  readonly take: () => D1Counts
}

const newestMax = 20

/** Counts that start at zero. */
export function createCounts(): Counts {
  const zero = (): D1Counts => ({ roundTrips: 0, statements: 0, rowsRead: 0, rowsWritten: 0, newest: [] })
  let current = zero()
  return {
    now: () => current,
    take() {
      const taken = current
      current = zero()
      return taken
    },
  }
}

/** `db` with all statements counted, in sessions too. It has only the part of D1 that the service and Drizzle call. */
export function countingDatabase(db: D1Database, counts: Counts): D1Database {
  const counted = countingSession(db, counts)
  const withSession = (start: string) => {
    const session = db.withSession(start)
    return { ...countingSession(session, counts), getBookmark: () => session.getBookmark() }
  }
  return { ...counted, withSession } as unknown as D1Database // safe: the part of it that is called
}

function countingSession(db: D1Database | D1DatabaseSession, counts: Counts) {
  const statementOf = new WeakMap<object, Statement>()

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
      // D1 reports no counts for `raw`, so this reads objects; no query of the service has two columns of one name.
      raw: async () => (await all<Record<string, unknown>>()).results.map((row) => Object.values(row)),
    }
    statementOf.set(wrapped, statement)
    return wrapped as unknown as D1PreparedStatement // safe: the part of it that is called
  }

  return {
    prepare: (sql: string) => wrap({ sql, values: [], inner: db.prepare(sql) }),
    batch: async (wrapped: object[]) => {
      const statements = wrapped.flatMap((one) => statementOf.get(one) ?? [])
      const results = await db.batch(statements.map(({ inner }) => inner))
      record(statements, results)
      return results
    },
  }
}

interface Statement extends RecordedStatement {
  readonly inner: D1PreparedStatement
}
