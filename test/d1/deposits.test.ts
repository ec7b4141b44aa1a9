import { beforeEach, describe, expect, it } from 'vitest'
import type { WriteDatabase } from '../../src/d1/database.ts'
import { type DepositFilter, type DepositPage, depositStates, listDeposits } from '../../src/deposits/deposits.ts'
import { storeTransfers } from '../../src/deposits/transfers.ts'
import { twoCurrencies } from '../support/currencies.ts'
import {
  addressAt,
  below,
  block,
  credited,
  cuy,
  held,
  moved,
  ms,
  nth,
  openDatabase,
  refused,
  seen,
  txid,
  uid,
  upTo,
} from './fixtures.ts'

let db: WriteDatabase
let now: number

beforeEach(async () => {
  db = await openDatabase([1, 2])
  now = 1_000
})

const list = (filter: Partial<DepositFilter> = {}, page: Partial<DepositPage> = {}) => {
  const clock = { now: () => ms(now), sleep: () => Promise.resolve(), random: () => 0 }
  const all = { uid: uid(1), state: null, cuy: null, ...filter }
  return listDeposits({ db, clock, currencies: twoCurrencies }, all, { before: null, limit: 20, ...page })
}
const idsOf = async (...args: Parameters<typeof list>) => (await list(...args)).list.map(({ id }) => id)

describe('the transfers of a caller', () => {
  it('are in every state but moved, newest first, each credited one with its entry', async () => {
    const token = { cuy: cuy(2), native: false, position: 3 }
    await storeTransfers(db, [nth(1), nth(2, held()), nth(3, refused), nth(4, seen(), { block: block(121) })], ms(10))
    await storeTransfers(db, [nth(5, moved), nth(6, credited(7n), token)], ms(20))
    const { list: found, count } = await list()
    expect(found.map(({ txid: id, state, entry }) => [id, state, entry])).toEqual([
      [txid(6), 'credited', 2],
      [txid(4), 'seen', null],
      [txid(3), 'refused', null],
      [txid(2), 'held', null],
      [txid(1), 'credited', 1],
    ])
    expect(count).toBe(5)
    await db.prepare(`UPDATE scan SET finalized = 121, height = 121, hash = '${block(121).hash}'`).run()
    await db.prepare(`UPDATE transfer SET state = 'dropped' WHERE txid = '${txid(4)}'`).run()
    expect(await list({ state: 'dropped' })).toMatchObject({ list: [{ txid: txid(4), finalIn: null }], count: 1 })
  })

  it('are those of the caller alone', async () => {
    await storeTransfers(db, [nth(1), nth(2, credited(), { uid: uid(2), to: addressAt(1) })], ms(10))
    expect(await idsOf()).toEqual([1])
    expect(await idsOf({ uid: uid(2) })).toEqual([2])
    for (const state of depositStates) expect(await list({ uid: uid(3), state })).toEqual({ list: [], count: 0 })
    expect(await list({ uid: uid(3) })).toEqual({ list: [], count: 0 })
  })

  it('are filtered by state, by currency and by both', async () => {
    const verdicts = [credited(), held(), refused, seen()]
    const stored = verdicts.flatMap((verdict, i) =>
      [1, 2].map((currency) => nth(10 * i + currency, verdict, { cuy: cuy(currency), block: block(101) })),
    )
    await storeTransfers(db, stored, ms(10))
    expect(await idsOf()).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
    expect(await idsOf({ state: 'held' })).toEqual([4, 3])
    expect(await idsOf({ cuy: cuy(2) })).toEqual([8, 6, 4, 2])
    expect(await list({ state: 'refused', cuy: cuy(1) })).toMatchObject({ list: [{ id: 5 }], count: 1 })
    expect(await list({ cuy: cuy(1) }, { limit: 1, before: below(7) })).toMatchObject({ list: [{ id: 5 }], count: 4 })
    expect(await list({ state: 'seen' }, { before: below(7) })).toEqual({ list: [], count: 2 })
  })

  it('keep their pages by before while new ones arrive', async () => {
    await storeTransfers(
      db,
      upTo(7).map((n) => nth(n + 1, held())),
      ms(10),
    )
    const pages: number[][] = [await idsOf({}, { limit: 3 })]
    for (let n = 100; pages.at(-1)?.length === 3; n += 1) {
      await storeTransfers(db, [nth(n, held())], ms(20))
      pages.push(await idsOf({}, { limit: 3, before: below(pages.at(-1)?.at(-1) ?? 0) }))
    }
    expect(pages).toEqual([[7, 6, 5], [4, 3, 2], [1]])
  })

  it('are final after three seconds for each block above the final one, less the time since it was final', async () => {
    // Block 120 has been final since time 1000.
    await storeTransfers(db, [nth(1, seen(), { block: block(121) }), nth(2, seen(), { block: block(138) })], ms(10))
    const seconds = async () => (await list()).list.map(({ finalIn }) => finalIn)
    expect(await seconds()).toEqual([54, 3])
    now += 1_001
    expect(await seconds()).toEqual([53, 2])
    now += 10_000
    expect(await seconds()).toEqual([43, 0])
  })
})
