import { beforeEach, describe, expect, it } from 'vitest'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import type { LedgerReader, LedgerWriter } from '../../src/ledger/ledger-store.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  amount,
  anyFlow,
  block,
  cuy,
  deposit,
  height,
  issue,
  movement,
  ms,
  pending,
  sighting,
  startScan,
  step,
  txid,
  uid,
} from './entries.ts'

let db: D1Database
let writer: LedgerWriter
let reader: LedgerReader

beforeEach(async () => {
  db = await freshDatabase()
  writer = createLedgerWriter(db)
  reader = createLedgerReader(db)
  await issue(db, [1, 2])
})

const newest = { kind: 'number', page: 1, limit: 100 } as const
const flowsOf = (owner: number) => reader.flows(uid(owner), anyFlow, newest)
const countOf = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n')

describe('start', () => {
  it('stores the height below the first block to scan', async () => {
    await writer.start(block(100), ms(1000))
    expect(await reader.scanState()).toEqual({
      position: block(100),
      finalized: 100,
      finalizedAt: 1000,
      advancedAt: 1000,
      caughtUpAt: 0,
      triedAt: 0,
      trouble: null,
      tailReadAt: 0,
      leaseUntil: 0,
      halted: null,
    })
  })

  it('can start below block 0 and without a hash', async () => {
    await writer.start({ height: height(-1), hash: null }, ms(1000))
    expect((await reader.scanState())?.position).toEqual({ height: -1, hash: null })
  })

  it('is a no-op where a height is stored already', async () => {
    await Promise.all([1, 2, 3].map((n) => writer.start(block(n * 100), ms(n))))
    const before = await reader.scanState()
    await writer.start(block(999), ms(1000))
    expect(await reader.scanState()).toEqual(before)
  })
})

describe('claim', () => {
  it('says that nothing was started', async () => {
    expect(await writer.acquireLease('a', ms(1), ms(2))).toEqual({ kind: 'not-started' })
  })

  it('takes the lease until `until` unless somebody holds it at `at`', async () => {
    await writer.start(block(100), ms(1000))
    expect(await writer.acquireLease('a', ms(1000), ms(2000))).toMatchObject({
      kind: 'claimed',
      state: { leaseUntil: 2000 },
    })
    expect(await writer.acquireLease('b', ms(1999), ms(3000))).toMatchObject({
      kind: 'held',
      state: { leaseUntil: 2000 },
    })
    expect(await writer.acquireLease('b', ms(2000), ms(3000))).toMatchObject({
      kind: 'claimed',
      state: { leaseUntil: 3000 },
    })
  })

  it('is given to one of a hundred that ask at once', async () => {
    await writer.start(block(100), ms(1000))
    const names = Array.from({ length: 100 }, (_, n) => `scan ${n}`)
    const claims = await Promise.all(names.map((name) => writer.acquireLease(name, ms(1000), ms(2000))))
    expect(claims.filter((claim) => claim.kind === 'claimed')).toHaveLength(1)
    expect(claims.filter((claim) => claim.kind === 'held')).toHaveLength(99)
  })
})

describe('release', () => {
  beforeEach(() => startScan(writer))

  it('gives the lease back and stores when the scan began, caught up or not', async () => {
    await writer.releaseLease('a', ms(1500), 'no-answer')
    expect(await reader.scanState()).toMatchObject({
      leaseUntil: 0,
      triedAt: 1500,
      caughtUpAt: 0,
      trouble: 'no-answer',
    })
    await writer.acquireLease('b', ms(1600), ms(2000))
    await writer.releaseLease('b', ms(1600), null)
    expect(await reader.scanState()).toMatchObject({ leaseUntil: 0, triedAt: 1600, caughtUpAt: 1600, trouble: null })
  })

  it('is a no-op where the lease was lost', async () => {
    await writer.acquireLease('b', ms(50_000), ms(60_000))
    const before = await reader.scanState()
    await writer.releaseLease('a', ms(1500), null)
    expect(await reader.scanState()).toEqual(before)
  })
})

describe('noteFinalized', () => {
  beforeEach(() => startScan(writer))

  it('remembers a finalized height and when it grew', async () => {
    await writer.recordFinalized(height(130), ms(1500))
    expect(await reader.scanState()).toMatchObject({ finalized: 130, finalizedAt: 1500 })
  })

  it('changes nothing by a height that is not above the stored one', async () => {
    await writer.recordFinalized(height(130), ms(1500))
    await writer.recordFinalized(height(130), ms(1600))
    await writer.recordFinalized(height(129), ms(1700))
    expect(await reader.scanState()).toMatchObject({ finalized: 130, finalizedAt: 1500 })
  })
})

describe('halt', () => {
  beforeEach(() => startScan(writer))

  it('stores why the scan cannot go on, and the next step that is appended clears it', async () => {
    await writer.halt('a', 'block 101 does not follow')
    expect((await reader.scanState())?.halted).toBe('block 101 does not follow')
    await writer.append(step())
    expect((await reader.scanState())?.halted).toBeNull()
  })

  it('is left to the scan that holds the lease', async () => {
    await writer.halt('b', 'a mistake')
    expect((await reader.scanState())?.halted).toBeNull()
  })
})

describe('append', () => {
  beforeEach(() => startScan(writer))

  it('stores position, deposits, entries, balances, pending and movements together', async () => {
    await writer.keepPending([pending({ txid: txid(1) })], ms(1500))
    const deposits = [
      deposit(),
      deposit({ txid: txid(2), position: 3, native: false, cuy: cuy(2), raw: 2n ** 200n, amount: amount(7n) }),
      deposit({ txid: txid(3), uid: uid(2), to: addressAt(1), outcome: 'below-minimum', amount: amount(0n) }),
      deposit({ txid: txid(4), amount: amount(1n) }),
    ]
    const left = [pending({ txid: txid(5) })]
    const moved = [movement(), movement({ address: addressAt(1), direction: 'in' })]
    expect(await writer.append(step({ deposits, pending: left, movements: moved }))).toBe('appended')

    expect((await reader.scanState())?.position).toEqual(block(101))
    expect(await reader.scanState()).toMatchObject({ finalized: 101, finalizedAt: 2000, advancedAt: 2000 })
    expect(await reader.balances(uid(1))).toEqual([
      { cuy: 1, amount: 6n },
      { cuy: 2, amount: 7n },
    ])
    expect(await reader.balances(uid(2))).toEqual([])
    const entry = { uid: 1, type: 1, mark: 'deposit', createdAt: 2000 }
    expect(await flowsOf(1)).toEqual({
      list: [
        { ...entry, id: 3, wid: 1, cuy: 1, osn: txid(4), amount: 1n, balance: 6n },
        { ...entry, id: 2, wid: 2, cuy: 2, osn: `${txid(2)}:3`, amount: 7n, balance: 7n },
        { ...entry, id: 1, wid: 1, cuy: 1, osn: txid(1), amount: 5n, balance: 5n },
      ],
      count: 3,
    })
    for (const one of deposits) expect(await reader.depositsOf(one.uid, one.txid)).toEqual([one])
    expect(await reader.pendingOf(uid(1), null)).toEqual([{ ...left[0], since: 2000 }])
    expect(await countOf('movement')).toBe(2)
  })

  it('is superseded where the position is another', async () => {
    const before = await reader.scanState()
    for (const after of [height(99), height(101)]) {
      expect(await writer.append(step({ after, to: block(102), deposits: [deposit()] }))).toBe('superseded')
    }
    expect(await reader.scanState()).toEqual(before)
    expect(await flowsOf(1)).toEqual({ list: [], count: 0 })
  })

  it('is superseded where the lease was lost', async () => {
    await writer.acquireLease('b', ms(50_000), ms(60_000))
    expect(await writer.append(step({ deposits: [deposit()] }))).toBe('superseded')
    expect(await countOf('deposit')).toBe(0)
  })

  it('goes on under a lease that ran out, as long as nobody took it', async () => {
    expect(await writer.append(step({ at: ms(90_000) }))).toBe('appended')
  })

  it('is superseded where nothing was started', async () => {
    db = await freshDatabase()
    await issue(db, [1])
    expect(await createLedgerWriter(db).append(step({ deposits: [deposit()] }))).toBe('superseded')
    expect(await countOf('deposit')).toBe(0)
  })

  it('appended twice equals appended once', async () => {
    const same = step({ deposits: [deposit()], pending: [pending({ txid: txid(2) })], movements: [movement()] })
    expect(await writer.append(same)).toBe('appended')
    const before = [await flowsOf(1), await reader.scanState(), await reader.pendingOf(uid(1), null)]
    expect(await writer.append(same)).toBe('superseded')
    expect([await flowsOf(1), await reader.scanState(), await reader.pendingOf(uid(1), null)]).toEqual(before)
    expect(await countOf('movement')).toBe(1)
  })

  it('is done once by many at once', async () => {
    const same = step({ deposits: [deposit()] })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => writer.append(same)))
    expect(outcomes.filter((outcome) => outcome === 'appended')).toHaveLength(1)
    expect(await reader.balances(uid(1))).toEqual([{ cuy: 1, amount: 5n }])
  })

  it('leaves a known credit key as it is and stores the rest', async () => {
    await writer.credit([deposit()], ms(1500))
    const deposits = [deposit({ amount: amount(9n) }), deposit({ txid: txid(2) })]
    const left = [pending(), pending({ txid: txid(3) })]
    expect(await writer.append(step({ deposits, pending: left }))).toBe('appended')
    expect(await reader.balances(uid(1))).toEqual([{ cuy: 1, amount: 10n }])
    expect((await reader.pendingOf(uid(1), null)).map((one) => one.txid)).toEqual([txid(3)])
  })

  it('counts a deposit that stands twice in one step once', async () => {
    await writer.append(step({ deposits: [deposit(), deposit()] }))
    expect(await reader.balances(uid(1))).toEqual([{ cuy: 1, amount: 5n }])
  })

  it('throws on what is a bug, and stores nothing of the step', async () => {
    const stranger = deposit({ txid: txid(2), to: addressAt(1) })
    await expect(writer.append(step({ deposits: [deposit(), stranger] }))).rejects.toThrow('not to an address of this')
    await expect(writer.append(step({ finalized: height(99), to: block(102) }))).rejects.toThrow('scan_height')
    expect((await reader.scanState())?.position).toEqual(block(100))
    expect(await countOf('deposit')).toBe(0)
  })

  it('keeps a deposit that its wallet has no room for, uncredited, and goes on', async () => {
    const full = 9_007_199_254_740_991n
    const deposits = [
      deposit({ txid: txid(1), amount: amount(full - 10n) }),
      deposit({ txid: txid(2), amount: amount(11n), raw: 11n }),
      deposit({ txid: txid(3), cuy: cuy(2), native: false, amount: amount(full) }),
      deposit({ txid: txid(4), uid: uid(2), to: addressAt(1), amount: amount(full) }),
    ]
    expect(await writer.append(step({ deposits }))).toBe('appended')
    expect(await reader.balances(uid(1))).toEqual([
      { cuy: 1, amount: full - 10n },
      { cuy: 2, amount: full },
    ])
    expect(await reader.balances(uid(2))).toEqual([{ cuy: 1, amount: full }])
    expect(await reader.depositsOf(uid(1), txid(2))).toEqual([
      deposit({ txid: txid(2), outcome: 'too-large', amount: amount(0n), raw: 11n }),
    ])
    const later = [deposit({ txid: txid(5), amount: amount(10n) }), deposit({ txid: txid(6), amount: amount(1n) })]
    const next = step({ after: height(101), to: block(102), finalized: height(102), deposits: later })
    expect(await writer.append(next)).toBe('appended')
    expect((await reader.balances(uid(1)))[0]).toEqual({ cuy: 1, amount: full })
    expect((await reader.depositsOf(uid(1), txid(6)))[0]?.outcome).toBe('too-large')
  })

  it('takes far more huge deposits at once than 64 bits can sum up', async () => {
    const huge = amount(9_007_199_254_740_991n)
    const deposits = Array.from({ length: 2_500 }, (_, n) => deposit({ txid: txid(n), amount: huge }))
    expect(await writer.append(step({ deposits }))).toBe('appended')
    expect(await reader.balances(uid(1))).toEqual([{ cuy: 1, amount: huge }])
    expect(await countOf('deposit')).toBe(2_500)
  })

  it('never lets the time of entries run backwards, whatever the clock does', async () => {
    await writer.append(step({ deposits: [deposit()], at: ms(2000) }))
    await writer.credit([deposit({ txid: txid(2) })], ms(1500))
    expect((await flowsOf(1)).list.map((flow) => flow.createdAt)).toEqual([2000, 2000])
  })
})

describe('credit', () => {
  it('credits deposits outside the scan, and their pending rows go', async () => {
    await writer.keepPending([pending(), pending({ txid: txid(2) })], ms(1000))
    await writer.credit([deposit(), deposit({ txid: txid(3), outcome: 'dust', amount: amount(0n) })], ms(2000))
    expect(await reader.balances(uid(1))).toEqual([{ cuy: 1, amount: 5n }])
    expect((await reader.pendingOf(uid(1), null)).map((one) => one.txid)).toEqual([txid(2)])
    expect(await reader.depositsOf(uid(1), txid(3))).toHaveLength(1)
  })

  it('leaves those whose credit key is known already as they are', async () => {
    await writer.credit([deposit()], ms(2000))
    await writer.credit([deposit({ amount: amount(9n) }), deposit({ txid: txid(2) })], ms(3000))
    expect(await reader.balances(uid(1))).toEqual([{ cuy: 1, amount: 10n }])
    expect(await reader.depositsOf(uid(1), txid(1))).toEqual([deposit()])
  })

  it('credits once, however many do it at once', async () => {
    await Promise.all(Array.from({ length: 50 }, () => writer.credit([deposit()], ms(2000))))
    expect(await flowsOf(1)).toMatchObject({ count: 1, list: [{ amount: 5n, balance: 5n }] })
  })

  it('takes an empty list', async () => {
    await writer.credit([], ms(2000))
    expect(await countOf('deposit')).toBe(0)
  })
})

describe('hold', () => {
  it('keeps candidates as pending; where one is pending already only its reason changes', async () => {
    await writer.keepPending([pending({ raw: 2n ** 256n - 1n })], ms(1000))
    await writer.keepPending([pending({ raw: 1n, block: block(7), reason: 'disagreement' })], ms(2000))
    expect(await reader.pendingOf(uid(1), null)).toEqual([
      { ...pending({ raw: 2n ** 256n - 1n, reason: 'disagreement' }), since: 1000 },
    ])
  })

  it('leaves alone what was decided already', async () => {
    await writer.credit([deposit()], ms(1000))
    await writer.keepPending([pending(), pending({ position: 1 })], ms(2000))
    expect((await reader.pendingOf(uid(1), null)).map((one) => one.position)).toEqual([1])
  })
})

describe('takeDue', () => {
  it('gives pending deposits whose next try is due, oldest first, each once until its next try', async () => {
    for (const n of [3, 1, 2, 4]) await writer.keepPending([pending({ txid: txid(n) })], ms(n * 1000))
    const due = await writer.takeDue(ms(3000), ms(9000), 2)
    expect(due).toEqual([
      { ...pending({ txid: txid(1) }), since: 1000 },
      { ...pending({ txid: txid(2) }), since: 2000 },
    ])
    expect((await writer.takeDue(ms(3000), ms(9000), 10)).map((one) => one.txid)).toEqual([txid(3)])
    expect(await writer.takeDue(ms(3000), ms(9000), 10)).toEqual([])
    expect((await writer.takeDue(ms(9000), ms(9001), 10)).map((one) => one.txid)).toEqual([1, 2, 3, 4].map(txid))
  })

  it('gives nothing to two who ask at once twice', async () => {
    await writer.keepPending(
      Array.from({ length: 30 }, (_, n) => pending({ txid: txid(n) })),
      ms(1000),
    )
    const taken = await Promise.all(Array.from({ length: 10 }, () => writer.takeDue(ms(1000), ms(2000), 5)))
    const keys = taken.flat().map((one) => one.txid)
    expect(keys).toHaveLength(30)
    expect(new Set(keys).size).toBe(30)
  })
})

describe('dismiss', () => {
  it('removes the pending rows with these credit keys, and no others', async () => {
    await writer.keepPending([pending(), pending({ position: 1 }), pending({ txid: txid(2), position: 1 })], ms(1000))
    await writer.removePending([pending({ position: 1 }), pending({ txid: txid(9) })])
    const left = await reader.pendingOf(uid(1), null)
    expect(left.map((one) => [one.txid, one.position])).toEqual([
      [txid(1), 0],
      [txid(2), 1],
    ])
  })
})

describe('replaceSightings', () => {
  beforeEach(() => startScan(writer))

  it('replaces what is known of the blocks after the finalized head', async () => {
    await writer.replaceSightings([sighting(), sighting({ txid: txid(2), to: addressAt(1) })], ms(1500))
    await writer.replaceSightings([sighting({ txid: txid(3) })], ms(1600))
    expect(await reader.sightingsOf(uid(1))).toEqual([sighting({ txid: txid(3) })])
    expect(await reader.sightingsOf(uid(2))).toEqual([])
    expect((await reader.scanState())?.unconfirmedReadAt).toBe(1600)
  })

  it('keeps it where nothing new is known, and stores when somebody looked', async () => {
    await writer.replaceSightings([sighting()], ms(1500))
    await writer.replaceSightings(null, ms(1600))
    expect(await reader.sightingsOf(uid(1))).toEqual([sighting()])
    expect((await reader.scanState())?.unconfirmedReadAt).toBe(1600)
    await writer.replaceSightings([], ms(1700))
    expect(await reader.sightingsOf(uid(1))).toEqual([])
  })
})

describe('decimals', () => {
  it("remembers what a contract's decimals() said", async () => {
    expect(await writer.knownDecimals(addressAt(5))).toBeNull()
    await writer.storeDecimals(addressAt(5), 0, ms(1000))
    expect(await writer.knownDecimals(addressAt(5))).toBe(0)
    await writer.storeDecimals(addressAt(5), 18, ms(2000))
    expect(await writer.knownDecimals(addressAt(5))).toBe(18)
    expect(await writer.knownDecimals(addressAt(6))).toBeNull()
  })
})
