import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { CreditKey } from '../../src/deposits/deposit.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  amount,
  block,
  cuy,
  deposit,
  height,
  issue,
  movement,
  ms,
  noFilter,
  pending,
  startScan,
  step,
  txid,
  uid,
} from './fixtures.ts'

let db: D1Database
let scanStore: Stores['scanStore']
let deposits: Stores['deposits']
let pendingDeposits: Stores['pending']
let ledger: Stores['ledger']
let full: CreditKey[]

beforeEach(async () => {
  db = await freshDatabase()
  full = []
  ;({ scanStore, deposits, pending: pendingDeposits, ledger } = createStores(db, (key) => full.push(key)))
  await issue(db, [1, 2])
})

const entriesOf = (owner: number) => ledger.entries(uid(owner), noFilter, { kind: 'number', page: 1, limit: 100 })
const countOf = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n')

describe('state and start', () => {
  it('return null before the start', async () => {
    expect(await scanStore.state()).toBeNull()
  })

  it('store the height below the first block to scan', async () => {
    await scanStore.start(block(100), ms(1000))
    expect(await scanStore.state()).toEqual({
      position: block(100),
      finalized: 100,
      finalizedAt: 1000,
      advancedAt: 1000,
      caughtUpAt: 0,
      triedAt: 0,
      problem: null,
      unconfirmedReadAt: 0,
      endedAt: 0,
      leaseUntil: 0,
      halted: null,
    })
  })

  it('accept a start below block 0 and without a hash', async () => {
    await scanStore.start({ height: height(-1), hash: null }, ms(1000))
    expect((await scanStore.state())?.position).toEqual({ height: -1, hash: null })
  })

  it('change nothing where a height is stored already', async () => {
    await Promise.all([1, 2, 3].map((n) => scanStore.start(block(n * 100), ms(n))))
    const before = await scanStore.state()
    await scanStore.start(block(999), ms(1000))
    expect(await scanStore.state()).toEqual(before)
  })
})

describe('recordFinalized', () => {
  beforeEach(() => startScan(scanStore))

  it('stores a finalized height and the time of its increase', async () => {
    await scanStore.recordFinalized(height(130), ms(1500))
    expect(await scanStore.state()).toMatchObject({ finalized: 130, finalizedAt: 1500 })
  })

  it('ignores a height that is not above the stored one', async () => {
    await scanStore.recordFinalized(height(130), ms(1500))
    await scanStore.recordFinalized(height(130), ms(1600))
    await scanStore.recordFinalized(height(129), ms(1700))
    expect(await scanStore.state()).toMatchObject({ finalized: 130, finalizedAt: 1500 })
  })
})

describe('halt', () => {
  beforeEach(() => startScan(scanStore))

  it('stores the reason until the next step is appended', async () => {
    await scanStore.halt('a', 'block 101 does not follow')
    expect((await scanStore.state())?.halted).toBe('block 101 does not follow')
    await scanStore.append(step())
    expect((await scanStore.state())?.halted).toBeNull()
  })

  it('changes nothing without the lease', async () => {
    await scanStore.halt('b', 'a mistake')
    expect((await scanStore.state())?.halted).toBeNull()
  })
})

describe('append', () => {
  beforeEach(() => startScan(scanStore))

  it('stores position, deposits, entries, balances, pending and movements together', async () => {
    await pendingDeposits.keep([pending({ txid: txid(1) })], ms(1500))
    const list = [
      deposit(),
      deposit({ txid: txid(2), position: 3, native: false, cuy: cuy(2), raw: 2n ** 200n, amount: amount(7n) }),
      deposit({ txid: txid(3), uid: uid(2), to: addressAt(1), outcome: 'below-minimum', amount: amount(0n) }),
      deposit({ txid: txid(4), amount: amount(1n) }),
    ]
    const left = [pending({ txid: txid(5) })]
    const moved = [movement(), movement({ address: addressAt(1), direction: 'in' })]
    expect(await scanStore.append(step({ deposits: list, pending: left, movements: moved }))).toBe('appended')

    expect((await scanStore.state())?.position).toEqual(block(101))
    expect(await scanStore.state()).toMatchObject({ finalized: 101, finalizedAt: 2000, advancedAt: 2000 })
    expect(await ledger.balances(uid(1))).toEqual([
      { cuy: 1, amount: 6n },
      { cuy: 2, amount: 7n },
    ])
    expect(await ledger.balances(uid(2))).toEqual([])
    const entry = { uid: 1, type: 1, mark: 'deposit', createdAt: 2000, by: '' }
    expect(await entriesOf(1)).toEqual({
      list: [
        { ...entry, id: 3, wid: 1, cuy: 1, osn: txid(4), amount: 1n, balance: 6n },
        { ...entry, id: 2, wid: 2, cuy: 2, osn: `${txid(2)}:3`, amount: 7n, balance: 7n },
        { ...entry, id: 1, wid: 1, cuy: 1, osn: txid(1), amount: 5n, balance: 5n },
      ],
      count: 3,
    })
    for (const one of list) expect(await deposits.of(one.uid, one.txid)).toEqual([one])
    expect(await pendingDeposits.of(uid(1), null)).toEqual([{ ...left[0], since: 2000 }])
    expect(await countOf('movement')).toBe(2)
  })

  it('is superseded at any other position', async () => {
    const before = await scanStore.state()
    for (const after of [height(99), height(101)]) {
      expect(await scanStore.append(step({ after, to: block(102), deposits: [deposit()] }))).toBe('superseded')
    }
    expect(await scanStore.state()).toEqual(before)
    expect(await entriesOf(1)).toEqual({ list: [], count: 0 })
  })

  it('is superseded where the lease was lost', async () => {
    await scanStore.acquireLease('b', ms(50_000), ms(60_000))
    expect(await scanStore.append(step({ deposits: [deposit()] }))).toBe('superseded')
    expect(await countOf('deposit')).toBe(0)
  })

  it('accepts an expired lease that no other scan has taken', async () => {
    expect(await scanStore.append(step({ at: ms(90_000) }))).toBe('appended')
  })

  it('is superseded before the start', async () => {
    db = await freshDatabase()
    await issue(db, [1])
    expect(await createStores(db, () => {}).scanStore.append(step({ deposits: [deposit()] }))).toBe('superseded')
    expect(await countOf('deposit')).toBe(0)
  })

  it('stores a step once where it is appended twice', async () => {
    const same = step({ deposits: [deposit()], pending: [pending({ txid: txid(2) })], movements: [movement()] })
    expect(await scanStore.append(same)).toBe('appended')
    const before = [await entriesOf(1), await scanStore.state(), await pendingDeposits.of(uid(1), null)]
    expect(await scanStore.append(same)).toBe('superseded')
    expect([await entriesOf(1), await scanStore.state(), await pendingDeposits.of(uid(1), null)]).toEqual(before)
    expect(await countOf('movement')).toBe(1)
  })

  it('stores a step once for concurrent calls', async () => {
    const same = step({ deposits: [deposit()] })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => scanStore.append(same)))
    expect(outcomes.filter((outcome) => outcome === 'appended')).toHaveLength(1)
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: 5n }])
  })

  it('leaves a known credit key unchanged and stores the rest', async () => {
    await deposits.credit([deposit()], ms(1500))
    const list = [deposit({ amount: amount(9n) }), deposit({ txid: txid(2) })]
    const left = [pending(), pending({ txid: txid(3) })]
    expect(await scanStore.append(step({ deposits: list, pending: left }))).toBe('appended')
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: 10n }])
    expect((await pendingDeposits.of(uid(1), null)).map((one) => one.txid)).toEqual([txid(3)])
  })

  it('credits a deposit once where one step has it twice', async () => {
    await scanStore.append(step({ deposits: [deposit(), deposit()] }))
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: 5n }])
  })

  it('throws on a bug and stores nothing of the step', async () => {
    const stranger = deposit({ txid: txid(2), to: addressAt(1) })
    await expect(scanStore.append(step({ deposits: [deposit(), stranger] }))).rejects.toThrow('to_address')
    await expect(scanStore.append(step({ finalized: height(99), to: block(102) }))).rejects.toThrow('scan_height')
    expect((await scanStore.state())?.position).toEqual(block(100))
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
    expect(await scanStore.append(step({ deposits: list }))).toBe('appended')
    expect(await ledger.balances(uid(1))).toEqual([
      { cuy: 1, amount: max - 10n },
      { cuy: 2, amount: max },
    ])
    expect(await ledger.balances(uid(2))).toEqual([{ cuy: 1, amount: max }])
    expect(await deposits.of(uid(1), txid(2))).toEqual([
      deposit({ txid: txid(2), outcome: 'too-large', amount: amount(0n), raw: 11n }),
    ])
    const later = [deposit({ txid: txid(5), amount: amount(10n) }), deposit({ txid: txid(6), amount: amount(1n) })]
    const next = step({ after: height(101), to: block(102), finalized: height(102), deposits: later })
    expect(await scanStore.append(next)).toBe('appended')
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
    expect(await scanStore.append(step({ deposits: list }))).toBe('appended')
    expect(await ledger.balances(uid(1))).toEqual([{ cuy: 1, amount: huge }])
    expect(await countOf('deposit')).toBe(2_500)
  })
})
