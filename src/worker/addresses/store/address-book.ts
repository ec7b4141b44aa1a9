import { eq, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { BlockHeight } from '../../chain/block.ts'
import type { Uid } from '../../common/ids.ts'
import {
  bareList,
  columnName,
  fixedStatement,
  nowInDatabase,
  ofHex,
  type ReadDatabase,
  shownList,
  toJsonTexts,
  toStatement,
  type WriteDatabase,
} from '../../d1/database.ts'
import { scans } from '../../d1/state-tables.ts'
import { addresses, transfers } from '../../d1/tables.ts'

/** An issued address. `id` is the last step of its derivation path plus 1. */
export interface IssuedAddress {
  readonly id: number
  readonly uid: Uid
  readonly address: Address
}

export interface AddressOwner {
  readonly uid: Uid
  /**
   * The finalized height when the address was issued. Transfers in blocks up to this height do not
   * belong to the user.
   */
  readonly issuedHeight: BlockHeight
  /** Whether only orders have the address. */
  readonly isForOrders: boolean
}

/** Derives the address at an index of the deployment's extended public key; see `deriveAddress`. */
export type AddressAt = (index: number) => Address

/**
 * `listAddresses` counts a user's addresses up to this number, so that a user with many addresses
 * costs no more.
 */
export const addressesCountedMax = 1_000
/**
 * The most addresses in the JSON list of one statement. Each takes 43 bytes, and D1 binds texts up
 * to 2 MB.
 */
const lookUpMax = 40_000
/**
 * How many addresses each attempt of `issueNext` derives and offers. The number grows after each
 * attempt that found its indices taken by other users. Deriving an address takes 0.5 ms.
 */
const candidateCounts = [1, 4, 16, 32]
const candidatesMax = 64
/**
 * The most attempts of one call of `issueNext`. With `candidatesMax` they suffice for thousands of
 * concurrent calls.
 */
const issueAttemptsMax = 100

const {
  id,
  uid,
  address,
  issued_height: issuedHeight,
  created_at: createdAt,
  unpaid,
  for_orders: forOrders,
} = addresses
const addressColumns = shownList([id, uid, address])
const selectFrom = sql`SELECT ${addressColumns} FROM ${addresses}`
const isOfCaller = sql`${uid} = ${sql.placeholder('caller')}`
/**
 * SQL that is true for the addresses that users are shown. Each of its indices has only one kind.
 */
const isShown = sql`${forOrders} = 0`
const isOfOrders = sql`${forOrders} = 1`
const selectNewest = fixedStatement<'caller'>(
  sql`${selectFrom} WHERE ${isOfCaller} AND ${isShown} ORDER BY ${id} DESC LIMIT 1`,
)
const selectOldest = fixedStatement<'caller' | 'limit'>(sql`
${selectFrom} WHERE ${isOfCaller} AND ${isShown} UNION ALL ${selectFrom} WHERE ${isOfCaller} AND ${isOfOrders}
ORDER BY id LIMIT ${sql.placeholder('limit')}`)
const selectOne = fixedStatement<'issued'>(sql`${selectFrom} WHERE ${address} = ${ofHex(sql.placeholder('issued'))}`)
const selectAny = fixedStatement(sql`SELECT 1 FROM ${addresses} LIMIT 1`)

/** Reads the user's newest address, or null if none was issued. One for orders is none. */
export async function selectCurrent(db: ReadDatabase, caller: Uid): Promise<IssuedAddress | null> {
  return await selectNewest(db, { caller }).first<IssuedAddress>()
}

/** Reads the record of an address, or null if it was not issued. */
export async function selectIssued(db: ReadDatabase, issued: Address): Promise<IssuedAddress | null> {
  return await selectOne(db, { issued }).first<IssuedAddress>()
}

/** Reads the user's oldest addresses, `limit` at most, oldest first; those for orders, too. */
export async function selectAddresses(db: ReadDatabase, caller: Uid, limit: number): Promise<readonly IssuedAddress[]> {
  return (await selectOldest(db, { caller, limit }).all<IssuedAddress>()).results
}

/**
 * Reads up to `limit` of a user's addresses, except those for orders, newest first: those with ids
 * below `before`, or from the newest on if `before` is null. `count` is the number of all of the
 * user's addresses; `addressesCountedMax` means that many or more.
 */
export async function listAddresses(
  db: ReadDatabase,
  caller: Uid,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<{ readonly list: readonly IssuedAddress[]; readonly count: number }> {
  const own = sql`${addresses} INDEXED BY address_uid WHERE ${eq(uid, caller)} AND ${isShown}`
  const below = before === null ? sql`` : sql` AND ${lt(id, before)}`
  const [counted, page] = await db.batch<IssuedAddress & { readonly count: number }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${own} LIMIT ${addressesCountedMax})`),
    toStatement(db, sql`SELECT ${addressColumns} FROM ${own}${below} ORDER BY ${id} DESC LIMIT ${limit}`),
  ])
  return { list: page?.results ?? [], count: counted?.results[0]?.count ?? 0 }
}

/** Whether this database has never issued or reserved an address. */
export async function isBookEmpty(db: ReadDatabase): Promise<boolean> {
  return (await selectAny(db, {}).first()) === null
}

/**
 * Reads the owners of these addresses, in one round trip for any number. Addresses that were not
 * issued are missing in the result.
 */
export async function matchAddresses(
  db: ReadDatabase,
  list: readonly Address[],
): Promise<ReadonlyMap<Address, AddressOwner>> {
  if (list.length === 0) return new Map()
  // Addresses with the same first byte are close together in the index. Looking them up together
  // lets SQLite find its pages in memory.
  const neighbours = [...Map.groupBy(new Set(list), (one) => one.slice(0, 2)).values()].flat()
  type Row = Pick<typeof addresses.$inferSelect, 'address' | 'uid' | 'issued_height'> & { readonly for_orders: 0 | 1 }
  const lookedUp = await db.batch<Row>(
    toJsonTexts(neighbours, lookUpMax).map((text) => toStatement(db, selectOwners(text))),
  )
  const rows = lookedUp.flatMap(({ results }) => results)
  return new Map(
    rows.map((row) => [
      row.address,
      { uid: row.uid, issuedHeight: row.issued_height, isForOrders: row.for_orders === 1 },
    ]),
  )
}

/**
 * What an attempt of `issueNext` reads after its INSERT: the next free index, how many of the
 * user's addresses have no deposit, and `id` and `address` of the user's newest address, null if
 * there is none.
 */
interface BookState {
  readonly next: number
  readonly unpaid: number
  readonly id: number | null
  readonly address: Address
}

export interface NextAddresses {
  readonly addressAt: AddressAt
  /** The index of the first address in an empty database. */
  readonly firstIndex: number
  /**
   * The address from which payouts are paid, which must never be issued; null if there are no
   * payouts.
   */
  readonly payoutAddress: Address | null
}

/**
 * Issues the user's first address or, with `gapLimit`, another one; null if `gapLimit` of the
 * user's addresses have no deposit. Two concurrent calls for a first address issue a single
 * address, and two users never share an address. Indices grow from `firstIndex` without gaps. If
 * the next address would be the payout address, nothing is issued and `payout-address` is returned.
 * The scan must have started.
 *
 * Only the INSERT can know which index is free, and SQL cannot derive addresses. So each attempt
 * offers addresses for the next few indices, and the INSERT takes the address whose index is free.
 */
export async function issueNext(
  db: WriteDatabase,
  caller: Uid,
  { addressAt, firstIndex, payoutAddress }: NextAddresses,
  gapLimit: number | null,
): Promise<IssuedAddress | 'payout-address' | null> {
  let first = 0
  for (let attempt = 0; attempt <= issueAttemptsMax; attempt += 1) {
    // the first attempt offers no address: it reads the next index
    const count = attempt === 0 ? 0 : (candidateCounts[attempt - 1] ?? candidatesMax)
    const following = Array.from({ length: count }, (_, i) => addressAt(first + i))
    const payoutAddressAt = payoutAddress === null ? -1 : following.indexOf(payoutAddress)
    const candidates = JSON.stringify(payoutAddressAt < 0 ? following : following.slice(0, payoutAddressAt))
    const [insertion, selection] = await db.batch<BookState>([
      toStatement(db, insertCandidate(caller, first, candidates, firstIndex, gapLimit ?? 0)),
      toStatement(db, selectState(caller, firstIndex)),
    ])
    const state = selection?.results[0]
    if (insertion === undefined || state === undefined) throw new Error('a batch returned too few results')
    const { next, unpaid, id, address } = state
    const isDone = insertion.results.length > 0 || gapLimit === null
    if (isDone && id !== null) return { id, uid: caller, address }
    if (gapLimit !== null && unpaid >= gapLimit) return null
    if (payoutAddressAt >= 0 && next === first + payoutAddressAt) return 'payout-address'
    first = next
  }
  throw new Error(`no address was issued in ${issueAttemptsMax} attempts`)
}

/**
 * Issues `count` further addresses for the user's orders. If one of the next addresses would be the
 * payout address, `payout-address` is returned; some may have been issued then. The scan must have
 * started.
 */
export async function issueForOrders(
  db: WriteDatabase,
  caller: Uid,
  { addressAt, firstIndex, payoutAddress }: NextAddresses,
  count: number,
): Promise<'issued' | 'payout-address'> {
  let [first, missing] = [0, count]
  for (let attempt = 0; attempt <= issueAttemptsMax; attempt += 1) {
    // the first attempt offers no address: it reads the next index
    const spare = attempt === 0 ? -missing : (candidateCounts[attempt - 1] ?? candidatesMax) - 1
    const following = Array.from({ length: missing + spare }, (_, i) => addressAt(first + i))
    const payoutAddressAt = payoutAddress === null ? -1 : following.indexOf(payoutAddress)
    const candidates = JSON.stringify(payoutAddressAt < 0 ? following : following.slice(0, payoutAddressAt))
    const [insertion, selection] = await db.batch<{ readonly next: number }>([
      toStatement(db, insertForOrders(caller, first, candidates, firstIndex, missing)),
      toStatement(db, sql`SELECT ${nextIndex(firstIndex)} AS next`),
    ])
    const next = selection?.results[0]?.next
    if (insertion === undefined || next === undefined) throw new Error('a batch returned too few results')
    missing -= insertion.results.length
    if (missing === 0) return 'issued'
    if (payoutAddressAt >= 0 && next === first + payoutAddressAt) return 'payout-address'
    first = next
  }
  throw new Error(`no address was issued in ${issueAttemptsMax} attempts`)
}

/** SQL that issues the candidates with the next free indices to orders, `count` of them at most. */
function insertForOrders(caller: Uid, first: number, candidates: string, firstIndex: number, count: number): SQL {
  return sql`
INSERT INTO ${addresses} (${bareList([id, uid, address, issuedHeight, createdAt, forOrders])})
SELECT ${first} + key + 1, ${caller}, unhex(value), (SELECT ${scans.finalized} FROM ${scans}), ${nowInDatabase}, 1
FROM json_each(${candidates}) WHERE ${first} + key >= ${nextIndex(firstIndex)} ORDER BY key LIMIT ${count}
RETURNING ${columnName(id)}`
}

/**
 * SQL for the next free index. The id of an address is its index plus 1, so the highest id is the
 * next index.
 */
const nextIndex = (firstIndex: number) => sql`(SELECT coalesce(max(${id}), ${firstIndex}) FROM ${addresses})`

const own = alias(addresses, 'own')
/**
 * SQL for the ids of the user's addresses without a deposit, as a JSON list. Each address keeps
 * those that had none when it was issued, so only these and the newest one are looked at, however
 * many the user has.
 */
const unpaidIds = (caller: Uid) => sql`(
  SELECT json_group_array(${own.id})
  FROM (SELECT ${id}, ${unpaid} FROM ${addresses} WHERE ${uid} = ${caller} AND ${isShown}
    ORDER BY ${id} DESC LIMIT 1) AS newest
    CROSS JOIN json_each(json_insert(coalesce(newest.unpaid, '[]'), '$[#]', newest.id)) AS known
    CROSS JOIN ${addresses} AS ${own} ON ${own.id} = known.value
  WHERE NOT EXISTS (
    SELECT 1 FROM ${transfers} WHERE ${transfers.to_address} = ${own.address} AND ${transfers.uid} = ${caller}
      AND ${transfers.state} IN ('held', 'refused', 'credited')))`

/** Selects a `BookState`: one row, also for a user without an address. */
function selectState(caller: Uid, firstIndex: number): SQL {
  return sql`
SELECT ${nextIndex(firstIndex)} AS next, json_array_length(${unpaidIds(caller)}) AS unpaid, newest.* FROM (SELECT 1)
  LEFT JOIN (
  SELECT ${shownList([id, address])} FROM ${addresses} WHERE ${uid} = ${caller} AND ${isShown}
  ORDER BY ${id} DESC LIMIT 1
) AS newest ON true`
}

/**
 * SQL that issues the candidate with the next free index. It returns no row if no candidate has
 * that index, or if the user may have no further address. It fails before the first scan, because
 * there is no finalized height yet.
 */
function insertCandidate(caller: Uid, first: number, candidates: string, firstIndex: number, gapLimit: number): SQL {
  return sql`
INSERT INTO ${addresses} (${bareList([id, uid, address, issuedHeight, createdAt, unpaid])})
SELECT ${first} + key + 1, ${caller}, unhex(value), (SELECT ${scans.finalized} FROM ${scans}), ${nowInDatabase},
  nullif(older.unpaid, '[]')
FROM json_each(${candidates}) CROSS JOIN (SELECT ${unpaidIds(caller)} AS unpaid) AS older
WHERE ${first} + key = ${nextIndex(firstIndex)}
  AND (NOT EXISTS (SELECT 1 FROM ${addresses} WHERE ${uid} = ${caller} AND ${isShown})
    OR json_array_length(older.unpaid) < ${gapLimit})
RETURNING ${columnName(id)}`
}

/**
 * SQL that selects the owners of the addresses in a JSON list. CROSS JOIN makes the list the outer
 * loop, and INDEXED BY names the index of the inner loop, because the planner might choose
 * otherwise.
 */
function selectOwners(list: string): SQL {
  return sql`
SELECT ${shownList([address, uid, issuedHeight, forOrders])}
FROM json_each(${list}) CROSS JOIN ${addresses} INDEXED BY address_address ON ${address} = unhex(value)`
}
