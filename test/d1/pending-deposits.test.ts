import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { block, deposit, issue, ms, pending, txid, uid } from './fixtures.ts'

let pendingDeposits: Stores['pending']
let deposits: Stores['deposits']

beforeEach(async () => {
  const db = await freshDatabase()
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
  it('returns the deposits whose next try is due, oldest first, each once until its next try', async () => {
    for (const n of [3, 1, 2, 4]) await pendingDeposits.keep([pending({ txid: txid(n) })], ms(n * 1000))
    const due = await pendingDeposits.takeDue(ms(3000), ms(9000), 2)
    expect(due).toEqual([
      { ...pending({ txid: txid(1) }), since: 1000 },
      { ...pending({ txid: txid(2) }), since: 2000 },
    ])
    expect((await pendingDeposits.takeDue(ms(3000), ms(9000), 10)).map((one) => one.txid)).toEqual([txid(3)])
    expect(await pendingDeposits.takeDue(ms(3000), ms(9000), 10)).toEqual([])
    expect((await pendingDeposits.takeDue(ms(9000), ms(9001), 10)).map((one) => one.txid)).toEqual(
      [1, 2, 3, 4].map(txid),
    )
  })

  it('returns each deposit to one of several concurrent calls', async () => {
    await pendingDeposits.keep(
      Array.from({ length: 30 }, (_, n) => pending({ txid: txid(n) })),
      ms(1000),
    )
    const taken = await Promise.all(Array.from({ length: 10 }, () => pendingDeposits.takeDue(ms(1000), ms(2000), 5)))
    const keys = taken.flat().map((one) => one.txid)
    expect(keys).toHaveLength(30)
    expect(new Set(keys).size).toBe(30)
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
