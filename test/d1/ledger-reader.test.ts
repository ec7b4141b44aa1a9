import { beforeEach, describe, expect, it } from 'vitest'
import { createAddressBook } from '../../src/d1/address-book.ts'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import type { FlowId, WalletId } from '../../src/ledger/entry.ts'
import type { FlowFilter, FlowPage, LedgerReader, LedgerWriter } from '../../src/ledger/ledger-store.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  amount,
  anyFlow,
  cuy,
  deposit,
  issue,
  ms,
  pending,
  sighting,
  startScan,
  txid,
  uid,
} from './entries.ts'
import { watch } from './watched.ts'

let db: D1Database
let writer: LedgerWriter
let reader: LedgerReader

beforeEach(async () => {
  db = await freshDatabase()
  writer = createLedgerWriter(db)
  reader = createLedgerReader(db)
  await issue(db, [1, 2])
})

/** One entry of the book below: id is its place from 1. Callers 1 and 2 have wallets 1 (cuy 1), 2 (cuy 2) and 3. */
const entries: readonly (readonly [wallet: number, type: number, osn: string, amount: number, at: number])[] = [
  [1, 3, 'a', 100, 10],
  [3, 3, 'a', 100, 10],
  [2, 9, 'b', 50, 20],
  [1, 2, 'c', -30, 20],
  [1, 4, 'a', -20, 20],
  [3, 5, 'c', 7, 30],
  [2, 3, 'c', -1, 40],
  [1, 5, 'd', 5, 40],
]

async function writeBook(): Promise<void> {
  await db.batch([
    db.prepare('INSERT INTO wallet (uid, cuy) VALUES (1, 1), (1, 2), (2, 1)'),
    ...entries.map((entry) =>
      db
        .prepare(
          `INSERT INTO flow (wallet, uid, cuy, type, osn, amount, balance, mark, created_at)
           SELECT id, uid, cuy, ?2, ?3, ?4, balance + ?4, 'by hand', ?5 FROM wallet WHERE id = ?1`,
        )
        .bind(...entry),
    ),
  ])
}

const page = (number: number, limit = 20): FlowPage => ({ kind: 'number', page: number, limit })
const below = (id: number, limit = 20): FlowPage => ({ kind: 'before', before: id as FlowId, limit })
const wid = (n: number) => n as WalletId
const idsOf = async (changes: Partial<FlowFilter>, wanted = page(1), owner = 1) => {
  const { list, count } = await reader.flows(uid(owner), { ...anyFlow, ...changes }, wanted)
  return { ids: list.map((flow) => Number(flow.id)), count }
}

describe('balances', () => {
  it("reads the caller's wallets, a currency without an entry being absent", async () => {
    await writeBook()
    expect(await reader.balances(uid(1))).toEqual([
      { cuy: 1, amount: 55n },
      { cuy: 2, amount: 49n },
    ])
    expect(await reader.balances(uid(3))).toEqual([])
  })

  it('keeps every digit of the largest amount', async () => {
    await writer.credit([deposit({ amount: amount(9_007_199_254_740_991n) })], ms(1))
    expect(await reader.balances(uid(1))).toEqual([{ cuy: 1, amount: 9_007_199_254_740_991n }])
  })
})

describe('flows', () => {
  beforeEach(writeBook)

  it('reads whole entries', async () => {
    const { list } = await reader.flows(uid(1), anyFlow, page(1, 1))
    expect(list).toEqual([
      {
        id: 8,
        uid: 1,
        wid: 1,
        osn: 'd',
        type: 5,
        cuy: 1,
        amount: 5n,
        balance: 55n,
        mark: 'by hand',
        createdAt: 40,
      },
    ])
  })

  it.each<readonly [string, Partial<FlowFilter>, FlowPage, readonly number[], number]>([
    ['nothing', {}, page(1), [8, 7, 5, 4, 3, 1], 6],
    ['the second page', {}, page(2, 4), [3, 1], 6],
    ['a page past the end', {}, page(4, 2), [], 6],
    ['a page far past the end', {}, page(9_000_000_000, 100), [], 6],
    ['entries below an id', {}, below(5), [4, 3, 1], 6],
    ["entries below somebody else's id", {}, below(6, 2), [5, 4], 6],
    ['entries below an id that is still to come', {}, below(99, 1), [8], 6],
    ['entries below the first', {}, below(1), [], 6],
    ['a currency', { cuy: cuy(2) }, page(1), [7, 3], 2],
    ['a currency below an id', { cuy: cuy(1) }, below(5), [4, 1], 4],
    ['a currency without a wallet', { cuy: cuy(3) }, page(1), [], 0],
    ['a wallet', { wid: wid(1) }, page(1, 2), [8, 5], 4],
    ["somebody else's wallet", { wid: wid(3) }, page(1), [], 0],
    ['a wallet of another currency', { wid: wid(1), cuy: cuy(2) }, page(1), [], 0],
    ['a type in every wallet', { type: 3 }, page(1), [7, 1], 2],
    ['a type in every wallet, by pages', { type: 3 }, page(2, 1), [1], 2],
    ['a type in every wallet, below an id', { type: 3 }, below(7), [1], 2],
    ['a type in one currency', { type: 3, cuy: cuy(1) }, page(1), [1], 1],
    ['a type without entries', { type: 1 }, page(1), [], 0],
    ['an osn in every wallet', { osn: 'c' }, page(1), [7, 4], 2],
    ['an osn and a type', { osn: 'a', type: 4 }, page(1), [5], 1],
    ['an osn of nobody', { osn: 'zz' }, page(1), [], 0],
    ['a start of a time', { from: ms(20) }, page(1), [8, 7, 5, 4, 3], 5],
    ['a start after the last entry', { from: ms(41) }, page(1), [], 0],
    ['an end of a time', { to: ms(20) }, page(1), [1], 1],
    ['an end after the last entry', { to: ms(41) }, page(1, 1), [8], 6],
    ['a span', { from: ms(11), to: ms(40) }, page(1, 2), [5, 4], 3],
    ['a span below an id', { from: ms(11), to: ms(40) }, below(5), [4, 3], 3],
    ['a span without entries', { from: ms(21), to: ms(30) }, page(1), [], 0],
    ['a span that ends before it begins', { from: ms(40), to: ms(20) }, page(1), [], 0],
    ['a span in one currency', { from: ms(20), to: ms(40), cuy: cuy(1) }, page(1), [5, 4], 2],
    ['a span of one type', { from: ms(20), type: 3 }, page(1), [7], 1],
    ['a span of one osn', { to: ms(40), osn: 'c' }, page(1), [4], 1],
    ['all at once', { cuy: cuy(1), wid: wid(1), type: 2, osn: 'c', from: ms(20), to: ms(21) }, page(1), [4], 1],
  ])('filtered by %s come newest first with the count of all that match', async (_, filter, wanted, ids, count) => {
    expect(await idsOf(filter, wanted)).toEqual({ ids, count })
  })

  it("never shows somebody else's", async () => {
    expect(await idsOf({}, page(1), 2)).toEqual({ ids: [6, 2], count: 2 })
    expect(await idsOf({}, page(1), 3)).toEqual({ ids: [], count: 0 })
  })

  it('finds by a bare txid all of its entries, and by a full osn one', async () => {
    const token = (position: number) => deposit({ txid: txid(1), position, native: false, cuy: cuy(2) })
    await writer.credit([token(0), token(10), deposit({ txid: txid(2) })], ms(50))
    expect(await idsOf({ osn: txid(1) })).toEqual({ ids: [10, 9], count: 2 })
    expect(await idsOf({ osn: `${txid(1)}:1` })).toEqual({ ids: [], count: 0 })
    expect(await idsOf({ osn: `${txid(1)}:10` })).toEqual({ ids: [10], count: 1 })
    expect(await idsOf({ osn: txid(2) })).toEqual({ ids: [11], count: 1 })
    expect(await idsOf({ osn: txid(1).slice(1) })).toEqual({ ids: [], count: 0 })
  })
})

describe('deposits', () => {
  it('sums what was credited to the caller at or after a time, by currency', async () => {
    await writer.credit([deposit({ txid: txid(500), amount: amount(7n) })], ms(1000))
    await writer.credit([deposit({ txid: txid(400), uid: uid(2), to: addressAt(1) })], ms(2000))
    const dust = deposit({ txid: txid(600), outcome: 'dust', amount: amount(0n) })
    const many = Array.from({ length: 120 }, (_, n) => deposit({ txid: txid(n), amount: amount(2n) }))
    await writer.credit([...many, dust], ms(3000))
    expect(await reader.creditedSince(uid(1), ms(1000))).toEqual([{ cuy: 1, amount: 247n }])
    expect(await reader.creditedSince(uid(1), ms(1001))).toEqual([{ cuy: 1, amount: 240n }])
    expect(await reader.creditedSince(uid(1), ms(3001))).toEqual([])
  })

  it("reads the caller's in one transaction, by position", async () => {
    const token = { native: false, cuy: cuy(2), raw: 2n ** 256n - 1n }
    const own = [2, 10].map((position) => deposit({ ...token, position }))
    await writer.credit([...own].reverse(), ms(1000))
    await writer.credit([deposit({ ...token, position: 3, uid: uid(2), to: addressAt(1) })], ms(1000))
    expect(await reader.depositsOf(uid(1), txid(1))).toEqual(own)
    expect(await reader.depositsOf(uid(1), txid(2))).toEqual([])
  })
})

describe('pendingOf', () => {
  it("reads the caller's undecided deposits, oldest first, at most 100", async () => {
    await writer.keepPending([pending({ txid: txid(900) })], ms(1000))
    await writer.keepPending([pending({ txid: txid(901), uid: uid(2) })], ms(1000))
    await writer.keepPending(
      Array.from({ length: 120 }, (_, n) => pending({ txid: txid(n) })),
      ms(2000),
    )
    const all = await reader.pendingOf(uid(1), null)
    expect(all).toHaveLength(100)
    expect(all[0]).toEqual({ ...pending({ txid: txid(900) }), since: 1000 })
    expect(all[1]?.txid).toBe(txid(0))
    expect(await reader.pendingOf(uid(1), txid(119))).toEqual([{ ...pending({ txid: txid(119) }), since: 2000 }])
    expect(await reader.pendingOf(uid(1), txid(901))).toEqual([])
  })
})

describe('sightingsOf', () => {
  it("reads transfers to the caller's addresses, at most 100", async () => {
    await startScan(writer)
    const many = Array.from({ length: 120 }, (_, n) => sighting({ txid: txid(n) }))
    await writer.replaceSightings([...many, sighting({ txid: txid(999), to: addressAt(1) })], ms(1))
    expect(await reader.sightingsOf(uid(1))).toEqual(many.slice(0, 100))
    expect(await reader.sightingsOf(uid(2))).toEqual([sighting({ txid: txid(999), to: addressAt(1) })])
    expect(await reader.sightingsOf(uid(3))).toEqual([])
  })
})

describe('scanState', () => {
  it('is null before anything was started', async () => {
    expect(await reader.scanState()).toBeNull()
  })
})

describe('the cost of a read', () => {
  const count = 20_000

  /** Caller 1: `count` entries in one wallet, every hundredth of type 9, and one in another. */
  async function fillWallet(): Promise<void> {
    await db.batch([
      db.prepare('INSERT INTO wallet (uid, cuy) VALUES (1, 1), (1, 2)'),
      db
        .prepare(
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
           INSERT INTO flow (wallet, uid, cuy, type, osn, amount, balance, mark, created_at)
           SELECT 1, 1, 1, iif(i % 100 = 0, 9, 3), 'x' || i, 1, i, '', i FROM n ORDER BY i`,
        )
        .bind(count),
      db.prepare(`INSERT INTO flow VALUES (NULL, 2, 1, 2, 3, 'y', 1, 1, '', 99999)`),
    ])
  }

  it('is one round trip and at most 60 rows for a page of 20 with its count, at any depth', async () => {
    await fillWallet()
    const watched = watch(db)
    const cheap = createLedgerReader(watched.db)
    const asked: readonly (readonly [Partial<FlowFilter>, FlowPage, rowsMax: number])[] = [
      [{}, page(1), 30],
      [{}, page(2), 50],
      [{}, below(count), 30],
      [{}, below(count / 2), 30],
      [{}, below(25), 30],
      [{ cuy: cuy(1) }, below(count / 2), 30],
      [{ wid: wid(1) }, below(count / 2), 30],
      [{ cuy: cuy(2) }, page(1), 30],
      [{ from: ms(100), to: ms(120) }, below(count), 60],
      [{ osn: 'x77' }, page(1), 60],
      // What has to be counted is counted in an index: nothing but the matching entries.
      [{ type: 9 }, below(count / 2), 200 + 150],
      [{ type: 9, cuy: cuy(1) }, below(count / 2), 200 + 60],
      [{ type: 1 }, page(1), 30],
    ]
    for (const [filter, wanted, rowsMax] of asked) {
      await cheap.flows(uid(1), { ...anyFlow, ...filter }, wanted)
      const { rows, trips } = watched.spent()
      expect(trips).toBe(1)
      expect(rows, JSON.stringify([filter, wanted])).toBeLessThanOrEqual(rowsMax)
    }
  })

  it('is one query for balances and for the current address, and nothing but their rows', async () => {
    await fillWallet()
    const watched = watch(db)
    expect(await createLedgerReader(watched.db).balances(uid(1))).toHaveLength(2)
    expect(watched.spent()).toEqual({ rows: 2, trips: 1 })
    expect(await createAddressBook(watched.db).current(uid(1))).toMatchObject({ index: 0 })
    expect(watched.spent()).toEqual({ rows: 1, trips: 1 })
  })
})
