import { asc, eq, sql } from 'drizzle-orm'
import type { Sightings } from '../scan/sightings.ts'
import { sightingStatements } from './bulk-statements.ts'
import { type Database, openTables } from './database.ts'
import { readSighting } from './rows.ts'
import { rescans, scans } from './scan-tables.ts'
import { statement } from './statement.ts'
import { sightings } from './tables.ts'

/** Sightings that one caller is shown. */
const shownMax = 100

/** Transfers in blocks that are not final, over D1. */
export function createSightings(db: Database): Sightings {
  return {
    async of(uid) {
      const rows = await openTables(db)
        .select()
        .from(sightings)
        .where(eq(sightings.uid, uid))
        .orderBy(asc(sightings.height), asc(sightings.txid), asc(sightings.position))
        .limit(shownMax)
      return rows.map(readSighting)
    },

    async update(list, at) {
      await db.batch([...sightingStatements(db, list ?? [], at), deletePassed(db)])
    },
  }
}

/**
 * Deletes the sightings that the position has passed. A trigger writes an event where the transfer is not stored otherwise. Those
 * in a gap stay: its transfers are not stored yet. By hand: subqueries of two other tables.
 */
const deletePassed = statement(sql`
DELETE FROM ${sightings} WHERE ${sightings.height} <= (SELECT ${scans.height} FROM ${scans})
AND NOT EXISTS (SELECT 1 FROM ${rescans}
  WHERE ${rescans.kind} = 'gap' AND ${rescans.finished_at} IS NULL AND ${rescans.from_height} = ${sightings.height})`)
