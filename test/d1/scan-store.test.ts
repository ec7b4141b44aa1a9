import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  block,
  deposit,
  height,
  issue,
  movement,
  ms,
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
let rescans: Stores['rescans']

beforeEach(async () => {
  db = await freshDatabase()
  ;({ scanStore, deposits, pending: pendingDeposits, rescans } = createStores(db, () => {}))
  await issue(db, [1, 2])
})

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

  it('stores position, candidates, movements and gaps together', async () => {
    const candidates = [pending({ reason: 'queued' }), pending({ txid: txid(2), position: 3, reason: 'queued' })]
    const moved = [movement(), movement({ address: addressAt(1), direction: 'in' })]
    expect(await scanStore.append(step({ candidates, movements: moved, unreadable: [height(101)] }))).toBe('appended')

    expect((await scanStore.state())?.position).toEqual(block(101))
    expect(await scanStore.state()).toMatchObject({ finalized: 101, finalizedAt: 2000, advancedAt: 2000 })
    expect(await pendingDeposits.of(uid(1), null)).toEqual(candidates.map((one) => ({ ...one, since: 2000 })))
    expect(await countOf('movement')).toBe(2)
    expect(await rescans.due(ms(2000))).toEqual({ id: 1, kind: 'gap', next: 101, to: 101 })
    expect(await rescans.gaps()).toEqual({ count: 1, lowest: 101 })
  })

  it('is superseded at any other position', async () => {
    const before = await scanStore.state()
    for (const after of [height(99), height(101)]) {
      expect(await scanStore.append(step({ after, to: block(102), candidates: [pending()] }))).toBe('superseded')
    }
    expect(await scanStore.state()).toEqual(before)
    expect(await countOf('pending')).toBe(0)
  })

  it('is superseded where the lease was lost', async () => {
    await scanStore.acquireLease('b', ms(50_000), ms(60_000))
    expect(await scanStore.append(step({ candidates: [pending()] }))).toBe('superseded')
    expect(await countOf('pending')).toBe(0)
  })

  it('accepts an expired lease that no other scan has taken', async () => {
    expect(await scanStore.append(step({ at: ms(90_000) }))).toBe('appended')
  })

  it('is superseded before the start', async () => {
    db = await freshDatabase()
    await issue(db, [1])
    expect(await createStores(db, () => {}).scanStore.append(step({ candidates: [pending()] }))).toBe('superseded')
    expect(await countOf('pending')).toBe(0)
  })

  it('stores a step once where it is appended twice', async () => {
    const same = step({ candidates: [pending()], movements: [movement()], unreadable: [height(101)] })
    expect(await scanStore.append(same)).toBe('appended')
    const before = [await scanStore.state(), await pendingDeposits.of(uid(1), null), await rescans.gaps()]
    expect(await scanStore.append(same)).toBe('superseded')
    expect([await scanStore.state(), await pendingDeposits.of(uid(1), null), await rescans.gaps()]).toEqual(before)
    expect(await countOf('movement')).toBe(1)
  })

  it('stores a step once for concurrent calls', async () => {
    const same = step({ candidates: [pending()] })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => scanStore.append(same)))
    expect(outcomes.filter((outcome) => outcome === 'appended')).toHaveLength(1)
    expect(await countOf('pending')).toBe(1)
  })

  it('leaves known candidates unchanged and stores the rest', async () => {
    await deposits.credit([deposit()], ms(1500))
    await pendingDeposits.refuse([{ ...pending({ txid: txid(2) }), reason: { kind: 'failed' } }], ms(1500))
    await pendingDeposits.keep([pending({ txid: txid(3), reason: 'no-api' })], ms(1500))
    const candidates = [1, 2, 3, 4].map((n) => pending({ txid: txid(n), reason: 'queued' }))
    expect(await scanStore.append(step({ candidates }))).toBe('appended')
    const left = (await pendingDeposits.of(uid(1), null)).map((one) => [one.txid, one.reason])
    expect(left).toEqual([
      [txid(3), 'no-api'],
      [txid(4), 'queued'],
    ])
  })

  it('stores a candidate once where one step has it twice', async () => {
    await scanStore.append(step({ candidates: [pending(), pending()] }))
    expect(await countOf('pending')).toBe(1)
  })

  it('throws on a bug and stores nothing of the step', async () => {
    const wrong = pending({ txid: txid(2), raw: 0n })
    await expect(scanStore.append(step({ candidates: [pending(), wrong] }))).rejects.toThrow('pending_raw')
    await expect(scanStore.append(step({ finalized: height(99), to: block(102) }))).rejects.toThrow('scan_height')
    expect((await scanStore.state())?.position).toEqual(block(100))
    expect(await countOf('pending')).toBe(0)
  })
})
