import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, amount, cuy, deposit, issue, ms, noFilter, pending, txid, uid } from './fixtures.ts'

let db: D1Database
let deposits: Stores['deposits']
let pendingDeposits: Stores['pending']
let ledger: Stores['ledger']

beforeEach(async () => {
  db = await freshDatabase()
  ;({ deposits, pending: pendingDeposits, ledger } = createStores(db, () => {}))
  await issue(db, [1, 2])
})

const entriesOf = (owner: number) => ledger.entries(uid(owner), noFilter, { kind: 'number', page: 1, limit: 100 })
const countOf = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n')

describe('credit', () => {
  it('credits deposits outside the scan and removes their pending rows', async () => {
    await pendingDeposits.keep([pending(), pending({ txid: txid(2) })], ms(1000))
    await deposits.credit([deposit(), deposit({ txid: txid(3), outcome: 'dust', amount: amount(0n) })], ms(2000))
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: 5n }])
    expect((await pendingDeposits.of(uid(1), null)).map((one) => one.txid)).toEqual([txid(2)])
    expect(await deposits.of(uid(1), txid(3))).toHaveLength(1)
  })

  it('leaves known credit keys unchanged', async () => {
    await deposits.credit([deposit()], ms(2000))
    await deposits.credit([deposit({ amount: amount(9n) }), deposit({ txid: txid(2) })], ms(3000))
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: 10n }])
    expect(await deposits.of(uid(1), txid(1))).toEqual([deposit()])
  })

  it('credits once for concurrent calls', async () => {
    await Promise.all(Array.from({ length: 50 }, () => deposits.credit([deposit()], ms(2000))))
    expect(await entriesOf(1)).toMatchObject({ count: 1, list: [{ amount: 5n, balance: 5n }] })
  })

  it('never decreases the time of entries, even when the clock goes back', async () => {
    await deposits.credit([deposit()], ms(2000))
    await deposits.credit([deposit({ txid: txid(2) })], ms(1500))
    expect((await entriesOf(1)).list.map(({ createdAt }) => createdAt)).toEqual([2000, 2000])
  })

  it('accepts an empty list', async () => {
    await deposits.credit([], ms(2000))
    expect(await countOf('deposit')).toBe(0)
  })
})

describe('creditedSince', () => {
  it('sums what was credited to the caller at or after a time, by currency', async () => {
    await deposits.credit([deposit({ txid: txid(500), amount: amount(7n) })], ms(1000))
    await deposits.credit([deposit({ txid: txid(400), uid: uid(2), to: addressAt(1) })], ms(2000))
    const dust = deposit({ txid: txid(600), outcome: 'dust', amount: amount(0n) })
    const many = Array.from({ length: 120 }, (_, n) => deposit({ txid: txid(n), amount: amount(2n) }))
    await deposits.credit([...many, dust], ms(3000))
    expect(await deposits.creditedSince(uid(1), ms(1000))).toEqual([{ cuy: 1, amount: 247n }])
    expect(await deposits.creditedSince(uid(1), ms(1001))).toEqual([{ cuy: 1, amount: 240n }])
    expect(await deposits.creditedSince(uid(1), ms(3001))).toEqual([])
  })
})

describe('of', () => {
  it("reads the caller's deposits in one transaction, by position", async () => {
    const token = { native: false, cuy: cuy(2), raw: 2n ** 256n - 1n }
    const own = [2, 10].map((position) => deposit({ ...token, position }))
    await deposits.credit([...own].reverse(), ms(1000))
    await deposits.credit([deposit({ ...token, position: 3, uid: uid(2), to: addressAt(1) })], ms(1000))
    expect(await deposits.of(uid(1), txid(1))).toEqual(own)
    expect(await deposits.of(uid(1), txid(2))).toEqual([])
  })
})
