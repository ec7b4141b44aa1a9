import { eq, lt, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Deposit, Pending } from '../deposits/deposit.ts'
import type { LeaseAttempt, LedgerWriter, ScanStep } from '../ledger/ledger-store.ts'
import { deletePending, insertDeposits, insertMovements, insertSightings, upsertPending } from './bulk-statements.ts'
import { type Database, openTables, toJsonTexts } from './database.ts'
import {
  type IncomingDeposit,
  readPending,
  readScan,
  type ScanRow,
  writeDeposit,
  writeMovement,
  writePending,
  writeSighting,
} from './rows.ts'
import { type pendingDeposits, scans, tokens } from './tables.ts'

/** Rows in one JSON text: the longest takes about 600 bytes, and a text has room for 2 MB. */
const rowsMax = 2_000

/** What `insertDeposits` answers for each deposit that it stored. */
type Stored = Pick<IncomingDeposit, 'txid' | 'position' | 'outcome'>

/**
 * The ledger's writes over D1. Every method is one round trip that commits whole or not at all. `tellTooLarge` is told
 * of each deposit that was to be credited and that its wallet had no room for, once it is stored.
 */
export function createLedgerWriter(db: Database, tellTooLarge: (key: CreditKey) => void = () => {}): LedgerWriter {
  const tables = () => openTables(db)
  const storing = (deposits: readonly Deposit[], at: UnixMs) =>
    toJsonTexts(eachOnce(deposits).map(writeDeposit), rowsMax).map((text) => db.prepare(insertDeposits).bind(text, at))
  const holding = (pending: readonly Pending[], at: UnixMs) =>
    toJsonTexts(eachOnce(pending).map(writePending), rowsMax).map((text) => db.prepare(upsertPending).bind(text, at))
  const run = async (statements: D1PreparedStatement[]) => {
    if (statements.length > 0) await db.batch(statements)
  }
  const store = async (deposits: readonly Deposit[], statements: D1PreparedStatement[]) => {
    const results = await db.batch<Stored>(statements)
    const full = results.flatMap(({ results: stored }) => stored).filter(({ outcome }) => outcome === 'too-large')
    for (const { txid, position } of full) {
      const wanted = deposits.find((one) => one.txid === txid && one.position === position)
      if (wanted?.outcome === 'credited') tellTooLarge({ txid, position })
    }
  }

  return {
    async start({ height, hash }, at) {
      await db.prepare(insertScan).bind(height, hash, at).run()
    },

    async acquireLease(lease, at, until) {
      const [, after] = await db.batch<ScanRow>([
        db.prepare('UPDATE scan SET lease = ?1, lease_until = ?3 WHERE lease_until <= ?2').bind(lease, at, until),
        db.prepare('SELECT * FROM scan'),
      ])
      return readClaim(after?.results[0], lease)
    },

    async releaseLease(lease, startedAt, trouble) {
      // Never backwards: a scan whose claim took long can have begun, by its own clock, before one that has ended.
      const later = (column: SQLiteColumn) => sql`max(${column}, ${startedAt})`
      await tables()
        .update(scans)
        .set({
          lease: '',
          lease_until: noTime,
          tried_at: later(scans.tried_at),
          trouble,
          ...(trouble === null ? { caught_up_at: later(scans.caught_up_at) } : {}),
        })
        .where(eq(scans.lease, lease))
    },

    async recordFinalized(height, at) {
      await tables().update(scans).set({ finalized: height, finalized_at: at }).where(lt(scans.finalized, height))
    },

    async halt(lease, why) {
      await tables().update(scans).set({ halted: why }).where(eq(scans.lease, lease))
    },

    async append(step) {
      try {
        await store(step.deposits, [
          db.prepare(refuseUnstarted),
          moveScan(db, step),
          ...storing(step.deposits, step.at),
          ...holding(step.pending, step.at),
          ...toJsonTexts(step.movements.map(writeMovement), rowsMax).map((text) =>
            db.prepare(insertMovements).bind(text),
          ),
        ])
        return 'appended'
      } catch (cause) {
        if (isMisplaced(cause)) return 'superseded'
        throw cause
      }
    },

    async credit(deposits, at) {
      if (deposits.length > 0) await store(deposits, storing(deposits, at)) // a trigger removes the pending row of each
    },

    async keepPending(pending, at) {
      await run(holding(pending, at))
    },

    async takeDue(at, nextTry, max) {
      const { results } = await db
        .prepare(takePending)
        .bind(at, nextTry, max)
        .run<typeof pendingDeposits.$inferSelect>()
      // RETURNING has no order of its own.
      return results.map(readPending).sort((a, b) => a.since - b.since || a.block.height - b.block.height)
    },

    async removePending(keys) {
      const slim = keys.map(({ txid, position }) => ({ txid, position }))
      await run(toJsonTexts(slim, rowsMax).map((text) => db.prepare(deletePending).bind(text)))
    },

    async replaceSightings(sightings, at) {
      const texts = toJsonTexts((sightings ?? []).map(writeSighting), rowsMax)
      await run([
        ...(sightings === null ? [] : [db.prepare('DELETE FROM sighting')]),
        ...texts.map((text) => db.prepare(insertSightings).bind(text)),
        db.prepare('UPDATE scan SET tail_read_at = ?1').bind(at),
      ])
    },

    async knownDecimals(contract) {
      const row = await tables()
        .select({ decimals: tokens.decimals })
        .from(tokens)
        .where(eq(tokens.contract, contract))
        .get()
      return row?.decimals ?? null
    },

    async storeDecimals(contract, decimals, at) {
      await tables()
        .insert(tokens)
        .values({ contract, decimals, created_at: at })
        .onConflictDoUpdate({ target: tokens.contract, set: { decimals, created_at: at } })
    },
  }
}

const noTime = 0 as UnixMs

const insertScan = `
INSERT INTO scan (id, height, hash, finalized, finalized_at, advanced_at, caught_up_at, tried_at, tail_read_at, lease,
  lease_until)
SELECT 1, ?1, ?2, ?1, ?3, ?3, 0, 0, 0, '', 0 WHERE NOT EXISTS (SELECT 1 FROM scan)`

/** Fails in the same way as a wrong position where there is no row that the next statement could fail on. */
const refuseUnstarted = `
INSERT INTO scan (id, height, finalized, finalized_at, advanced_at, caught_up_at, tried_at, tail_read_at, lease,
  lease_until)
SELECT 1, NULL, 0, 0, 0, 0, 0, 0, '', 0 WHERE NOT EXISTS (SELECT 1 FROM scan)`

// By the time of the next try, not by age: else ten that can't be decided would be tried for ever, and no others.
const takePending = `
UPDATE pending SET next_try = ?2
WHERE (txid, position) IN (
  SELECT txid, position FROM pending WHERE next_try <= ?1 ORDER BY next_try, since, height, txid, position LIMIT ?3)
RETURNING *`

/** Moves the position, or fails the batch: a height that is not the expected one becomes NULL, which is refused. */
function moveScan(db: Database, { after, to, finalized, lease, at }: ScanStep): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE scan SET height = CASE WHEN height = ?1 AND lease = ?2 THEN ?3 ELSE NULL END, hash = ?4,
        finalized = max(finalized, ?5), finalized_at = iif(?5 > finalized, ?6, finalized_at),
        advanced_at = ?6, halted = NULL`,
    )
    .bind(after, lease, to.height, to.hash, finalized, at)
}

/** Whether the batch failed because the position or the lease is somebody else's. Any other failure is a bug. */
function isMisplaced(cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes('NOT NULL constraint failed: scan.height')
}

function readClaim(row: ScanRow | undefined, lease: string): LeaseAttempt {
  if (row === undefined) return { kind: 'not-started' }
  return { kind: row.lease === lease ? 'claimed' : 'held', state: readScan(row) }
}

/** The first of each credit key: one statement can't see the rows that it is storing. */
function eachOnce<T extends CreditKey>(entries: readonly T[]): readonly T[] {
  const byKey = new Map<string, T>()
  for (const entry of entries) {
    const key = `${entry.txid}:${entry.position}`
    if (!byKey.has(key)) byKey.set(key, entry)
  }
  return [...byKey.values()]
}
