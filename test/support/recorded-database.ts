/** A statement that was run. */
export interface RunStatement {
  readonly sql: string
  /** The rows that it has read, as D1 counts them. */
  readonly rows: number
}

/** A statement of the recording database, with the one of the real database. */
interface Recording {
  readonly sql: string
  readonly inner: D1PreparedStatement
}

/**
 * The same database for a service. `statements` gets every statement when it has been run. After
 * `hang`, no statement begins until the returned function is called; `begun` is the number of
 * statements that were begun, whether they have ended or not.
 */
export function recordDatabase(real: D1Database) {
  const statements: RunStatement[] = []
  const begun = { count: 0 }
  let released = Promise.resolve()
  const note = (sql: string, { meta }: D1Result) => statements.push({ sql, rows: meta.rows_read })
  const wrap = (sql: string, inner: D1PreparedStatement): Recording & Pick<D1PreparedStatement, 'bind' | 'all'> => ({
    sql,
    inner,
    // safe: the service uses `bind`, `all` and batches
    bind: (...values: unknown[]) => wrap(sql, inner.bind(...values)) as unknown as D1PreparedStatement,
    async all<T>() {
      begun.count += 1
      await released
      const result = await inner.all<T>()
      note(sql, result)
      return result
    },
  })
  const open = (database: D1Database | D1DatabaseSession) => ({
    prepare: (sql: string) => wrap(sql, database.prepare(sql)),
    async batch(list: readonly Recording[]) {
      begun.count += list.length
      await released
      const results = await database.batch(list.map(({ inner }) => inner))
      for (const [i, result] of results.entries()) note(list[i]?.sql ?? '', result)
      return results
    },
    getBookmark: () => ('getBookmark' in database ? database.getBookmark() : null),
  })
  const db = { ...open(real), withSession: (start: string) => open(real.withSession(start)) }
  const hang = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    released = promise
    return resolve
  }
  return { db, statements, begun, hang }
}
