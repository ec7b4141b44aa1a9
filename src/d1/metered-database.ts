import type { Clock } from '../platform/clock.ts'
import type { Usage } from '../platform/usage.ts'
import { metered } from '../platform/usage.ts'
import type { Database } from './database.ts'

/** A statement of `meterDatabase`, with D1's own inside. */
interface Metered extends D1PreparedStatement {
  readonly inner: D1PreparedStatement
}

/**
 * The database with every statement and every row that it reads added to `usage`. D1 tells the rows only with whole
 * results, so `raw` and `first` ask for one too: two columns of one name would fall together, and no statement here
 * has them.
 */
export function meterDatabase(db: Database, usage: Usage, clock: Pick<Clock, 'now'>): Database {
  const whole = async <T>(statement: D1PreparedStatement) => {
    const result = await metered(usage.database, clock, 1, () => statement.all<T>())
    usage.rowsRead += rowsIn(result)
    return result
  }
  const wrap = (inner: D1PreparedStatement): Metered => {
    const all = <T>() => whole<T>(inner)
    const statement = {
      inner,
      bind: (...values: unknown[]) => wrap(inner.bind(...values)),
      all,
      run: all,
      first: async <T>(column?: string) => {
        const [row] = (await whole<Record<string, T>>(inner)).results
        if (row === undefined) return null
        return column === undefined ? row : (row[column] ?? null)
      },
      raw: async () => (await whole<Record<string, unknown>>(inner)).results.map(Object.values),
    }
    return statement as unknown as Metered // safe: the part of it that the adapters and Drizzle use
  }
  const metering = {
    prepare: (sql: string) => wrap(db.prepare(sql)),
    batch: async <T>(statements: Metered[]) => {
      const results = await metered(usage.database, clock, statements.length, () =>
        db.batch<T>(statements.map(({ inner }) => inner)),
      )
      for (const result of results) usage.rowsRead += rowsIn(result)
      return results
    },
  }
  return metering as unknown as Database // safe: as above
}

/** A D1 that says nothing of rows (a test's) counts as reading none. */
function rowsIn({ meta }: D1Result): number {
  return meta.rows_read ?? 0
}
