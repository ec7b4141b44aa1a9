import { asc, desc, eq, gt, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { AddressBook, AddressOwner, IssuedAddress } from '../addresses/address-book.ts'
import type { Address } from '../chain/address.ts'
import type { Uid } from '../common/ids.ts'
import { type AddressFilter, createAddressFilter, type FilterPage, suffixDigits } from './address-filter.ts'
import { type Database, openTables, toJsonTexts } from './database.ts'
import { scans } from './scan-tables.ts'
import { build, names, param, type Statement, statement } from './statement.ts'
import { addresses, deposits } from './tables.ts'

/** Addresses in one look-up: 43 bytes each, and a bound text can have 2 MB. */
const lookUpMax = 40_000
/** Candidates of the attempts: more after each attempt that lost to other callers. Each takes 0.5 ms to derive. */
const candidateCounts = [1, 4, 16, 32]
const candidatesMax = 64
/** Attempts of one call; with `candidatesMax` enough for thousands of calls at once. */
const issueAttemptsMax = 100

/**
 * Every address that was ever issued, over D1. `firstIndex` is the first index of an empty database; `filter` is what the isolate
 * knows of the database.
 */
export function createAddressBook(db: Database, firstIndex = 0, filter = createAddressFilter()): AddressBook {
  return {
    async current(uid) {
      const [row] = await selectNewest(db, { uid }).raw<[id: number, index: number, address: Address]>()
      if (row === undefined) return null
      const [id, index, address] = row
      return { id, uid, index, address }
    },

    isEmpty: async () => (await selectAny(db).raw()).length === 0,

    async all(uid) {
      const { id, derivation_index: index, address } = addresses
      return await openTables(db)
        .select({ id, uid: addresses.uid, index, address })
        .from(addresses)
        .where(eq(addresses.uid, uid))
        .orderBy(asc(index))
    },

    issueFirst: (uid, addressAt) =>
      issue(db, uid, addressAt, insertFirst, { firstIndex }, (state) => readNewest(uid, state)),

    issueFurther: (uid, addressAt, gapLimit) =>
      issue(db, uid, addressAt, insertFurther, { firstIndex, gapLimit }, (state, inserted) => {
        if (inserted) return readNewest(uid, state)
        return state.unpaid >= gapLimit ? 'gap-limit' : null
      }),

    match: (list) => match(db, filter, list),
  }
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
  db: Database,
  uid: Uid,
  addressAt: (index: number) => Address,
  insert: Statement,
  values: { readonly firstIndex: number; readonly gapLimit?: number },
  resultOf: (state: BookState, inserted: boolean) => T | null,
): Promise<T> {
  let first = 0
  for (let attempt = 0; attempt <= issueAttemptsMax; attempt += 1) {
    const count = attempt === 0 ? 0 : (candidateCounts[attempt - 1] ?? candidatesMax) // the first only reads
    const candidates = JSON.stringify(Array.from({ length: count }, (_, i) => addressAt(first + i)))
    const [insertion, selection] = await db.batch<BookState>([
      insert(db, { uid, first, candidates, ...values }),
      selectState(db, { uid, ...values }),
    ])
    const state = selection?.results[0]
    if (insertion === undefined || state === undefined) throw new Error('a batch returned too few results')
    const result = resultOf(state, insertion.results.length > 0)
    if (result !== null) return result
    first = state.next
  }
  throw new Error(`no address was issued in ${issueAttemptsMax} attempts`)
}

function readNewest(uid: Uid, { id, derivation_index: index, address }: BookState): IssuedAddress | null {
  return id === null ? null : { id, uid, index, address }
}

/**
 * Looks up only what the filter may have, as soon as it has all addresses. Each look-up reads as many further addresses into it as
 * it looks up: so an isolate never reads more than twice the rows that it would read without the filter.
 */
async function match(
  db: Database,
  filter: AddressFilter,
  list: readonly Address[],
): Promise<ReadonlyMap<Address, AddressOwner>> {
  if (list.length === 0) return new Map()
  const { newestId: after, isComplete } = filter
  const likely = new Set(isComplete ? list.filter(filter.mayHave) : list)
  const limit = Math.min(list.length, lookUpMax)
  const [read, ...lookedUp] = await db.batch([selectPage(db, { after, limit }), ...lookUps(db, likely)])
  const page = read?.results[0] as FilterPage | undefined // the columns of the statement
  if (page === undefined) throw new Error('a batch returned too few results')
  const isLast = page.count < limit
  filter.add(page, isLast)
  if (!isComplete || page.count === 0) return toOwners(lookedUp)
  // Addresses were issued since the filter was read.
  const needed = new Set(isLast ? list.filter(filter.mayHave) : list)
  return toOwners(needed.size === likely.size ? lookedUp : await db.batch(lookUps(db, needed)))
}

function lookUps(db: Database, list: ReadonlySet<Address>): D1PreparedStatement[] {
  // Addresses that are neighbours in the index go together: its pages are then in memory (a third faster, November 2026).
  const neighbours = [...Map.groupBy(list, (address) => address.slice(0, 2)).values()].flat()
  return toJsonTexts(neighbours, lookUpMax).map((text) => selectOwners(db, { list: text }))
}

function toOwners(lookedUp: readonly D1Result[]): ReadonlyMap<Address, AddressOwner> {
  type Row = AddressOwner & { readonly address: Address }
  const rows = lookedUp.flatMap(({ results }) => results as Row[]) // the columns of the statement
  return new Map(rows.map(({ address, uid, issuedHeight }) => [address, { uid, issuedHeight }]))
}

const page = build
  .select({ id: addresses.id, address: addresses.address })
  .from(addresses)
  .where(gt(addresses.id, param('after')))
  .orderBy(asc(addresses.id))
  .limit(sql.placeholder('limit'))
  .as('page')
/** By hand: one row with the text of all addresses of the page. */
const selectPage = statement(sql`
SELECT count(*) AS count, coalesce(max(${page.id}), ${param('after')}) AS "newestId",
  coalesce(group_concat(substr(${page.address}, ${sql.raw(`-${suffixDigits}`)}), ''), '') AS suffixes
FROM ${page}`)

const newest = build
  .select({ id: addresses.id, derivation_index: addresses.derivation_index, address: addresses.address })
  .from(addresses)
  .where(eq(addresses.uid, param('uid')))
  .orderBy(desc(addresses.derivation_index))
  .limit(1)
const selectNewest = statement(newest)

const selectAny = statement(build.select({ id: addresses.id }).from(addresses).limit(1))

const own = alias(addresses, 'own')
const nextIndex = sql`(SELECT coalesce(max(${addresses.derivation_index}) + 1, ${param('firstIndex')}) FROM ${addresses})`
const unpaidCount = sql`(SELECT count(*) FROM ${addresses} AS ${own} WHERE ${own.uid} = ${param('uid')}
  AND NOT EXISTS (SELECT 1 FROM ${deposits} WHERE ${deposits.to_address} = ${own.address}))`

/** By hand: one row, whether the caller has an address or not. */
const selectState = statement(sql`
SELECT ${nextIndex} AS next, ${unpaidCount} AS unpaid, newest.*
FROM (SELECT 1) LEFT JOIN ${newest.as('newest')} ON true`)

/**
 * Issues the candidate whose index is the next one, if there is one. Where no scan has started, it fails. By hand: INSERT … SELECT
 * from json_each.
 */
const insertCandidate = sql`
INSERT INTO ${addresses} (${names(addresses.id, addresses.derivation_index, addresses.uid, addresses.address)},
  ${names(addresses.issued_height, addresses.created_at)})
SELECT ${param('first')} + key + 1, ${param('first')} + key, ${param('uid')}, value,
  (SELECT ${scans.finalized} FROM ${scans}), CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM json_each(${param('candidates')})
WHERE ${param('first')} + key = ${nextIndex}`
const insertFirst = statement(sql`${insertCandidate}
AND NOT EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.uid} = ${param('uid')}) RETURNING ${names(addresses.id)}`)
const insertFurther = statement(
  sql`${insertCandidate} AND ${unpaidCount} < ${param('gapLimit')} RETURNING ${names(addresses.id)}`,
)

/** CROSS JOIN makes the JSON list the outer loop, and INDEXED BY names the inner look-up, whatever the planner estimates. */
const selectOwners = statement(sql`
SELECT ${addresses.address}, ${addresses.uid}, ${addresses.issued_height} AS "issuedHeight"
FROM json_each(${param('list')}) CROSS JOIN ${addresses} INDEXED BY address_address ON ${addresses.address} = value`)
