import { asc, eq, getTableColumns } from 'drizzle-orm'
import type { Sightings } from '../scan/sightings.ts'
import { sightingStatements } from './bulk-statements.ts'
import { batchAll, type Database, openTables } from './database.ts'
import { readSighting } from './rows.ts'
import { scans } from './scan-tables.ts'
import { build, param, statement } from './statement.ts'
import { addresses, sightings } from './tables.ts'

/** Sightings that one caller is shown. */
const shownMax = 100

/** Transfers in blocks that are not final, over D1. */
export function createSightings(db: Database): Sightings {
  return {
    async of(uid) {
      const rows = await openTables(db)
        .select(getTableColumns(sightings))
        .from(sightings)
        .innerJoin(addresses, eq(addresses.address, sightings.to_address))
        .where(eq(addresses.uid, uid))
        .orderBy(asc(sightings.height), asc(sightings.txid), asc(sightings.position))
        .limit(shownMax)
      return rows.map(readSighting)
    },

    replace: (list, at) =>
      batchAll(db, [
        ...(list === null ? [] : [deleteAll(db)]),
        ...sightingStatements(db, list ?? []),
        setReadAt(db, { at }),
      ]),
  }
}

const deleteAll = statement(build.delete(sightings))
const setReadAt = statement(build.update(scans).set({ unconfirmed_read_at: param('at') }))
