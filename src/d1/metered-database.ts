import type { Clock } from '../platform/clock.ts'
import type { Usage } from '../platform/usage.ts'
import { metered } from '../platform/usage.ts'
import type { WriteDatabase } from './database.ts'

/** A statement of `meterDatabase`. `inner` is the statement of D1. */
interface Metered extends D1PreparedStatement {
  readonly inner: D1PreparedStatement
}

/**
 * The database, with every statement and every row that it reads added to `usage`. D1 returns the number of rows read only
 * with the rows as objects, so `raw` and `first` request those too. So the columns of each statement need different names.
 */
export function meterDatabase(db: WriteDatabase, usage: Usage, clock: Pick<Clock, 'now'>): WriteDatabase {
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
    return statement as unknown as Metered // safe: the part of it that queries and Drizzle use
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
  return metering as unknown as WriteDatabase // safe: as above
}

/** The rows read. A database without that number, as in the simulation, counts as reading none. */
function rowsIn({ meta }: D1Result): number {
  return meta.rows_read ?? 0
}
