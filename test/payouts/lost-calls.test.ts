import { expect, it } from 'vitest'
import type { Chain } from '../../src/worker/chain/chain.ts'
import { ok } from '../../src/worker/common/result.ts'
import { isDatabaseAway } from '../../src/worker/d1/away.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { indexCurrencies } from '../../src/worker/ledger/currencies.ts'
import { createRestoreDetector } from '../../src/worker/payouts/restore-detector.ts'
import { createSender, lostMs } from '../../src/worker/payouts/send.ts'
import type { RunningService } from '../http/service.ts'
import { headOf } from '../scan/harness.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import { ask, handIn, sign, signedPayout, startPaying, withKilledSending } from './harness.ts'

const never = () => new Promise<never>(() => {})
/** A database in which the first query for the newest event never returns. */
function hangingOnce(db: D1Database): D1Database {
  let isOver = false
  const prepare = (query: string) => {
    if (isOver || !query.includes('newestText')) return db.prepare(query)
    isOver = true
    const hanging = { bind: () => hanging, all: never, run: never, first: never, raw: never }
    return hanging
  }
  // safe: all that the test's parts call
  return { prepare, batch: db.batch.bind(db), withSession: () => ({ prepare }) } as unknown as D1Database
}

const parts = ({ db, clock }: RunningService) => {
  return { db: writable(hangingOnce(db)), clock: createVirtualClock(clock.seconds * 1000) }
}

it('a broadcast without an end keeps only its own transaction from being sent, and that for some seconds', async () => {
  const service = await startPaying()
  const transactions: string[] = []
  for (const i of [0n, 1n]) {
    const { id } = await ask(service)
    const { transaction } = await sign(service, { timestamp: BigInt((await headOf(service)).timestamp) + i })
    await handIn(withKilledSending(service), id, transaction)
    transactions.push(transaction)
  }
  const clock = createVirtualClock(service.clock.seconds * 1000)
  const sent: string[] = []
  let isFirst = true
  const broadcast = async (bytes: string) => {
    if (isFirst) {
      isFirst = false
      return never()
    }
    sent.push(bytes)
    return ok({ node: 1, name: 'node 1', code: 'SUCCESS' })
  }
  const restores = { compare: async () => null, known: () => null }
  const openChain = () => ({ broadcast }) as unknown as Chain // safe: all that a sender calls
  const own = { db: writable(service.db), clock, restores, openChain, inBackground: () => {} }
  const sender = createSender({ ...own, currencies: indexCurrencies([]), payouts: null })
  const ended = sender.send()
  await expect.poll(() => new Set(sent).size).toBe(1)
  await clock.advance(lostMs)
  await ended
  await expect
    .poll(async () => {
      await clock.advance(1_000)
      return new Set(sent).size
    })
    .toBe(2)
  expect(new Set(sent)).toEqual(new Set(transactions))
})

it('a call without an end keeps nobody from knowing for longer than ten seconds whether the database was restored', async () => {
  const service = await startPaying()
  await signedPayout(service)
  const own = parts(service)
  const host = createMemoryHost()
  host.values.set('payouts', { newest: { id: 9_999, digest: 'ab'.repeat(32) }, restoredAt: null })
  const restores = createRestoreDetector({ ...own, host })
  const lost = restores.compare().catch(isDatabaseAway)
  await own.clock.advance(0) // so that it has begun
  let found: number | null = null
  const next = restores.compare().then((since) => {
    found = since
  })
  await own.clock.advance(9_000)
  expect(found).toBeNull()
  await own.clock.advance(1_000)
  await next
  expect(await lost).toBe(true)
  expect(found).toBe(own.clock.now())
})
