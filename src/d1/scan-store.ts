import { eq, lt, lte, or, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { LeaseAttempt, ScanStep, ScanStore } from '../scan/scan-store.ts'
import { gapStatements, movementStatements, pendingStatements } from './bulk-statements.ts'
import { scanSuperseded } from './columns.ts'
import { type Database, isRefusedBy, openTables } from './database.ts'
import { readScan, type ScanRow } from './rows.ts'
import { scans } from './scan-tables.ts'
import { build, names, param, statement } from './statement.ts'

/** The scan's row over D1. */
export function createScanStore(db: Database): ScanStore {
  return {
    async state() {
      const row = await selectScan(db).first<ScanRow>()
      return row === null ? null : readScan(row)
    },

    async start({ height, hash }, at, finalized = height) {
      await insertScan(db, { height, finalized, hash, at }).run()
    },

    async acquireLease(lease, at, until) {
      const [, after] = await db.batch<ScanRow>([takeLease(db, { lease, at, until }), selectScan(db)])
      return readAttempt(after?.results[0], lease)
    },

    async releaseLease(lease, startedAt, problem, at) {
      await releaseScan(db, { lease, startedAt, problem, at }).run()
    },

    async recordFinalized(height, at) {
      await raiseFinalized(db, { height, at }).run()
    },

    async halt(lease, why) {
      await openTables(db).update(scans).set({ halted: why }).where(eq(scans.lease, lease))
    },

    append: (step) => appendStep(db, step),
  }
}

async function appendStep(db: Database, step: ScanStep) {
  const { after, to, finalized, lease, at } = step
  const statements = [
    // Where no scan was started, the same CHECK fails here as in the next statement for a wrong position.
    insertScan(db, { height: null, finalized: 0, hash: null, at }),
    moveScan(db, { after, lease, height: to.height, hash: to.hash, finalized, at }),
    ...pendingStatements(db, step.candidates, at),
    ...movementStatements(db, step.movements),
    ...gapStatements(db, step.unreadable, at),
  ]
  try {
    await db.batch(statements)
    return 'appended'
  } catch (cause) {
    if (isRefusedBy(scanSuperseded, cause)) return 'superseded'
    throw cause
  }
}

const selectScan = statement(build.select().from(scans))

const { id, height, hash, finalized, finalized_at, advanced_at, caught_up_at, tried_at } = scans
/** By hand: INSERT … SELECT with a condition. */
const insertScan = statement(sql`
INSERT INTO ${scans} (${names(id, height, hash, finalized, finalized_at, advanced_at)},
  ${names(caught_up_at, tried_at, scans.lease, scans.lease_until)})
SELECT 1, ${param('height')}, ${param('hash')}, ${param('finalized')}, ${param('at')}, ${param('at')}, 0, 0, '', 0
WHERE NOT EXISTS (SELECT 1 FROM ${scans})`)

const takeLease = statement(
  build
    .update(scans)
    .set({ lease: param('lease'), lease_until: param('until') })
    // A released lease is free at once: the clocks of two machines can differ.
    .where(or(eq(scans.lease, ''), lte(scans.lease_until, param('at')))),
)

// Never backwards: a scan that got its lease late can have started before one that has already ended.
const later = (column: SQLiteColumn) => sql`max(${column}, ${param('startedAt')})`
const releaseScan = statement(
  build
    .update(scans)
    .set({
      lease: '',
      lease_until: param('at'), // without a name: when it was released
      tried_at: later(tried_at),
      problem: param('problem'),
      caught_up_at: sql`iif(${param('problem')} IS NULL, ${later(caught_up_at)}, ${caught_up_at})`,
    })
    .where(eq(scans.lease, param('lease'))),
)

const raiseFinalized = statement(
  build
    .update(scans)
    .set({ finalized: param('height'), finalized_at: param('at') })
    .where(lt(finalized, param('height'))),
)

/** Moves the position, or fails the batch: where position or lease are not the expected ones, `height` becomes NULL. */
const moveScan = statement(
  build.update(scans).set({
    height: sql`iif(${height} = ${param('after')} AND ${scans.lease} = ${param('lease')}, ${param('height')}, NULL)`,
    hash: param('hash'),
    finalized: sql`max(${finalized}, ${param('finalized')})`,
    finalized_at: sql`iif(${param('finalized')} > ${finalized}, ${param('at')}, ${finalized_at})`,
    advanced_at: param('at'),
    halted: null,
  }),
)

function readAttempt(row: ScanRow | undefined, lease: string): LeaseAttempt {
  if (row === undefined) return { kind: 'not-started' }
  return { kind: row.lease === lease ? 'acquired' : 'taken', state: readScan(row) }
}
