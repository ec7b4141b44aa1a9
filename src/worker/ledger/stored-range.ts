import { eq, sql } from 'drizzle-orm'
import { type Address, formatBase58 } from '../chain/address.ts'
import { reservedUid, type Uid } from '../common/ids.ts'
import { allUsers, type UserRange } from '../common/user-range.ts'
import { nowInDatabase, openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../d1/database.ts'
import { addresses, storedSettings, wallets } from '../d1/tables.ts'
import { type SettingDifference, selectCells, storeCells } from './stored-settings.ts'

const { name, value, stored_at: storedAt } = storedSettings

/** The name of the stored setting with a database's range of users, where there are several databases (`CELLS`). Triggers refuse every user outside of it. */
export const rangeSetting = 'CELLS'

/** A database, the users that `CELLS` gives it, and the first address of its key, by which databases know each other. */
export interface RangeOfUsers {
  readonly db: WriteDatabase
  readonly users: UserRange
  readonly firstAddress: Address
}

/**
 * Stores the configured range of users in a database, so that no user is ever in two databases. First every database, this one included, gives up the users
 * that `CELLS` no longer gives it. Then this database takes its new users, unless another database still has one of them. So an isolate with the old
 * configuration can add no user whom another database has by now. Each database also stores which ones there are. It takes no users while one of these is
 * missing in `CELLS`, because that one may have them and cannot be asked. Returns why the range could not be stored; empty if it is stored. If the range was
 * stored already, no other database is read.
 */
export async function storeRange(
  own: RangeOfUsers,
  others: readonly RangeOfUsers[],
): Promise<readonly SettingDifference[]> {
  const { db, users } = own
  const configured = textOf(users)
  const stored = await selectRange(db)
  if (stored === configured) return []
  const outside = await selectOutside(db, users)
  if (outside !== null)
    return [{ setting: rangeSetting, stored: `user ${outside} has an address or a wallet`, configured }]
  const firstAddresses = [own, ...others].map(({ firstAddress }) => firstAddress)
  const missing = isWithin(users, stored) ? null : await findMissing(db, firstAddresses)
  if (missing !== null) return [{ setting: rangeSetting, stored: `the cell of ${missing}`, configured: 'missing' }]
  const takenBefore = await findTaken(users, others, selectKept) // a refused configuration leaves no trace, so no cell of it is missing later
  if (takenBefore !== null) return [takenBefore]
  for (const one of [own, ...others]) await storeCells(one.db, firstAddresses)
  await giveUp(own)
  const taken = await findTaken(users, others, giveUp)
  if (taken !== null) return [taken]
  await writeRange(db, users)
  return []
}

/** The difference that one of these databases keeps some of the users, by the range that `rangeOf` says; null if none does. */
async function findTaken(
  users: UserRange,
  others: readonly RangeOfUsers[],
  rangeOf: (other: RangeOfUsers) => Promise<UserRange>,
): Promise<SettingDifference | null> {
  for (const other of others) {
    const range = await rangeOf(other)
    const isTaken = range.from <= users.to && users.from <= range.to
    if (isTaken)
      return { setting: rangeSetting, stored: `another database has users ${textOf(range)}`, configured: textOf(users) }
  }
  return null
}

/**
 * The range of a database that is left of its stored one: those of its users whom the configuration still gives it. The whole stored range if no user would be
 * left, or if another user has an address or a wallet in the database.
 */
async function selectKept({ db, users }: RangeOfUsers): Promise<UserRange> {
  const before = parse(await selectRange(db))
  const both = { from: Math.max(before.from, users.from), to: Math.min(before.to, users.to) } as UserRange // safe: numbers of users
  return both.from > both.to || (await selectOutside(db, both)) !== null ? before : both
}

/** Reduces the stored range of a database to what `selectKept` says. Returns the range that is stored now. */
async function giveUp(one: RangeOfUsers): Promise<UserRange> {
  const kept = await selectKept(one)
  if (textOf(parse(await selectRange(one.db))) !== textOf(kept)) await writeRange(one.db, kept)
  return kept
}

const textOf = ({ from, to }: UserRange) => `${from}-${to}`

function parse(stored: string | null): UserRange {
  if (stored === null) return allUsers
  const [from, to] = stored.split('-').map(Number)
  return { from, to } as UserRange // safe: written by `textOf`
}

/** Whether the database has all these users already, by its stored range. */
function isWithin({ from, to }: UserRange, stored: string | null): boolean {
  const range = parse(stored)
  return from >= range.from && to <= range.to
}

/** The first address of a cell that the database knows and that is not in `firstAddresses`; null if all are. */
async function findMissing(db: ReadDatabase, firstAddresses: readonly Address[]): Promise<string | null> {
  const present = new Set(firstAddresses.map(formatBase58))
  return (await selectCells(db)).find((address) => !present.has(address)) ?? null
}

async function selectRange(db: ReadDatabase): Promise<string | null> {
  const [stored] = await openTables(db).select({ value }).from(storedSettings).where(eq(name, rangeSetting))
  return stored?.value ?? null
}

/** Stores the range. A trigger refuses it if a user outside of it has an address or a wallet in the database. */
async function writeRange(db: WriteDatabase, users: UserRange): Promise<void> {
  const statement = sql`
INSERT INTO ${storedSettings} (${sql.raw([name, value, storedAt].map((column) => column.name).join(', '))})
VALUES (${rangeSetting}, ${textOf(users)}, ${nowInDatabase})
ON CONFLICT DO UPDATE SET value = excluded.value`
  await toStatement(db, statement).run()
}

/** Finds a user outside of the range who has an address or a wallet in the database; null if there is none. It reads a few rows. */
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
