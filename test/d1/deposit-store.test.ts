import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { CreditKey } from '../../src/deposits/deposit.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, amount, cuy, deposit, issue, ms, noFilter, pending, txid, uid } from './fixtures.ts'

let db: D1Database
let deposits: Stores['deposits']
let pendingDeposits: Stores['pending']
let ledger: Stores['ledger']
let full: CreditKey[]

beforeEach(async () => {
  db = await freshDatabase()
  full = []
  ;({ deposits, pending: pendingDeposits, ledger } = createStores(db, (key) => full.push(key)))
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

  it('credits a deposit once where one list has it twice', async () => {
    await deposits.credit([deposit(), deposit()], ms(2000))
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: 5n }])
  })

  it('throws on a bug and stores nothing of the list', async () => {
    const stranger = deposit({ txid: txid(2), to: addressAt(1) })
    await expect(deposits.credit([deposit(), stranger], ms(2000))).rejects.toThrow('to_address')
    expect(await countOf('deposit')).toBe(0)
  })

  it('stores a deposit that does not fit into its wallet uncredited and continues', async () => {
    const max = 9_007_199_254_740_991n
    const list = [
      deposit({ txid: txid(1), amount: amount(max - 10n) }),
      deposit({ txid: txid(2), amount: amount(11n), raw: 11n }),
      deposit({ txid: txid(3), cuy: cuy(2), native: false, amount: amount(max) }),
      deposit({ txid: txid(4), uid: uid(2), to: addressAt(1), amount: amount(max) }),
    ]
    expect(await deposits.credit(list, ms(2000))).toBe('credited')
    expect(await ledger.balances(uid(1))).toEqual([
      { cuy: 1, amount: max - 10n },
      { cuy: 2, amount: max },
    ])
    expect(await ledger.balances(uid(2))).toEqual([{ cuy: 1, amount: max }])
    expect(await deposits.of(uid(1), txid(2))).toEqual([
      deposit({ txid: txid(2), outcome: 'too-large', amount: amount(0n), raw: 11n }),
    ])
    const later = [deposit({ txid: txid(5), amount: amount(10n) }), deposit({ txid: txid(6), amount: amount(1n) })]
    expect(await deposits.credit(later, ms(3000))).toBe('credited')
    expect((await ledger.balances(uid(1)))[0]).toEqual({ cuy: 1, amount: max })
    expect((await deposits.of(uid(1), txid(6)))[0]?.outcome).toBe('too-large')
    expect(full).toEqual([
      { txid: txid(2), position: 0 },
      { txid: txid(6), position: 0 },
    ])
  })

  it('accepts deposits whose sum is far above 64 bits', async () => {
    const huge = amount(9_007_199_254_740_991n)
    const list = Array.from({ length: 2_500 }, (_, n) => deposit({ txid: txid(n), amount: huge }))
    expect(await deposits.credit(list, ms(2000))).toBe('credited')
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: huge }])
    expect(await countOf('deposit')).toBe(2_500)
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
