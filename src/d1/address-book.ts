import { asc, eq } from 'drizzle-orm'
import type { Address } from '../addresses/address.ts'
import type { AddressBook } from '../addresses/address-book.ts'
import type { Uid } from '../ledger/entry.ts'
import { type Database, openTables, toJsonTexts } from './database.ts'
import { addresses } from './tables.ts'

/** Addresses in one look-up: 43 bytes each, and a bound text has room for 2 MB. */
const askedMax = 40_000
/** Indices derived for each attempt: more after each that others were quicker in. One costs 0.5 ms. */
const windows = [1, 4, 16, 32]
const windowMax = 64
/** Attempts of one call; with `windowMax` enough for thousands of calls at once. */
const attemptsMax = 100

/** What an attempt found: the index that is next, how many of the caller's addresses are unpaid, and its newest. */
interface Found {
  readonly next: number
  readonly unpaid: number
  readonly id: number | null
  readonly idx: number
  readonly hex: Address
}

/** Every address ever issued, over D1. */
export function createAddressBook(db: Database): AddressBook {
  /**
   * Tries to issue until `settled` says that it is done. Which index is free is known only inside the statement that
   * takes it, and SQL can't derive: so each attempt offers a few candidates, and the statement takes the fitting one.
   */
  const issue = async <T>(
    uid: Uid,
    derive: (index: number) => Address,
    insert: (from: number, candidates: string) => D1PreparedStatement,
    settled: (found: Found, inserted: boolean) => T | null,
  ): Promise<T> => {
    let from = 0
    for (let attempt = 0; attempt <= attemptsMax; attempt += 1) {
      const offered = attempt === 0 ? 0 : (windows[attempt - 1] ?? windowMax) // the first only looks
      const candidates = Array.from({ length: offered }, (_, place) => derive(from + place))
      const [insertion, state] = await db.batch<Found>([
        insert(from, JSON.stringify(candidates)),
        db.prepare(selectState).bind(uid),
      ])
      const found = state?.results[0]
      if (insertion === undefined || found === undefined) throw new Error('a batch answered with too few results')
      const result = settled(found, insertion.results.length > 0)
      if (result !== null) return result
      from = found.next
    }
    throw new Error(`no address was issued in ${attemptsMax} attempts`)
  }

  return {
    async current(uid) {
      const [row] = await db.prepare(selectNewest).bind(uid).raw<[id: number, index: number, address: Address]>()
      if (row === undefined) return null
      const [id, index, address] = row
      return { id, uid, index, address }
    },

    async all(uid) {
      return await openTables(db)
        .select({ id: addresses.id, uid: addresses.uid, index: addresses.idx, address: addresses.hex })
        .from(addresses)
        .where(eq(addresses.uid, uid))
        .orderBy(asc(addresses.idx))
    },

    issueFirst(uid, derive) {
      return issue(
        uid,
        derive,
        (from, candidates) => db.prepare(insertFirst).bind(uid, from, candidates),
        ({ id, idx, hex }) => (id === null ? null : { id, uid, index: idx, address: hex }),
      )
    },

    issueFurther(uid, derive, gapLimit) {
      return issue(
        uid,
        derive,
        (from, candidates) => db.prepare(insertFurther).bind(uid, from, candidates, gapLimit),
        ({ id, idx, hex, unpaid }, inserted) => {
          if (inserted && id !== null) return { id, uid, index: idx, address: hex }
          return unpaid >= gapLimit ? 'gap-limit' : null
        },
      )
    },

    async match(asked) {
      const owners = new Map<Address, Uid>()
      // Neighbours in the index one after the other: its pages are then still at hand (a third less time, November 2026).
      const neighbours = [...Map.groupBy(asked, (address) => address.slice(0, 2)).values()].flat()
      for (const text of toJsonTexts(neighbours, askedMax)) {
        for (const [address, uid] of await db.prepare(matchAddresses).bind(text).raw<[Address, Uid]>()) {
          owners.set(address, uid)
        }
      }
      return owners
    },
  }
}

const selectNewest = 'SELECT id, idx, hex FROM address WHERE uid = ?1 ORDER BY idx DESC LIMIT 1'

const countUnpaid = `
SELECT count(*) FROM address AS own
WHERE own.uid = ?1 AND NOT EXISTS (SELECT 1 FROM deposit WHERE deposit.to_address = own.hex)`

const selectState = `
SELECT (SELECT coalesce(max(idx), -1) + 1 FROM address) AS next, (${countUnpaid}) AS unpaid, newest.id, newest.idx,
  newest.hex
FROM (SELECT 1) LEFT JOIN (${selectNewest}) AS newest ON true`

/** Issues to ?1 the candidate of list ?3 (the first of them has index ?2) whose index is the next one, if any has. */
const insertCandidate = `
INSERT INTO address (idx, uid, hex, created_at)
SELECT ?2 + key, ?1, value, CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM json_each(?3)
WHERE ?2 + key = (SELECT coalesce(max(idx), -1) + 1 FROM address)`
const insertFirst = `${insertCandidate} AND NOT EXISTS (SELECT 1 FROM address WHERE uid = ?1) RETURNING id`
const insertFurther = `${insertCandidate} AND (${countUnpaid}) < ?4 RETURNING id`

/** The JSON list drives and the unique index answers, whatever the planner would guess. */
const matchAddresses = `
SELECT issued.hex, issued.uid
FROM json_each(?1) AS asked CROSS JOIN address AS issued INDEXED BY address_hex ON issued.hex = asked.value`
