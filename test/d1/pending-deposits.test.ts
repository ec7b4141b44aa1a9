import { beforeEach, describe, expect, it } from 'vitest'
import { meterDatabase } from '../../src/d1/metered-database.ts'
import { createStores } from '../../src/d1/stores.ts'
import { createUsage } from '../../src/platform/usage.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { block, cuy, deposit, issue, ms, pending, txid, uid } from './fixtures.ts'

let pendingDeposits: Stores['pending']
let deposits: Stores['deposits']
let db: D1Database

beforeEach(async () => {
  db = await freshDatabase()
  ;({ pending: pendingDeposits, deposits } = createStores(db, () => {}))
  await issue(db, [1, 2])
})

describe('of', () => {
  it("reads the caller's pending deposits, oldest first, at most 100", async () => {
    await pendingDeposits.keep([pending({ txid: txid(900) })], ms(1000))
    await pendingDeposits.keep([pending({ txid: txid(901), uid: uid(2) })], ms(1000))
    await pendingDeposits.keep(
      Array.from({ length: 120 }, (_, n) => pending({ txid: txid(n) })),
      ms(2000),
    )
    const all = await pendingDeposits.of(uid(1), null)
    expect(all).toHaveLength(100)
    expect(all[0]).toEqual({ ...pending({ txid: txid(900) }), since: 1000 })
    expect(all[1]?.txid).toBe(txid(0))
    expect(await pendingDeposits.of(uid(1), txid(119))).toEqual([{ ...pending({ txid: txid(119) }), since: 2000 }])
    expect(await pendingDeposits.of(uid(1), txid(901))).toEqual([])
  })
})

describe('keep', () => {
  it('stores candidates as pending and changes only the reason of known ones', async () => {
    await pendingDeposits.keep([pending({ raw: 2n ** 256n - 1n })], ms(1000))
    await pendingDeposits.keep([pending({ raw: 1n, block: block(7), reason: 'disagreement' })], ms(2000))
    expect(await pendingDeposits.of(uid(1), null)).toEqual([
      { ...pending({ raw: 2n ** 256n - 1n, reason: 'disagreement' }), since: 1000 },
    ])
  })

  it('ignores what was decided already', async () => {
    await deposits.credit([deposit()], ms(1000))
    await pendingDeposits.keep([pending(), pending({ position: 1 })], ms(2000))
    expect((await pendingDeposits.of(uid(1), null)).map((one) => one.position)).toEqual([1])
  })
})

describe('takeDue', () => {
  const take = (dueBy: number, nextTry: number, max: number, of: number | null = null) =>
    pendingDeposits.takeDue({
      dueBy: ms(dueBy),
      nextTry: ms(nextTry),
      max,
      uid: of === null ? null : uid(of),
      txid: null,
      accepted: [cuy(1), cuy(3)],
    })

  it('takes the n-th of each caller before the (n+1)-th of any', async () => {
    for (const n of [1, 2, 3]) await pendingDeposits.keep([pending({ txid: txid(n) })], ms(1000))
    for (const n of [4, 5]) await pendingDeposits.keep([pending({ txid: txid(n), uid: uid(2) })], ms(2000))
    const numbers = async (max: number) => (await take(3000, 9000, max)).map((one) => Number(`0x${one.txid}`))
    expect(await numbers(2)).toEqual([1, 4])
    expect(await numbers(2)).toEqual([2, 5])
    expect(await numbers(2)).toEqual([3])
  })

  it('takes what was never tried before what could not be decided, of one caller and of all', async () => {
    for (const n of [1, 2]) await pendingDeposits.keep([pending({ txid: txid(n) })], ms(1000))
    await pendingDeposits.keep([pending({ txid: txid(3), reason: 'queued' })], ms(2000))
    await pendingDeposits.keep([pending({ txid: txid(4), uid: uid(2), reason: 'queued' })], ms(2500))
    expect((await take(3000, 9000, 2)).map((one) => one.txid)).toEqual([txid(3), txid(4)])
    expect((await take(3000, 9000, 1)).map((one) => one.txid)).toEqual([txid(1)])
  })

  it('takes only those of the caller that is named', async () => {
    await pendingDeposits.keep([pending({ txid: txid(1) }), pending({ txid: txid(2), uid: uid(2) })], ms(1000))
    expect((await take(1000, 2000, 9, 2)).map((one) => one.txid)).toEqual([txid(2)])
    expect(await take(1000, 2000, 9, 2)).toEqual([])
  })

  it('takes again what was put back', async () => {
    await pendingDeposits.keep([pending({ txid: txid(1) }), pending({ txid: txid(2) })], ms(1000))
    const [first] = await take(1000, 9000, 9)
    await pendingDeposits.putBack(first === undefined ? [] : [first], ms(1500))
    expect(await take(1499, 9000, 9)).toEqual([])
    expect(await take(1500, 9000, 9)).toEqual([first])
  })

  it('returns the deposits whose next try is due, in the order they were found, each once until its next try', async () => {
    for (const n of [1, 2, 3, 4]) await pendingDeposits.keep([pending({ txid: txid(n) })], ms(n * 1000))
    const due = await take(3000, 9000, 2)
    expect(due).toEqual([
      { ...pending({ txid: txid(1) }), since: 1000 },
      { ...pending({ txid: txid(2) }), since: 2000 },
    ])
    expect((await take(3000, 9000, 10)).map((one) => one.txid)).toEqual([txid(3)])
    expect(await take(3000, 9000, 10)).toEqual([])
    expect((await take(9000, 9001, 10)).map((one) => one.txid)).toEqual([1, 2, 3, 4].map(txid))
  })

  it('takes one transaction of its caller, due or not', async () => {
    await pendingDeposits.keep([pending(), pending({ position: 1 }), pending({ txid: txid(2) })], ms(5000))
    const one = { dueBy: ms(1), nextTry: ms(2), max: 9, txid: txid(1), accepted: [cuy(1)] }
    expect((await pendingDeposits.takeDue({ ...one, uid: uid(1) })).map(({ position }) => position)).toEqual([0, 1])
    expect(await pendingDeposits.takeDue({ ...one, uid: uid(2) })).toEqual([])
  })

  it('returns none of a retired currency', async () => {
    await pendingDeposits.keep([pending({ reason: 'retired', cuy: cuy(2) }), pending({ position: 1 })], ms(1000))
    expect((await take(3000, 9000, 10)).map((one) => one.position)).toEqual([1])
  })

  it('returns what was found retired once its currency is accepted again, when it is due', async () => {
    const list = [pending({ reason: 'retired' }), pending({ position: 1, reason: 'retired', cuy: cuy(3) })]
    await pendingDeposits.keep(list, ms(1000))
    expect(await take(999, 9000, 10)).toEqual([])
    expect((await take(1000, 9000, 10, 1)).map((one) => one.position)).toEqual([0, 1])
    expect(await take(1000, 9000, 10)).toEqual([])
  })

  it('reads one index entry for each due deposit, and none of a retired currency', async () => {
    const retired = Array.from({ length: 50 }, (_, n) => pending({ txid: txid(n), reason: 'retired', cuy: cuy(2) }))
    await pendingDeposits.keep(retired, ms(1000))
    await pendingDeposits.keep([pending({ txid: txid(90) })], ms(1000))
    const usage = createUsage()
    const counted = createStores(meterDatabase(db, usage, { now: () => ms(0) }), () => {}).pending
    await counted.takeDue({ dueBy: ms(3000), nextTry: ms(9000), max: 90, uid: null, txid: null, accepted: [cuy(1)] })
    expect(usage.rowsRead).toBeLessThan(20)
  })

  it('returns each deposit to one of several concurrent calls', async () => {
    await pendingDeposits.keep(
      Array.from({ length: 30 }, (_, n) => pending({ txid: txid(n) })),
      ms(1000),
    )
    const taken = await Promise.all(Array.from({ length: 10 }, () => take(1000, 2000, 5)))
    const keys = taken.flat().map((one) => one.txid)
    expect(keys).toHaveLength(30)
    expect(new Set(keys).size).toBe(30)
  })
})

describe('refuse', () => {
  const worthless = (n: number) => ({ ...pending({ txid: txid(n) }), reason: { kind: 'failed' } as const })

  it('stores candidates as worth nothing in place of their pending rows, each once', async () => {
    await pendingDeposits.keep([pending({ txid: txid(1) }), pending({ txid: txid(2) })], ms(1000))
    for (const at of [2000, 3000]) await pendingDeposits.refuse([worthless(1)], ms(at))
    expect((await pendingDeposits.of(uid(1), null)).map((one) => one.txid)).toEqual([txid(2)])
    expect(await pendingDeposits.refusals(uid(1), txid(1))).toEqual([worthless(1)])
    expect(await pendingDeposits.refusals(uid(2), txid(1))).toEqual([])
  })

  it('keeps the type of a transaction that is no TRX transfer', async () => {
    const reason = { kind: 'other-contract', type: 2 } as const
    await pendingDeposits.refuse([{ ...worthless(1), reason }], ms(1000))
    expect(await pendingDeposits.refusals(uid(1), txid(1))).toMatchObject([{ reason }])
  })

  it('ignores a credited deposit', async () => {
    await deposits.credit([deposit()], ms(1000))
    await pendingDeposits.refuse([worthless(1)], ms(2000))
    expect(await pendingDeposits.refusals(uid(1), txid(1))).toEqual([])
  })
})

describe('remove', () => {
  it('removes the pending deposits with these credit keys and no others', async () => {
    await pendingDeposits.keep([pending(), pending({ position: 1 }), pending({ txid: txid(2), position: 1 })], ms(1000))
    await pendingDeposits.remove([pending({ position: 1 }), pending({ txid: txid(9) })])
    const left = await pendingDeposits.of(uid(1), null)
    expect(left.map((one) => [one.txid, one.position])).toEqual([
      [txid(1), 0],
      [txid(2), 1],
    ])
  })
})
