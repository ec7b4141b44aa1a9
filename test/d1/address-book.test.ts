import { beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../src/addresses/address.ts'
import type { AddressBook } from '../../src/addresses/address-book.ts'
import { createAddressBook } from '../../src/d1/address-book.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, deposit, issue, ms, txid, uid } from './entries.ts'
import { watch } from './watched.ts'

let db: D1Database
let book: AddressBook

beforeEach(async () => {
  db = await freshDatabase()
  book = createAddressBook(db)
})

const indices = async () => (await db.prepare('SELECT idx FROM address ORDER BY idx').raw<[number]>()).flat()
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

describe('issueFirst', () => {
  it("issues the address of the next index as the caller's current one", async () => {
    expect(await book.issueFirst(uid(7), addressAt)).toEqual({ id: 1, uid: 7, index: 0, address: addressAt(0) })
    expect(await book.issueFirst(uid(8), addressAt)).toEqual({ id: 2, uid: 8, index: 1, address: addressAt(1) })
    expect(await book.current(uid(8))).toEqual({ id: 2, uid: 8, index: 1, address: addressAt(1) })
  })

  it('gives the one that there is', async () => {
    const first = await book.issueFirst(uid(7), addressAt)
    expect(await book.issueFirst(uid(7), addressAt)).toEqual(first)
    expect(await indices()).toEqual([0])
  })

  it('issues one address to one caller that asks two hundred times at once', async () => {
    const issued = await Promise.all(upTo(200).map(() => book.issueFirst(uid(7), addressAt)))
    expect(new Set(issued.map((one) => one.address))).toEqual(new Set([addressAt(0)]))
    expect(await indices()).toEqual([0])
  })

  it('never shares an address and leaves no hole where two hundred callers ask at once', async () => {
    const issued = await Promise.all(upTo(200).map((n) => book.issueFirst(uid(n + 1), addressAt)))
    expect(new Set(issued.map((one) => one.address)).size).toBe(200)
    expect(issued.map((one) => one.uid)).toEqual(upTo(200).map((n) => n + 1))
    for (const one of issued) expect(one.address).toBe(addressAt(one.index))
    expect(await indices()).toEqual(upTo(200))
  })

  it('serves the largest uid', async () => {
    const largest = uid(Number.MAX_SAFE_INTEGER)
    await book.issueFirst(largest, addressAt)
    expect((await book.current(largest))?.uid).toBe(largest)
  })
})

describe('issueFurther', () => {
  it('issues a further address, which is the current one from then on', async () => {
    const first = await book.issueFirst(uid(7), addressAt)
    const second = await book.issueFurther(uid(7), addressAt, 20)
    expect(second).toEqual({ id: 2, uid: 7, index: 1, address: addressAt(1) })
    expect(await book.current(uid(7))).toEqual(second)
    expect(await book.all(uid(7))).toEqual([first, second])
  })

  it('refuses where as many addresses as the gap limit are without a deposit', async () => {
    for (const _ of upTo(3)) expect(await book.issueFurther(uid(7), addressAt, 3)).toMatchObject({ uid: 7 })
    expect(await book.issueFurther(uid(7), addressAt, 3)).toBe('gap-limit')
    expect(await book.issueFurther(uid(8), addressAt, 3)).toMatchObject({ uid: 8, index: 3 })
    const paid = deposit({ uid: uid(7), to: addressAt(1) })
    await createLedgerWriter(db).credit([paid, { ...paid, txid: txid(2) }], ms(1))
    expect(await book.issueFurther(uid(7), addressAt, 3)).toMatchObject({ uid: 7, index: 4 })
    expect(await book.issueFurther(uid(7), addressAt, 3)).toBe('gap-limit')
  })

  it('never goes past the gap limit, shares nothing and leaves no hole, whoever asks at once', async () => {
    const calls = upTo(200).map((n) => book.issueFurther(uid((n % 5) + 1), addressAt, 20))
    const issued = await Promise.all(calls)
    expect(issued.filter((one) => one === 'gap-limit')).toHaveLength(100)
    expect(await indices()).toEqual(upTo(100))
    for (const owner of [1, 2, 3, 4, 5]) expect(await book.all(uid(owner))).toHaveLength(20)
  })
})

describe('current and all', () => {
  it('are null and empty where none was issued yet', async () => {
    await issue(db, [1])
    expect(await book.current(uid(2))).toBeNull()
    expect(await book.all(uid(2))).toEqual([])
  })

  it("read the caller's own addresses only, oldest first", async () => {
    await issue(db, [1, 2, 1])
    expect((await book.all(uid(1))).map((one) => one.index)).toEqual([0, 2])
    expect(await book.current(uid(1))).toMatchObject({ index: 2 })
  })
})

describe('match', () => {
  it('says which addresses were issued, and to whom', async () => {
    await issue(db, [1, 2, 1])
    const asked = [addressAt(2), addressAt(9), addressAt(1), addressAt(2)]
    expect(await book.match(asked)).toEqual(
      new Map([
        [addressAt(2), 1],
        [addressAt(1), 2],
      ]),
    )
    expect(await book.match([])).toEqual(new Map())
  })

  it('takes more addresses than one bound text has room for', async () => {
    await issue(db, [1, 2])
    const strangers = upTo(50_000).map((n) => n.toString(16).padStart(40, 'c') as Address)
    expect(await book.match([...strangers, addressAt(1)])).toEqual(new Map([[addressAt(1), 2]]))
  })

  it('reads by the index what was asked for, not what was issued', async () => {
    await db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
         INSERT INTO address (idx, uid, hex, created_at) SELECT i, i + 1, printf('%040x', i + 160), 0 FROM n ORDER BY i`,
      )
      .run()
    const watched = watch(db)
    const found = await createAddressBook(watched.db).match([addressAt(7), addressAt(2_000), addressAt(5_000)])
    expect([...found.values()]).toEqual([8, 2001])
    const { rows, trips } = watched.spent()
    expect(trips).toBe(1)
    expect(rows).toBeLessThanOrEqual(8)
  })
})
