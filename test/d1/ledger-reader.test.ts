import { beforeEach, describe, expect, it } from 'vitest'
import type { Txid } from '../../src/chain/block.ts'
import type { EntryId, WalletId } from '../../src/common/ids.ts'
import { createAddressBook } from '../../src/d1/address-book.ts'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createStores } from '../../src/d1/stores.ts'
import type { EntryFilter, EntryPage } from '../../src/ledger/ledger-reader.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { amount, cuy, deposit, issue, ms, noFilter, txid, uid } from './fixtures.ts'
import { watch } from './watch.ts'

let db: D1Database
let ledger: Stores['ledger']
let deposits: Stores['deposits']

beforeEach(async () => {
  db = await freshDatabase()
  ;({ ledger, deposits } = createStores(db, () => {}))
  await issue(db, [1, 2])
})

/** The entries of the ledger below, with ids from 1. Caller 1 has wallets 1 (cuy 1) and 2 (cuy 2), caller 2 has wallet 3. */
const entries: readonly (readonly [wallet: number, type: number, osn: string, amount: number, at: number])[] = [
  [1, 9, 'a', 100, 10],
  [3, 9, 'a', 100, 10],
  [2, 5, 'b', 50, 20],
  [1, 2, 'c', -30, 20],
  [1, 4, 'a', -20, 20],
  [3, 5, 'c', 7, 30],
  [2, 9, 'c', -1, 40],
  [1, 5, 'd', 5, 40],
]

async function writeEntries(): Promise<void> {
  await db.batch([
    db.prepare('INSERT INTO wallet (uid, cuy) VALUES (1, 1), (1, 2), (2, 1)'),
    ...entries.map((entry) =>
      db
        .prepare(
          `INSERT INTO posting (id, entries, posted_by, created_at)
           SELECT 1, json_array(json_object('uid', uid, 'cuy', cuy, 'type', ?2, 'osn', ?3, 'amount', ?4, 'mark', 'by hand')),
             'shop', ?5
           FROM wallet WHERE id = ?1`,
        )
        .bind(...entry),
    ),
  ])
}

const page = (number: number, limit = 20): EntryPage => ({ kind: 'number', page: number, limit })
const below = (id: number, limit = 20): EntryPage => ({ kind: 'before', before: id as EntryId, limit })
const wid = (n: number) => n as WalletId
const idsOf = async (changes: Partial<EntryFilter>, wanted = page(1), owner = 1) => {
  const { list, count } = await ledger.entries(uid(owner), { ...noFilter, ...changes }, wanted)
  return { ids: list.map(({ id }) => Number(id)), count }
}

describe('balances', () => {
  it("returns the caller's wallets, without currencies that have no entry", async () => {
    await writeEntries()
    expect(await ledger.balances(uid(1))).toEqual([
      { cuy: 1, amount: 55n },
      { cuy: 2, amount: 49n },
    ])
    expect(await ledger.balances(uid(3))).toEqual([])
  })

  it('returns every digit of the largest amount', async () => {
    await deposits.credit([deposit({ amount: amount(9_007_199_254_740_991n) })], ms(1))
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: 9_007_199_254_740_991n }])
  })
})

describe('entries', () => {
  beforeEach(writeEntries)

  it('returns all fields of an entry', async () => {
    const { list } = await ledger.entries(uid(1), noFilter, page(1, 1))
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
        by: 'shop',
      },
    ])
  })

  it.each<readonly [string, Partial<EntryFilter>, EntryPage, readonly number[], number]>([
    ['nothing', {}, page(1), [8, 7, 5, 4, 3, 1], 6],
    ['the second page', {}, page(2, 4), [3, 1], 6],
    ['a page past the end', {}, page(4, 2), [], 6],
    ['a page far past the end', {}, page(9_000_000_000, 100), [], 6],
    ['entries below an id', {}, below(5), [4, 3, 1], 6],
    ["entries below another caller's id", {}, below(6, 2), [5, 4], 6],
    ['entries below an id that does not exist yet', {}, below(99, 1), [8], 6],
    ['entries below the first', {}, below(1), [], 6],
    ['a currency', { cuy: cuy(2) }, page(1), [7, 3], 2],
    ['a currency below an id', { cuy: cuy(1) }, below(5), [4, 1], 4],
    ['a currency without a wallet', { cuy: cuy(3) }, page(1), [], 0],
    ['a wallet', { wid: wid(1) }, page(1, 2), [8, 5], 4],
    ["another caller's wallet", { wid: wid(3) }, page(1), [], 0],
    ['a wallet of another currency', { wid: wid(1), cuy: cuy(2) }, page(1), [], 0],
    ['a type in every wallet', { type: 9 }, page(1), [7, 1], 2],
    ['a type in every wallet, by pages', { type: 9 }, page(2, 1), [1], 2],
    ['a type in every wallet, below an id', { type: 9 }, below(7), [1], 2],
    ['a type in one currency', { type: 9, cuy: cuy(1) }, page(1), [1], 1],
    ['a type without entries', { type: 1 }, page(1), [], 0],
    ['an osn in every wallet', { osn: 'c' }, page(1), [7, 4], 2],
    ['an osn and a type', { osn: 'a', type: 4 }, page(1), [5], 1],
    ['an unknown osn', { osn: 'zz' }, page(1), [], 0],
    ['a start', { from: ms(20) }, page(1), [8, 7, 5, 4, 3], 5],
    ['a start after the last entry', { from: ms(41) }, page(1), [], 0],
    ['an end', { to: ms(20) }, page(1), [1], 1],
    ['an end after the last entry', { to: ms(41) }, page(1, 1), [8], 6],
    ['a span', { from: ms(11), to: ms(40) }, page(1, 2), [5, 4], 3],
    ['a span below an id', { from: ms(11), to: ms(40) }, below(5), [4, 3], 3],
    ['a span without entries', { from: ms(21), to: ms(30) }, page(1), [], 0],
    ['a span that ends before it begins', { from: ms(40), to: ms(20) }, page(1), [], 0],
    ['a span in one currency', { from: ms(20), to: ms(40), cuy: cuy(1) }, page(1), [5, 4], 2],
    ['a span of one type', { from: ms(20), type: 9 }, page(1), [7], 1],
    ['a span of one osn', { to: ms(40), osn: 'c' }, page(1), [4], 1],
    [
      'every filter together',
      { cuy: cuy(1), wid: wid(1), type: 2, osn: 'c', from: ms(20), to: ms(21) },
      page(1),
      [4],
      1,
    ],
  ])(
    'filtered by %s are returned newest first with the count of all that match',
    async (_, filter, wanted, ids, count) => {
      expect(await idsOf(filter, wanted)).toEqual({ ids, count })
    },
  )

  it("never include another caller's entries", async () => {
    expect(await idsOf({}, page(1), 2)).toEqual({ ids: [6, 2], count: 2 })
    expect(await idsOf({}, page(1), 3)).toEqual({ ids: [], count: 0 })
  })

  it('are all entries of a transaction for a bare txid, and one entry for a full osn', async () => {
    const token = (position: number) => deposit({ txid: txid(1), position, native: false, cuy: cuy(2) })
    await deposits.credit([token(0), token(10), deposit({ txid: txid(2) })], ms(50))
    expect(await idsOf({ osn: txid(1) })).toEqual({ ids: [10, 9], count: 2 })
    expect(await idsOf({ osn: `${txid(1)}:1` })).toEqual({ ids: [], count: 0 })
    expect(await idsOf({ osn: `${txid(1)}:10` })).toEqual({ ids: [10], count: 1 })
    expect(await idsOf({ osn: txid(2) })).toEqual({ ids: [11], count: 1 })
    expect(await idsOf({ osn: txid(1).slice(1) })).toEqual({ ids: [], count: 0 })
  })

  it('are those of a txid in any form, and those that were posted in this form', async () => {
    const hash = 'ab'.repeat(32)
    const forms = [`0x${hash}`, hash.toUpperCase(), `0X${hash.toUpperCase()}`]
    await deposits.credit([deposit({ txid: hash as Txid, position: 2, native: false, cuy: cuy(2) })], ms(50))
    for (const [i, osn] of forms.entries()) {
      const posted = [{ uid: 1, cuy: 2, type: 5, osn, amount: 1, mark: '' }]
      const sql = `INSERT INTO posting VALUES (1, ?, 'shop', ?)`
      await db
        .prepare(sql)
        .bind(JSON.stringify(posted), 60 + i)
        .run()
    }
    for (const [i, osn] of forms.entries()) {
      expect(await idsOf({ osn })).toEqual({ ids: [10 + i, 9], count: 2 })
      expect(await idsOf({ osn, type: 5, cuy: cuy(2) })).toEqual({ ids: [10 + i], count: 1 })
      expect(await idsOf({ osn }, below(10 + i, 1))).toEqual({ ids: [9], count: 2 })
      expect(await idsOf({ osn }, page(1), 2)).toEqual({ ids: [], count: 0 })
    }
    expect(await idsOf({ osn: hash })).toEqual({ ids: [9], count: 1 })
  })
})

describe('cost', () => {
  const count = 20_000

  /** Caller 1: `count` entries in one wallet, every hundredth of type 9, and one in another. */
  async function fillWallet(): Promise<void> {
    await db.batch([
      db.prepare('INSERT INTO wallet (uid, cuy) VALUES (1, 1), (1, 2)'),
      db
        .prepare(
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
           INSERT INTO posting (id, entries, posted_by, created_at)
           SELECT 1, json_array(json_object(
             'uid', 1, 'cuy', 1, 'type', iif(i % 100 = 0, 9, 5), 'osn', 'x' || i, 'amount', 1, 'mark', '')), 'shop', i
           FROM n ORDER BY i`,
        )
        .bind(count),
      db.prepare(
        `INSERT INTO posting VALUES (1, '[{"uid":1,"cuy":2,"type":5,"osn":"y","amount":1,"mark":""}]', 'shop', 99999)`,
      ),
    ])
  }

  it('is one round trip and at most 60 rows for a page of 20 with its count, at any depth', async () => {
    await fillWallet()
    const watched = watch(db)
    const watchedLedger = createLedgerReader(watched.db)
    const cases: readonly (readonly [Partial<EntryFilter>, EntryPage, rowsMax: number])[] = [
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
      [{ osn: `0x${'AB'.repeat(32)}` }, page(1), 60],
      [{ osn: `0x${'AB'.repeat(32)}`, type: 5 }, below(count), 60],
      // A count reads the matching entries in an index and nothing else.
      [{ type: 9 }, below(count / 2), 200 + 150],
      [{ type: 9, cuy: cuy(1) }, below(count / 2), 200 + 60],
      [{ type: 1 }, page(1), 30],
    ]
    for (const [filter, wanted, rowsMax] of cases) {
      await watchedLedger.entries(uid(1), { ...noFilter, ...filter }, wanted)
      const { rows, trips } = watched.spent()
      expect(trips).toBe(1)
      expect(rows, JSON.stringify([filter, wanted])).toBeLessThanOrEqual(rowsMax)
    }
  })

  it('is one query for balances and for the current address, which reads only their rows', async () => {
    await fillWallet()
    const watched = watch(db)
    expect(await createLedgerReader(watched.db).balances(uid(1))).toHaveLength(2)
    expect(watched.spent()).toEqual({ rows: 2, trips: 1 })
    expect(await createAddressBook(watched.db).current(uid(1))).toMatchObject({ index: 0 })
    expect(watched.spent()).toEqual({ rows: 1, trips: 1 })
  })
})
