import { expect, it } from 'vitest'
import type { Chain } from '../../src/chain/chain.ts'
import { ok } from '../../src/common/result.ts'
import { writable } from '../../src/d1/database.ts'
import { createPayoutMemory } from '../../src/payouts/memory.ts'
import { createSender } from '../../src/payouts/send.ts'
import type { RunningService } from '../http/service.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import { ask, handIn, sign, signedPayout, startPaying } from './harness.ts'

const never = () => new Promise<never>(() => {})
/** The database, of which the first call that reads payouts' transactions never returns. */
function hangingOnce(db: D1Database): D1Database {
  let isOver = false
  const prepare = (query: string) => {
    if (isOver || !query.includes('payout_transaction')) return db.prepare(query)
    isOver = true
    const hanging = { bind: () => hanging, all: never, run: never, first: never, raw: never }
    return hanging
  }
  return { prepare, batch: db.batch.bind(db), withSession: () => ({ prepare }) } as unknown as D1Database // what is used of it
}

const parts = ({ db, clock }: RunningService) => {
  return { db: writable(hangingOnce(db)), clock: createVirtualClock(clock.seconds * 1000) }
}

it('a call without an end keeps what is signed from being sent for half a minute, and no longer', async () => {
  const service = await startPaying()
  const { id } = await ask(service)
  const { transaction } = await sign(service)
  const noScanner = { getByName: () => ({ sendPayouts: () => Promise.reject(new Error('killed')) }) }
  await handIn(service.with({}, { bindings: { SCANNER: noScanner } } as never), id, transaction)
  const own = parts(service)
  const sent: string[] = []
  const broadcast = async (bytes: string) => {
    sent.push(bytes)
    return ok('node 1: SUCCESS')
  }
  const memory = { compare: async () => null, known: () => null }
  const sender = createSender({ ...own, memory, openChain: () => ({ broadcast }) as unknown as Chain })
  void sender.send()
  const next = sender.send()
  await own.clock.advance(29_000)
  expect(sent).toEqual([])
  await own.clock.advance(1_000)
  await next
  expect(sent).toEqual([transaction])
})

it('a call without an end keeps nobody from knowing for longer than ten seconds whether the database was restored', async () => {
  const service = await startPaying()
  await signedPayout(service)
  const own = parts(service)
  const host = createMemoryHost()
  host.values.set('payouts', { newest: { id: 9, txid: 'ab'.repeat(32) }, restoredAt: null })
  const memory = createPayoutMemory({ ...own, host })
  void memory.compare()
  let found: number | null = null
  const next = memory.compare().then((since) => {
    found = since
  })
  await own.clock.advance(9_000)
  expect(found).toBeNull()
  await own.clock.advance(1_000)
  await next
  expect(found).toBe(own.clock.now())
})
