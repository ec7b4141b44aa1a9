import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { block, ms, startScan } from './fixtures.ts'

let scanStore: Stores['scanStore']

beforeEach(async () => {
  ;({ scanStore } = createStores(await freshDatabase(), () => undefined))
})

describe('acquireLease', () => {
  it('returns not-started before the start', async () => {
    expect(await scanStore.acquireLease('a', ms(1), ms(2))).toEqual({ kind: 'not-started' })
  })

  it('takes the lease until `until` unless another scan has it at `at`', async () => {
    await scanStore.start(block(100), ms(1000))
    expect(await scanStore.acquireLease('a', ms(1000), ms(2000))).toMatchObject({
      kind: 'acquired',
      state: { leaseUntil: 2000 },
    })
    expect(await scanStore.acquireLease('b', ms(1999), ms(3000))).toMatchObject({
      kind: 'taken',
      state: { leaseUntil: 2000 },
    })
    expect(await scanStore.acquireLease('b', ms(2000), ms(3000))).toMatchObject({
      kind: 'acquired',
      state: { leaseUntil: 3000 },
    })
  })

  it('gives the lease to one of a hundred concurrent calls', async () => {
    await scanStore.start(block(100), ms(1000))
    const names = Array.from({ length: 100 }, (_, n) => `scan ${n}`)
    const attempts = await Promise.all(names.map((name) => scanStore.acquireLease(name, ms(1000), ms(2000))))
    expect(attempts.filter(({ kind }) => kind === 'acquired')).toHaveLength(1)
    expect(attempts.filter(({ kind }) => kind === 'taken')).toHaveLength(99)
  })
})

describe('releaseLease', () => {
  beforeEach(() => startScan(scanStore))

  it('releases the lease and stores the start of the scan, caught up or not', async () => {
    await scanStore.releaseLease('a', ms(1500), 'no-answer', ms(1550))
    expect(await scanStore.state()).toMatchObject({
      endedAt: 1550,
      leaseUntil: 0,
      triedAt: 1500,
      caughtUpAt: 0,
      problem: 'no-answer',
    })
    await scanStore.acquireLease('b', ms(1600), ms(2000))
    expect((await scanStore.state())?.endedAt).toBe(0)
    await scanStore.releaseLease('b', ms(1600), null, ms(1650))
    expect(await scanStore.state()).toMatchObject({ endedAt: 1650, triedAt: 1600, caughtUpAt: 1600, problem: null })
  })

  it('leaves the lease free for a machine whose clock is behind', async () => {
    await scanStore.releaseLease('a', ms(1500), null, ms(60_000))
    expect((await scanStore.acquireLease('b', ms(1600), ms(50_000))).kind).toBe('acquired')
  })

  it('changes nothing where the lease was lost', async () => {
    await scanStore.acquireLease('b', ms(50_000), ms(60_000))
    const before = await scanStore.state()
    await scanStore.releaseLease('a', ms(1500), null, ms(1550))
    expect(await scanStore.state()).toEqual(before)
  })
})
