import { asc, desc, eq } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Uid } from '../common/ids.ts'
import {
  openTables,
  type ReadDatabase,
  type Statement,
  statement,
  toJsonTexts,
  type WriteDatabase,
} from '../d1/database.ts'
import { addresses } from '../d1/tables.ts'

/** An address that was issued to a caller. `index` is the last step of its derivation path. */
export interface IssuedAddress {
  readonly id: number
  readonly uid: Uid
  readonly index: number
  readonly address: Address
}

/** The caller of an address. */
export interface AddressOwner {
  readonly uid: Uid
  /** The finalized height when the address was issued. What was final then is not this caller's. */
  readonly issuedHeight: BlockHeight
}

/** Derives the address of an index. */
export type AddressAt = (index: number) => Address

/** Addresses in one look-up: 43 bytes each, and a bound text can have 2 MB. */
const lookUpMax = 40_000
/** Candidates of the attempts: more after each attempt that lost to other callers. Each takes 0.5 ms to derive. */
const candidateCounts = [1, 4, 16, 32]
const candidatesMax = 64
/** Attempts of one call; with `candidatesMax` enough for thousands of calls at once. */
const issueAttemptsMax = 100

const { id, uid, derivation_index: index, address } = addresses

/** The caller's newest address, or null where none was issued yet. */
export async function selectCurrent(db: ReadDatabase, caller: Uid): Promise<IssuedAddress | null> {
  const [row] = await openTables(db)
    .select({ id, uid, index, address })
    .from(addresses)
    .where(eq(uid, caller))
    .orderBy(desc(index))
    .limit(1)
  return row ?? null
}

/** The record of an address, or null where it was not issued. */
export async function selectIssued(db: ReadDatabase, issued: Address): Promise<IssuedAddress | null> {
  const [row] = await openTables(db).select({ id, uid, index, address }).from(addresses).where(eq(address, issued))
  return row ?? null
}

/** All of the caller's addresses, oldest first. */
export async function selectAddresses(db: ReadDatabase, caller: Uid): Promise<readonly IssuedAddress[]> {
  return openTables(db).select({ id, uid, index, address }).from(addresses).where(eq(uid, caller)).orderBy(asc(index))
}

/** Whether no address was issued to any caller. */
export async function isBookEmpty(db: ReadDatabase): Promise<boolean> {
  return (await openTables(db).select({ id }).from(addresses).limit(1)).length === 0
}

/**
 * The caller's first address. Two calls at once for one caller issue one address; two callers never share one; indices grow
 * from `firstIndex` without gaps. The scan must have started.
 */
export function issueFirst(
  db: WriteDatabase,
  caller: Uid,
  addressAt: AddressAt,
  firstIndex: number,
): Promise<IssuedAddress> {
  return issue(db, caller, addressAt, insertFirst, { firstIndex, gapLimit: 0 }, (state) => newestOf(caller, state))
}

/** A further address, unless `gapLimit` of the caller's addresses are without a deposit. */
export function issueFurther(
  db: WriteDatabase,
  caller: Uid,
  addressAt: AddressAt,
  firstIndex: number,
  gapLimit: number,
): Promise<IssuedAddress | 'gap-limit'> {
  return issue(db, caller, addressAt, insertFurther, { firstIndex, gapLimit }, (state, isInserted) => {
    if (isInserted) return newestOf(caller, state)
    return state.unpaid >= gapLimit ? ('gap-limit' as const) : null
  })
}

/** Which of these addresses were issued, and to which caller. One round trip, whatever their number. */
export async function matchAddresses(
  db: ReadDatabase,
  list: readonly Address[],
): Promise<ReadonlyMap<Address, AddressOwner>> {
  if (list.length === 0) return new Map()
  // Addresses that are neighbours in the index go together: its pages are then in memory.
  const neighbours = [...Map.groupBy(new Set(list), (one) => one.slice(0, 2)).values()].flat()
  type Row = AddressOwner & { readonly address: Address }
  const lookedUp = await db.batch<Row>(
    toJsonTexts(neighbours, lookUpMax).map((text) => selectOwners(db, { list: text })),
  )
  const rows = lookedUp.flatMap(({ results }) => results)
  return new Map(rows.map((row) => [row.address, { uid: row.uid, issuedHeight: row.issuedHeight }]))
}

/** What an attempt finds: the next index, how many of the caller's addresses have no deposit, and the newest of them. */
interface BookState {
  readonly next: number
  readonly unpaid: number
  readonly id: number | null
  readonly derivation_index: number
  readonly address: Address
}

/**
 * Tries to issue until `resultOf` has a result. Only the statement that takes an index sees which one is free, and SQL
 * cannot derive: so each attempt offers a few candidates, and the statement takes the one with the right index.
 */
async function issue<T>(
  db: WriteDatabase,
  caller: Uid,
  addressAt: AddressAt,
  insert: Statement,
  values: { readonly firstIndex: number; readonly gapLimit: number },
  resultOf: (state: BookState, isInserted: boolean) => T | null,
): Promise<T> {
  let first = 0
  for (let attempt = 0; attempt <= issueAttemptsMax; attempt += 1) {
    const count = attempt === 0 ? 0 : (candidateCounts[attempt - 1] ?? candidatesMax) // the first only reads
    const candidates = JSON.stringify(Array.from({ length: count }, (_, i) => addressAt(first + i)))
    const [insertion, selection] = await db.batch<BookState>([
      insert(db, { uid: caller, first, candidates, ...values }),
      selectState(db, { uid: caller, ...values }),
    ])
    const state = selection?.results[0]
    if (insertion === undefined || state === undefined) throw new Error('a batch returned too few results')
    const result = resultOf(state, insertion.results.length > 0)
    if (result !== null) return result
    first = state.next
  }
  throw new Error(`no address was issued in ${issueAttemptsMax} attempts`)
}

function newestOf(caller: Uid, state: BookState): IssuedAddress | null {
  if (state.id === null) return null
  return { id: state.id, uid: caller, index: state.derivation_index, address: state.address }
}

const nextIndex = '(SELECT coalesce(max(derivation_index) + 1, :firstIndex) FROM address)'
const unpaidCount = `(
  SELECT count(*) FROM address AS own WHERE own.uid = :uid AND NOT EXISTS (
    SELECT 1 FROM transfer WHERE to_address = own.address AND transfer.uid = :uid AND state IN ('held', 'refused', 'credited')))`

/** One row, whether the caller has an address or not. */
const selectState = statement(`
SELECT ${nextIndex} AS next, ${unpaidCount} AS unpaid, newest.* FROM (SELECT 1) LEFT JOIN (
  SELECT id, derivation_index, address FROM address WHERE uid = :uid ORDER BY derivation_index DESC LIMIT 1
) AS newest ON true`)

/** Issues the candidate whose index is the next one, if there is one. Where no scan has started, it fails. */
const insertCandidate = `
INSERT INTO address (id, derivation_index, uid, address, issued_height, created_at)
SELECT :first + key + 1, :first + key, :uid, value, (SELECT finalized FROM scan), CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM json_each(:candidates) WHERE :first + key = ${nextIndex}`
const insertFirst = statement(`${insertCandidate} AND NOT EXISTS (SELECT 1 FROM address WHERE uid = :uid) RETURNING id`)
const insertFurther = statement(`${insertCandidate} AND ${unpaidCount} < :gapLimit RETURNING id`)

/** CROSS JOIN makes the list the outer loop, and INDEXED BY names the inner look-up, whatever the planner estimates. */
const selectOwners = statement(`
SELECT address, uid, issued_height AS issuedHeight
FROM json_each(:list) CROSS JOIN address INDEXED BY address_address ON address = value`)
