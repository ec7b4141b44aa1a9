import { eq, sql } from 'drizzle-orm'
import { reservedUid, type Uid } from '../common/ids.ts'
import { allUsers, type UserRange } from '../common/user-range.ts'
import { nowInDatabase, openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../d1/database.ts'
import { addresses, storedSettings, wallets } from '../d1/tables.ts'
import type { SettingDifference } from './stored-settings.ts'

const { name, value, stored_at: storedAt } = storedSettings

/** The setting with the users of a database that shares them with others. The triggers refuse every other user, whichever isolate asks. */
export const rangeSetting = 'CELLS'

/** A database and the users that the configuration gives it. */
export interface RangeOfUsers {
  readonly db: WriteDatabase
  readonly users: UserRange
}

/**
 * Stores the users of a database, so that no user is ever in two of them. First each database gives up the users that it no longer has; then this one takes
 * more, if no other one has them. An isolate of the configuration before can therefore add no user whom another database has by now. Returns why the range
 * cannot be so: there is nothing to return while it is the stored one, and then no other database is read.
 */
export async function storeRange(
  own: RangeOfUsers,
  others: readonly RangeOfUsers[],
): Promise<readonly SettingDifference[]> {
  const { db, users } = own
  const configured = textOf(users)
  if ((await selectRange(db)) === configured) return []
  const outside = await selectOutside(db, users)
  if (outside !== null)
    return [{ setting: rangeSetting, stored: `user ${outside} has an address or a wallet`, configured }]
  await giveUp(own)
  for (const other of others) {
    const range = await giveUp(other)
    const isTaken = range.from <= users.to && users.from <= range.to
    if (isTaken) return [{ setting: rangeSetting, stored: `another database has users ${textOf(range)}`, configured }]
  }
  await writeRange(db, users)
  return []
}

/** Stores the users that a database has by both its stored range and the configured one, if it has addresses or wallets of no others. Returns its range. */
async function giveUp({ db, users }: RangeOfUsers): Promise<UserRange> {
  const stored = await selectRange(db)
  const before = stored === null ? allUsers : parse(stored)
  const both = { from: Math.max(before.from, users.from), to: Math.min(before.to, users.to) } as UserRange // safe: numbers of users
  if (both.from > both.to || (await selectOutside(db, both)) !== null) return before
  if (stored !== textOf(both)) await writeRange(db, both)
  return both
}

const textOf = ({ from, to }: UserRange) => `${from}-${to}`

function parse(stored: string): UserRange {
  const [from, to] = stored.split('-').map(Number)
  return { from, to } as UserRange // safe: written by `textOf`
}

async function selectRange(db: ReadDatabase): Promise<string | null> {
  const [stored] = await openTables(db).select({ value }).from(storedSettings).where(eq(name, rangeSetting))
  return stored?.value ?? null
}

/** Writes the range. A trigger refuses it if the database has other users. */
async function writeRange(db: WriteDatabase, users: UserRange): Promise<void> {
  const statement = sql`
INSERT INTO ${storedSettings} (${sql.raw([name, value, storedAt].map((column) => column.name).join(', '))})
VALUES (${rangeSetting}, ${textOf(users)}, ${nowInDatabase})
ON CONFLICT DO UPDATE SET value = excluded.value`
  await toStatement(db, statement).run()
}

/** A user outside of the range who has an address or a wallet here, or null. It reads a few rows. */
async function selectOutside(db: ReadDatabase, { from, to }: UserRange): Promise<Uid | null> {
  const ofTable = (table: typeof addresses | typeof wallets) => sql`
SELECT uid FROM (SELECT ${table.uid} FROM ${table} WHERE ${table.uid} < ${from} LIMIT 1)
UNION ALL SELECT uid FROM (SELECT ${table.uid} FROM ${table} WHERE ${table.uid} > ${to} AND ${table.uid} < ${reservedUid} LIMIT 1)`
  const found = await toStatement(
    db,
    sql`SELECT uid FROM (${ofTable(addresses)} UNION ALL ${ofTable(wallets)}) LIMIT 1`,
  ).first<{ readonly uid: Uid }>()
  return found?.uid ?? null
}
