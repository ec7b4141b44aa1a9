import { beforeEach, describe, expect, it } from 'vitest'
import type { AddressBook } from '../../src/addresses/address-book.ts'
import type { Address } from '../../src/chain/address.ts'
import { createAddressBook } from '../../src/d1/address-book.ts'
import { createAddressFilter } from '../../src/d1/address-filter.ts'
import { createDepositStore } from '../../src/d1/deposit-store.ts'
import { createScanStore } from '../../src/d1/scan-store.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, block, deposit, height, issue, ms, txid, uid } from './fixtures.ts'
import { watch } from './watch.ts'

let db: D1Database
let book: AddressBook

beforeEach(async () => {
  db = await freshDatabase()
  book = createAddressBook(db)
  await createScanStore(db).start(block(90), ms(1), height(100))
})

const indices = async () =>
  (await db.prepare('SELECT derivation_index FROM address ORDER BY id').raw<[number]>()).flat()
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

describe('issueFirst', () => {
  it("issues the address of the next index as the caller's current one", async () => {
    expect(await book.issueFirst(uid(7), addressAt)).toEqual({ id: 1, uid: 7, index: 0, address: addressAt(0) })
    expect(await book.issueFirst(uid(8), addressAt)).toEqual({ id: 2, uid: 8, index: 1, address: addressAt(1) })
    expect(await book.current(uid(8))).toEqual({ id: 2, uid: 8, index: 1, address: addressAt(1) })
  })

  it('returns the existing address', async () => {
    const first = await book.issueFirst(uid(7), addressAt)
    expect(await book.issueFirst(uid(7), addressAt)).toEqual(first)
    expect(await indices()).toEqual([0])
  })

  it('issues one address for two hundred concurrent calls of one caller', async () => {
    const issued = await Promise.all(upTo(200).map(() => book.issueFirst(uid(7), addressAt)))
    expect(new Set(issued.map((one) => one.address))).toEqual(new Set([addressAt(0)]))
    expect(await indices()).toEqual([0])
  })

  it('issues two hundred different addresses without a gap for concurrent calls of two hundred callers', async () => {
    const issued = await Promise.all(upTo(200).map((n) => book.issueFirst(uid(n + 1), addressAt)))
    expect(new Set(issued.map((one) => one.address)).size).toBe(200)
    expect(issued.map((one) => one.uid)).toEqual(upTo(200).map((n) => n + 1))
    for (const one of issued) expect(one.address).toBe(addressAt(one.index))
    expect(await indices()).toEqual(upTo(200))
  })

  it('starts at the first index of an empty database, and goes on without a gap', async () => {
    const later = createAddressBook(db, 5)
    expect(await later.issueFirst(uid(7), addressAt)).toEqual({ id: 6, uid: 7, index: 5, address: addressAt(5) })
    expect(await createAddressBook(db, 100).issueFurther(uid(8), addressAt, 20)).toMatchObject({ id: 7, index: 6 })
    expect(await createAddressBook(db, 0).issueFurther(uid(8), addressAt, 20)).toMatchObject({ id: 8, index: 7 })
  })

  it('stores the finalized height at the moment of its insertion, and issues nothing before the scan has started', async () => {
    await book.issueFirst(uid(7), addressAt)
    await createScanStore(db).recordFinalized(height(120), ms(2))
    await book.issueFirst(uid(8), addressAt)
    expect([...(await book.match([addressAt(0), addressAt(1)])).values()]).toEqual([
      { uid: 7, issuedHeight: 100 },
      { uid: 8, issuedHeight: 120 },
    ])
    const empty = createAddressBook(await freshDatabase())
    await expect(empty.issueFirst(uid(7), addressAt)).rejects.toThrow('address.issued_height')
  })

  it('works for the largest uid', async () => {
    const largest = uid(Number.MAX_SAFE_INTEGER)
    await book.issueFirst(largest, addressAt)
    expect((await book.current(largest))?.uid).toBe(largest)
  })
})

describe('issueFurther', () => {
  it('issues a further address and makes it the current one', async () => {
    const first = await book.issueFirst(uid(7), addressAt)
    const second = await book.issueFurther(uid(7), addressAt, 20)
    expect(second).toEqual({ id: 2, uid: 7, index: 1, address: addressAt(1) })
    expect(await book.current(uid(7))).toEqual(second)
    expect(await book.all(uid(7))).toEqual([first, second])
  })

  it('refuses when the number of addresses without a deposit has reached the gap limit', async () => {
    for (const _ of upTo(3)) expect(await book.issueFurther(uid(7), addressAt, 3)).toMatchObject({ uid: 7 })
    expect(await book.issueFurther(uid(7), addressAt, 3)).toBe('gap-limit')
    expect(await book.issueFurther(uid(8), addressAt, 3)).toMatchObject({ uid: 8, index: 3 })
    const paid = deposit({ uid: uid(7), to: addressAt(1) })
    await createDepositStore(db, () => {}).credit([paid, { ...paid, txid: txid(2) }], ms(1))
    expect(await book.issueFurther(uid(7), addressAt, 3)).toMatchObject({ uid: 7, index: 4 })
    expect(await book.issueFurther(uid(7), addressAt, 3)).toBe('gap-limit')
  })

  it('stays within the gap limit, shares no address and leaves no gap for concurrent calls', async () => {
    const calls = upTo(200).map((n) => book.issueFurther(uid((n % 5) + 1), addressAt, 20))
    const issued = await Promise.all(calls)
    expect(issued.filter((one) => one === 'gap-limit')).toHaveLength(100)
    expect(await indices()).toEqual(upTo(100))
    for (const owner of [1, 2, 3, 4, 5]) expect(await book.all(uid(owner))).toHaveLength(20)
  })
})

describe('current and all', () => {
  it('return null and an empty list before the first address', async () => {
    await issue(db, [1])
    expect(await book.current(uid(2))).toBeNull()
    expect(await book.all(uid(2))).toEqual([])
  })

  it("return only the caller's own addresses, oldest first", async () => {
    await issue(db, [1, 2, 1])
    expect((await book.all(uid(1))).map((one) => one.index)).toEqual([0, 2])
    expect(await book.current(uid(1))).toMatchObject({ index: 2 })
  })
})

describe('match', () => {
  it('returns the owners of the addresses that were issued', async () => {
    await issue(db, [1, 2, 1])
    const list = [addressAt(2), addressAt(9), addressAt(1), addressAt(2)]
    expect(await book.match(list)).toEqual(
      new Map([
        [addressAt(2), { uid: 1, issuedHeight: 100 }],
        [addressAt(1), { uid: 2, issuedHeight: 100 }],
      ]),
    )
    expect(await book.match([])).toEqual(new Map())
  })

  it('accepts more addresses than fit into one bound text', async () => {
    await issue(db, [1, 2])
    const strangers = upTo(50_000).map((n) => n.toString(16).padStart(40, 'c') as Address)
    expect(await book.match([...strangers, addressAt(1)])).toEqual(
      new Map([[addressAt(1), { uid: 2, issuedHeight: 100 }]]),
    )
  })

  /** Addresses of 3,000 callers. */
  async function issueThousands() {
    await db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
         INSERT INTO address (derivation_index, uid, address, issued_height, created_at)
         SELECT i, i + 1, printf('%040x', i + 160), 100, 0 FROM n ORDER BY i`,
      )
      .run()
  }

  it('reads as many rows as there are addresses in the list, and as many into the filter, not the whole table', async () => {
    await issueThousands()
    const watched = watch(db)
    const found = await createAddressBook(watched.db).match([addressAt(7), addressAt(2_000), addressAt(5_000)])
    expect([...found.values()].map((owner) => owner.uid)).toEqual([8, 2001])
    const { rows, trips } = watched.spent()
    expect(trips).toBe(1)
    expect(rows).toBeLessThanOrEqual(16)
  })

  it('looks up no stranger as soon as the filter has all addresses', async () => {
    await issueThousands()
    const watched = watch(db)
    const matching = createAddressBook(watched.db)
    const strangers = upTo(2_000).map((n) => addressAt(n + 10_000))
    await matching.match(strangers)
    await matching.match(strangers)
    watched.spent()
    expect(await matching.match([...strangers, addressAt(2_999)])).toEqual(
      new Map([[addressAt(2_999), { uid: 3_000, issuedHeight: 100 }]]),
    )
    const { rows, trips } = watched.spent()
    expect(trips).toBe(1)
    expect(rows).toBeLessThanOrEqual(8)
  })

  it('finds addresses that were issued since, by another isolate and however many they are', async () => {
    const other = createAddressBook(db)
    await other.issueFirst(uid(1), addressAt)
    expect(await book.match([addressAt(0), addressAt(1)])).toHaveProperty('size', 1)
    await other.issueFirst(uid(2), addressAt)
    expect(await book.match([addressAt(1)])).toHaveProperty('size', 1)
    for (const owner of [3, 4, 5]) await other.issueFirst(uid(owner), addressAt)
    expect(await book.match([addressAt(4), addressAt(3)])).toHaveProperty('size', 2)
    expect(await book.match([addressAt(2)])).toHaveProperty('size', 1)
  })

  it('finds what a restored copy of the database issues again, with a filter that has more than the copy', async () => {
    const filter = createAddressFilter()
    await issue(db, [1, 2, 3, 4, 5])
    expect((await createAddressBook(db, 0, filter).match(upTo(9).map(addressAt))).size).toBe(5)
    const restored = await freshDatabase()
    await createScanStore(restored).start(block(90), ms(1), height(100))
    const later = createAddressBook(restored, 0, filter)
    for (const owner of [11, 12]) await later.issueFirst(uid(owner), addressAt)
    const owners = async () => [...(await later.match(upTo(9).map(addressAt))).values()].map((one) => one.uid)
    expect(await owners()).toEqual([11, 12])
    for (const owner of [13, 14, 15, 16]) await later.issueFirst(uid(owner), addressAt)
    expect(await owners()).toEqual([11, 12, 13, 14, 15, 16])
  })

  it('tells an address from a stranger’s with the same last digits', async () => {
    await issue(db, [1])
    const stranger = `ee${addressAt(0).slice(2)}` as Address
    await book.match([stranger, addressAt(9)])
    expect(await book.match([stranger])).toEqual(new Map())
  })

  it('finds what several calls at once look for', async () => {
    await issue(
      db,
      upTo(50).map((n) => n + 1),
    )
    const lists = [[3], [49, 50], upTo(60), [0, 1, 2], [48]].map((list) => list.map(addressAt))
    const found = await Promise.all(lists.map((list) => book.match(list)))
    expect(found.map(({ size }) => size)).toEqual([1, 1, 50, 3, 1])
    expect((await book.match(upTo(60).map(addressAt))).size).toBe(50)
  })
})
