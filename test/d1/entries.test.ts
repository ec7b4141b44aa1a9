import { beforeEach, describe, expect, it } from 'vitest'
import { selectCurrent } from '../../src/worker/addresses/store/address-book.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import type { EntryId, WalletId } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import type { EntrySelection } from '../../src/worker/ledger/entry.ts'
import { orderRowsMax, selectBalances, selectEntries, selectOrder } from '../../src/worker/ledger/store/entries.ts'
import { credited, cuy, measure, ms, numbers, openDatabase, transfer, txid, uid, withoutTriggers } from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1, 2])
})

const credit = (list: Parameters<typeof storeTransfers>[1], at: number) => storeTransfers(db, list, ms(at))

/**
 * Wallets 1 (cuy 1) and 2 (cuy 2) are caller 1's, wallet 3 is caller 2's. The ids of the entries
 * are their places in this list, from 1.
 */
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
          `INSERT INTO posting (entries, posted_by, created_at)
           SELECT json_array(json_object('uid', uid, 'cuy', cuy, 'type', ?2, 'osn', ?3, 'amount', ?4, 'mark',
             'by hand')), 'shop', ?5
           FROM wallet WHERE id = ?1`,
        )
        .bind(...entry),
    ),
  ])
}

const page = (number: number, limit = 20): EntrySelection => ({ page: number, limit })
const below = (id: number, limit = 20): EntrySelection => ({ before: id as EntryId, limit })
const wid = (n: number) => n as WalletId
const idsOf = async (changes: EntrySelection, wanted = page(1), owner = 1) => {
  const { list, count } = await selectEntries(db, uid(owner), { ...changes, ...wanted })
  return { ids: list.map(({ id }) => Number(id)), count }
}

describe('balances', () => {
  it("returns the caller's wallets, without currencies that have no entry", async () => {
    await writeEntries()
    expect(await selectBalances(db, uid(1))).toEqual([
      { cuy: 1, amount: 55n },
      { cuy: 2, amount: 49n },
    ])
    expect(await selectBalances(db, uid(3))).toEqual([])
  })
})

describe('entries', () => {
  beforeEach(writeEntries)

  it('returns all fields of an entry', async () => {
    const { list } = await selectEntries(db, uid(1), page(1, 1))
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

  it.each<readonly [string, EntrySelection, EntrySelection, readonly number[], number]>([
    ['nothing', {}, page(1), [8, 7, 5, 4, 3, 1], 6],
    ['the second page', {}, page(2, 4), [3, 1], 6],
    ['a page past the end', {}, page(4, 2), [], 6],
    ['a page far past the end', {}, page(9_000_000_000, 100), [], 6],
    ['the last page that there can be', {}, page(Number.MAX_SAFE_INTEGER, 100), [], 6],
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

  it('are all entries of a transaction for a bare txid, and one entry for a full osn', async () => {
    const token = (position: number) => transfer(credited(), { position, native: false, cuy: cuy(2) })
    await credit([token(0), token(10), transfer(credited(), { txid: txid(2) })], 50)
    expect(await idsOf({ osn: txid(1) })).toEqual({ ids: [10, 9], count: 2 })
    expect(await idsOf({ osn: `${txid(1)}:1` })).toEqual({ ids: [], count: 0 })
    expect(await idsOf({ osn: `${txid(1)}:10` })).toEqual({ ids: [10], count: 1 })
    expect(await idsOf({ osn: txid(2) })).toEqual({ ids: [11], count: 1 })
    expect(await idsOf({ osn: txid(1).slice(1) })).toEqual({ ids: [], count: 0 })
  })

  it('are those of a txid in any form, and those that were posted in this form', async () => {
    const hash = 'ab'.repeat(32)
    const forms = [`0x${hash}`, hash.toUpperCase(), `0X${hash.toUpperCase()}`]
    await credit([transfer(credited(), { txid: hash as Txid, position: 2, native: false, cuy: cuy(2) })], 50)
    for (const [i, osn] of forms.entries()) {
      const posted = [{ uid: 1, cuy: 2, type: 5, osn, amount: 1, mark: '' }]
      const sql = `INSERT INTO posting VALUES (?, 'shop', ?)`
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
  /**
   * Gives caller 1 `count` entries in one wallet, every tenth of type 9 and the others of type 5,
   * and one entry in a second wallet.
   */
  const fillWallet = (count: number) =>
    withoutTriggers(db, [
      'DELETE FROM stored_flow',
      'DELETE FROM wallet',
      `INSERT INTO wallet (id, uid, cuy, balance, entry_count) VALUES (1, 1, 1, 5, ${count}), (2, 1, 2, 5, 1)`,
      `${numbers(count)} INSERT INTO stored_flow
        SELECT i, 1, iif(i % 10 = 0, 9, 5), 'x' || i, NULL, 1, 1, '', i, 'shop', i, iif(i % 10 = 0, i / 10, i - i / 10)
          FROM n`,
      `INSERT INTO stored_flow VALUES (${count + 1}, 2, 5, 'y', NULL, 1, 1, '', 999999, 'shop', 1, 1)`,
    ])

  const costs = async (count: number) => {
    await fillWallet(count)
    const hash = `0x${'AB'.repeat(32)}`
    const cases: readonly (readonly [EntrySelection, EntrySelection])[] = [
      [{}, page(1)],
      [{}, page(2)],
      [{}, below(count)],
      [{}, below(count / 2)],
      [{ cuy: cuy(1) }, below(count / 2)],
      [{ wid: wid(1) }, below(count / 2)],
      [{ cuy: cuy(2) }, page(1)],
      [{ from: ms(100), to: ms(900) }, below(500)],
      [{ from: ms(100), cuy: cuy(1) }, page(1)],
      [{ osn: 'x77' }, page(1)],
      [{ osn: hash }, page(1)],
      [{ osn: hash, type: 5 }, below(count)],
      [{ type: 5 }, page(1)],
      [{ type: 5 }, below(count / 2)],
      [{ type: 5, cuy: cuy(1) }, page(2)],
      [{ type: 5, cuy: cuy(1) }, below(count / 2)],
      [{ type: 5, from: ms(100) }, below(count / 2)],
      [{ type: 9 }, below(count / 2)],
      [{ type: 1 }, page(1)],
    ]
    const rows: { readonly rows: number; readonly isInTime: boolean }[] = []
    for (const [filter, wanted] of cases) {
      const measured = await measure(db, (metered) => selectEntries(metered, uid(1), { ...filter, ...wanted }))
      expect(measured.trips).toBe(1)
      rows.push({ rows: measured.rows, isInTime: filter.from !== undefined || (wanted.page ?? 1) > 1 })
    }
    return rows
  }

  it('of a page with its count does not grow with the history, whatever is filtered', async () => {
    const few = await costs(1_000)
    const many = await costs(100_000)
    const inTime = [few, many].map((list) => list.filter(({ isInTime }) => isInTime).map(({ rows }) => rows))
    const others = [few, many].map((list) => list.filter(({ isInTime }) => !isInTime).map(({ rows }) => rows))
    expect(Math.max(...others.flat())).toBeLessThanOrEqual(180)
    expect(others[1]).toEqual(others[0]?.map((rows) => expect.closeTo(rows, -1)))
    // Times and later pages are found by binary search: a hundred times as many entries need seven
    // more steps for each border.
    expect(Math.max(...(inTime[0] ?? []))).toBeLessThanOrEqual(300)
    expect(Math.max(...(inTime[1] ?? []))).toBeLessThanOrEqual(400)
  })

  /**
   * Gives caller 1 `count` entries in each of `currencies` wallets, in turn, half of them of type
   * 9.
   */
  const fillWallets = (currencies: number, count: number) =>
    withoutTriggers(db, [
      'DELETE FROM stored_flow',
      'DELETE FROM wallet',
      `${numbers(currencies)} INSERT INTO wallet (id, uid, cuy, balance, entry_count) SELECT i, 1, i, 5, ${count} FROM n`,
      `${numbers(currencies * count)} INSERT INTO stored_flow
        SELECT i, 1 + i % ${currencies}, iif(place % 2, 9, 5), 'x' || i, NULL, 1, 1, '', i, 'shop', place,
          (place + 1) / 2
        FROM (SELECT i, (i + ${currencies} - 1) / ${currencies} AS place FROM n)`,
    ])

  it.each([
    [1, 11_000, 900],
    [2, 11_000, 1_100],
    [20, 1_000, 2_500],
  ])(
    'of a deep page in %i wallets is about that of the first one, whatever is filtered',
    async (currencies, count, rowsMax) => {
      await fillWallets(currencies, count)
      const all = currencies * count
      const filters: readonly EntrySelection[] = [
        {},
        { type: 9 },
        { cuy: cuy(1) },
        { wid: wid(1), type: 5 },
        { from: ms(100) },
        { to: ms(all - 99) },
        { type: 9, from: ms(50), to: ms(all - 50) },
      ]
      for (const filter of filters) {
        const { count: matching } = await selectEntries(db, uid(1), { ...filter, limit: 1 })
        for (const wanted of [page(2, 100), page(Math.floor(Math.min(matching, 10_000) / 100), 100), page(10_000, 1)]) {
          const { rows, trips } = await measure(db, (metered) =>
            selectEntries(metered, uid(1), { ...filter, ...wanted }),
          )
          expect(rows).toBeLessThanOrEqual(rowsMax)
          expect(trips).toBe(1)
        }
      }
    },
  )

  it('of a deep page is for the same entries that pages by id have', async () => {
    await fillWallets(3, 100)
    for (const filter of [
      {},
      { type: 9 },
      { cuy: cuy(2) },
      { from: ms(31), to: ms(250) },
      { to: ms(77), type: 5 },
    ] as const) {
      const byId: number[] = []
      for (let before: number | undefined; ; before = byId.at(-1)) {
        const wanted = before === undefined ? { limit: 7 } : below(before, 7)
        const { list } = await selectEntries(db, uid(1), { ...filter, ...wanted })
        if (list.length === 0) break
        byId.push(...list.map(({ id }) => Number(id)))
      }
      for (let number = 1; number <= byId.length / 7 + 2; number += 1) {
        const { ids, count } = await idsOf(filter, page(number, 7))
        expect(ids).toEqual(byId.slice(7 * (number - 1), 7 * number))
        expect(count).toBe(byId.length)
      }
    }
  })

  it('of an order of whatever user is the same beside a long history, and has a bound where everybody has that order', async () => {
    const costs: unknown[] = []
    for (const count of [1_000, 100_000]) {
      db = await openDatabase([1, 2])
      await fillWallet(count)
      const one = await measure(db, (metered) => selectOrder(metered, 'x77', {}))
      costs.push([one.result.count, one.rows, one.trips])
    }
    expect(costs[0]).toEqual([1, 8, 1])
    expect(costs[1]).toEqual(costs[0])
    await withoutTriggers(db, [
      `INSERT INTO wallet (id, uid, cuy) SELECT id, id, 1 FROM stored_flow WHERE id > 2`,
      `UPDATE stored_flow SET wallet_id = id, osn = 'same' WHERE type = 5 AND id > 2`,
    ])
    const same = await measure(db, (metered) => selectOrder(metered, 'same', { limit: 20 }))
    expect([same.result.list.length, same.result.count]).toEqual([20, orderRowsMax])
    expect(same.rows).toBeLessThanOrEqual(2 * orderRowsMax + 1_100)
    // For one of these users it costs no more than an order that nobody else has, also if it is a
    // txid.
    await withoutTriggers(db, [`UPDATE stored_flow SET osn = '${txid(7)}' WHERE osn = 'same'`])
    const owner = Number(same.result.list[0]?.uid)
    const own = await measure(db, (metered) => selectEntries(metered, uid(owner), { osn: txid(7) }))
    expect(own.result.list).toMatchObject([{ uid: owner, osn: txid(7) }])
    expect(own.rows).toBeLessThanOrEqual(20)
  })

  it('of balances and of the current address is one query, which reads only their rows', async () => {
    await fillWallet(1_000)
    const balances = await measure(db, (metered) => selectBalances(metered, uid(1)))
    expect([balances.result.length, balances.rows, balances.trips]).toEqual([2, 2, 1])
    const current = await measure(db, (metered) => selectCurrent(metered, uid(1)))
    expect(current).toMatchObject({ result: { id: 1 }, rows: 1, trips: 1 })
  })
})
