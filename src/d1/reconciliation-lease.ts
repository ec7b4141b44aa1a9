import { eq, sql } from 'drizzle-orm'
import type { UnixMs } from '../common/time.ts'
import { type Database, openTables } from './database.ts'
import { reconciliationLeases as leases } from './reconciliation-tables.ts'
import { build, names, param, statement } from './statement.ts'

/** Takes the lease of reconciliation unless another tick has it at `at`. */
export async function acquireLease(
  db: Database,
  lease: string,
  at: UnixMs,
  until: UnixMs,
): Promise<'acquired' | 'taken'> {
  const [, after] = await db.batch<LeaseRow>([takeLease(db, { lease, at, until }), selectLease(db)])
  return after?.results[0]?.lease === lease ? 'acquired' : 'taken'
}

/** Releases the lease of reconciliation. A no-op where it was lost. */
export async function releaseLease(db: Database, lease: string): Promise<void> {
  await openTables(db).update(leases).set({ lease: '' }).where(eq(leases.lease, lease))
}

type LeaseRow = typeof leases.$inferSelect
const { id, lease, lease_until } = leases

const taken = { lease: param('lease'), lease_until: param('until') }
const takeLease = statement(
  build
    .insert(leases)
    .values({ id: 1, ...taken })
    .onConflictDoUpdate({ target: id, set: taken, setWhere: sql`${lease} = '' OR ${lease_until} <= ${param('at')}` }),
)

const selectLease = statement(build.select().from(leases))

/** Fails the batch where the lease is lost: a CHECK refuses NULL. By hand: INSERT … SELECT with a condition. */
export const requireLease = statement(sql`
INSERT INTO ${leases} (${names(id, lease, lease_until)})
SELECT 1, NULL, 0 WHERE NOT EXISTS (SELECT 1 FROM ${leases} WHERE ${lease} = ${param('lease')})`)
