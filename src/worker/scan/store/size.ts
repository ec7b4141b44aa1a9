import { sql } from 'drizzle-orm'
import { fixedStatement, type WriteDatabase } from '../../d1/database.ts'
import { sizes } from '../../d1/state-tables.ts'

/** The size of the database in bytes on a day, counted from 1970. */
export interface SizeOfDay {
  readonly day: number
  readonly bytes: number
  /** Sizes of days before this one are removed. */
  readonly keptFrom: number
}

/** Stores the size of a day, unless the day has one. */
export async function storeSize(db: WriteDatabase, { day, bytes, keptFrom }: SizeOfDay): Promise<void> {
  await db.batch([insert(db, { day, bytes }), removeBefore(db, { keptFrom })])
}

const insert = fixedStatement<'day' | 'bytes'>(sql`
INSERT INTO ${sizes} (day, bytes) VALUES (${sql.placeholder('day')}, ${sql.placeholder('bytes')})
  ON CONFLICT DO NOTHING`)

const removeBefore = fixedStatement<'keptFrom'>(
  sql`DELETE FROM ${sizes} WHERE ${sizes.day} < ${sql.placeholder('keptFrom')}`,
)
