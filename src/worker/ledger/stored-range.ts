import { sql } from 'drizzle-orm'
import { type Address, formatBase58 } from '../chain/address.ts'
import { reservedUid, type Uid } from '../common/ids.ts'
import { allUsers, formatRange, type UserRange } from '../common/user-range.ts'
import {
  bareList,
  nowInDatabase,
  type ReadDatabase,
  resultRows,
  toStatement,
  type WriteDatabase,
} from '../d1/database.ts'
import { addresses, userRanges, wallets } from '../d1/tables.ts'
import { selectCells, storeCells } from './kept-settings.ts'
import { rangeSetting, type SettingDifference, selectUserRange } from './stored-settings.ts'

/**
 * A database, the users that `CELLS` gives it, and the first address of its key, by which databases
 * know each other.
 */
export interface RangeOfUsers<Db extends ReadDatabase = WriteDatabase> {
  readonly db: Db
  readonly users: UserRange
  readonly firstAddress: Address
}
type ReadRange = RangeOfUsers<ReadDatabase>

/**
 * Stores the configured range of users in a database, so that no user is ever in two databases.
 * First every database, this one included, gives up the users that `CELLS` no longer gives it. Then
 * this database takes its new users, unless another database still has one of them. So an isolate
 * with the old configuration can add no user whom another database has by now. Each database also
 * stores which ones there are. It takes no users while one of these is missing in `CELLS`, because
 * that one may have them and cannot be asked. At the end it looks whether an isolate of another
 * configuration has done the same at the same time; then it takes its step back, and so does the
 * other one if it has not looked yet. Returns why the range could not be stored; empty if it is
 * stored. If the range was stored already, no other database is read.
 */
export async function storeRange(
  own: RangeOfUsers,
  others: readonly RangeOfUsers[],
): Promise<readonly SettingDifference[]> {
  const { db, users } = own
  const stored = await selectRange(db)
  if (stored !== null && isSame(stored, users)) return []
  // a refused configuration leaves no trace, so no cell of it is missing later
  const refusal = await findRefusal(own, others, stored)
  if (refusal !== null) return [refusal]
  const firstAddresses = [own, ...others].map(({ firstAddress }) => firstAddress)
  for (const one of [own, ...others]) await storeCells(one.db, firstAddresses)
  const left = await giveUp(own)
  const taken = await findTaken(users, others, giveUp)
  if (taken !== null) return [taken]
  const before = await writeRange(db, users)
  const takenMeanwhile = await findTaken(users, others, async (other) => (await selectRange(other.db)) ?? allUsers)
  if (takenMeanwhile === null) return []
  await writeRange(db, before ?? left, takenBack)
  return [takenMeanwhile]
}

/**
 * Says why `storeRange` would not store the range, for a command that only reads; empty if it
 * would.
 */
export async function findRangeDifferences(
  own: ReadRange,
  others: readonly ReadRange[],
): Promise<readonly SettingDifference[]> {
  const stored = await selectRange(own.db)
  const refusal = stored !== null && isSame(stored, own.users) ? null : await findRefusal(own, others, stored)
  return refusal === null ? [] : [refusal]
}

/** Why a database may not get this range in place of the stored one; null if it may. */
async function findRefusal(
  own: ReadRange,
  others: readonly ReadRange[],
  stored: UserRange | null,
): Promise<SettingDifference | null> {
  const { db, users } = own
  const outside = await selectOutside(db, users)
  if (outside !== null) {
    const found = `user ${outside} has an address or a wallet`
    return { setting: rangeSetting, stored: found, configured: formatRange(users) }
  }
  const firstAddresses = [own, ...others].map(({ firstAddress }) => firstAddress)
  const missing = isWithin(users, stored ?? allUsers) ? null : await findMissing(db, firstAddresses)
  if (missing !== null) {
    return { setting: rangeSetting, stored: `the cell of ${formatBase58(missing)}`, configured: 'missing' }
  }
  return findTaken(users, others, selectKept)
}

/**
 * The difference that one of these databases keeps some of the users, by the range that `rangeOf`
 * says; null if none does.
 */
async function findTaken<Db extends ReadDatabase>(
  users: UserRange,
  others: readonly RangeOfUsers<Db>[],
  rangeOf: (other: RangeOfUsers<Db>) => Promise<UserRange>,
): Promise<SettingDifference | null> {
  for (const other of others) {
    const range = await rangeOf(other)
    const isTaken = range.from < reservedUid && range.from <= users.to && users.from <= range.to
    if (isTaken)
      return {
        setting: rangeSetting,
        stored: `another database has users ${formatRange(range)}`,
        configured: formatRange(users),
      }
  }
  return null
}

/**
 * The range of a database that is left of its stored one: those of its users whom the configuration
 * still gives it. The whole stored range if no user would be left, or if another user has an
 * address or a wallet in the database.
 */
async function selectKept({ db, users }: ReadRange): Promise<UserRange> {
  const before = (await selectRange(db)) ?? allUsers
  // safe: numbers of users
  const both = { from: Math.max(before.from, users.from), to: Math.min(before.to, users.to) } as UserRange
  return both.from > both.to || (await selectOutside(db, both)) !== null ? before : both
}

/** Reduces the stored range of a database to what `selectKept` says. Returns that range. */
async function giveUp(one: RangeOfUsers): Promise<UserRange> {
  const kept = await selectKept(one)
  if (!isSame((await selectRange(one.db)) ?? allUsers, kept)) await writeRange(one.db, kept, reduced)
  return kept
}

const isSame = (one: UserRange, other: UserRange) => one.from === other.from && one.to === other.to

/** Whether all these users are in the range. */
const isWithin = ({ from, to }: UserRange, range: UserRange) => from >= range.from && to <= range.to

/**
 * The first address of a cell that the database knows and that is not in `firstAddresses`; null if
 * all are.
 */
async function findMissing(db: ReadDatabase, firstAddresses: readonly Address[]): Promise<Address | null> {
  return (await selectCells(db)).find((address) => !firstAddresses.includes(address)) ?? null
}

/**
 * The stored range of users; null if none is stored, so that the database has all users. Triggers
 * refuse every user outside of it.
 */
const selectRange = (db: ReadDatabase) => toStatement(db, selectUserRange).first<UserRange>()

/**
 * SQL that stores the new range in place of the one before, or only reduces that one: another
 * isolate may have reduced it meanwhile.
 */
const replaced = sql`first = excluded.first, last = excluded.last`
const reduced = sql`first = max(first, excluded.first), last = min(last, excluded.last)`
/**
 * SQL that reduces the stored range to what it has in common with the new one. If that is nothing,
 * only `reservedUid` is left, who is in every database: the database has no users then.
 */
const isNothing = sql`max(first, excluded.first) > min(last, excluded.last)`
const takenBack = sql`first = iif(${isNothing}, ${reservedUid}, max(first, excluded.first)),
  last = iif(${isNothing}, ${reservedUid}, min(last, excluded.last))`

/**
 * Stores the range, and returns the one before, or null. A trigger refuses it if a user outside of
 * it has an address or a wallet in the database.
 */
async function writeRange(db: WriteDatabase, { from, to }: UserRange, change = replaced): Promise<UserRange | null> {
  const { id, first, last, stored_at } = userRanges
  const statement = sql`
INSERT INTO ${userRanges} (${bareList([id, first, last, stored_at])}) VALUES (1, ${from}, ${to}, ${nowInDatabase})
ON CONFLICT DO UPDATE SET ${change}`
  const [before] = await db.batch([toStatement(db, selectUserRange), toStatement(db, statement)])
  return resultRows<UserRange>(before)[0] ?? null
}

/**
 * Finds a user outside of the range who has an address or a wallet in the database; null if there
 * is none. It reads a few rows.
 */
async function selectOutside(db: ReadDatabase, { from, to }: UserRange): Promise<Uid | null> {
  const ofTable = (table: typeof addresses | typeof wallets) => sql`
SELECT uid FROM (SELECT ${table.uid} FROM ${table} WHERE ${table.uid} < ${from} LIMIT 1)
UNION ALL SELECT uid FROM (SELECT ${table.uid} FROM ${table} WHERE ${table.uid} > ${to}
  AND ${table.uid} < ${reservedUid} LIMIT 1)`
  const found = await toStatement(
    db,
    sql`SELECT uid FROM (${ofTable(addresses)} UNION ALL ${ofTable(wallets)}) LIMIT 1`,
  ).first<{ readonly uid: Uid }>()
  return found?.uid ?? null
}
