import { expect, it } from 'vitest'
import { addressIn, payFinal, type RunningService, requestsOf, startService, usdtTo } from '../http/service.ts'
import { tickLater } from '../scan/harness.ts'
import { recordDatabase } from '../support/recorded-database.ts'
import { ask, mined, payoutsSetting, send, sign, startPaying, stateOfPayout } from './harness.ts'

const ticks = 3
/**
 * The SQL statements and the number of requests to nodes in `ticks` ticks, during which one deposit
 * is credited.
 */
async function costOf(variables: Record<string, unknown>) {
  const service = await startService(variables)
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  const own = await addressIn(await service.get('/tron/generate'))
  await service.tick()
  const { db, statements } = recordDatabase(service.db)
  const counted = service.with({ DB: db })
  await tickLater(counted, 60) // the first tick of an instance also reads what the instance then remembers
  statements.length = 0
  const requests = requestsOf(service)
  payFinal(service, usdtTo(own, 5_000_000n))
  for (let i = 0; i < ticks; i += 1) await tickLater(counted)
  return { statements: statements.map(({ sql }) => sql), requests: requestsOf(service) - requests }
}

it('a service without open payouts pays one statement a tick for them: whether the database is an older copy', async () => {
  const without = await costOf({})
  const configured = await costOf({ PAYOUTS: payoutsSetting })
  expect(without.statements.length).toBeGreaterThan(20)
  expect(without.requests).toBeGreaterThan(10)
  const comparing = configured.statements.filter((statement) => statement.includes('newestText'))
  expect(comparing).toHaveLength(ticks)
  const others = configured.statements.filter((statement) => !comparing.includes(statement))
  expect({ ...configured, statements: others }).toEqual(without)
})

it('an offer that is stopped reads no payouts', async () => {
  const service = await startPaying()
  await ask(service)
  const { db, statements } = recordDatabase(service.db)
  const offering = service.with({ DB: db })
  const reads = async () => {
    statements.length = 0
    const { status } = await offering.ledger('/ledger/payouts/unsigned')
    return [status, statements.some(({ sql }) => sql.includes('INDEXED BY payout_state'))]
  }
  expect(await reads()).toEqual([200, true])
  await service.db.prepare('UPDATE scan SET restored_at = 1').run()
  expect(await reads()).toEqual([409, false])
})

/**
 * The requests to nodes in about 72 s of ticks, in which `payouts` payouts are asked for, signed,
 * sent and paid.
 */
async function requestsWith(payouts: number): Promise<number> {
  const service = await startPaying()
  const before = requestsOf(service)
  const signed = []
  for (let i = 0; i < payouts; i += 1) {
    const { id } = await ask(service)
    const one = await sign(service, { timestamp: BigInt(i + 1) })
    signed.push({ id, ...one })
  }
  if (payouts > 0)
    await send(service, '/signed', { signed: signed.map(({ id, transaction }) => ({ id, transaction })) })
  await passTo(service, signed)
  for (const { id } of signed) expect(await stateOfPayout(service, id)).toBe('paid/0')
  return requestsOf(service) - before
}

/**
 * Mines the signed payouts in the next block, and runs ticks at a deployment's pace until the block
 * is final and scanned.
 */
async function passTo(service: RunningService, signed: readonly { readonly rawData: Uint8Array }[]): Promise<void> {
  service.chain.add(signed.map((one) => mined(one)))
  for (let passed = 0; passed < 72; passed += 12) {
    await tickLater(service, 12)
    service.chain.addEmpty(4)
  }
  await tickLater(service, 12)
}

it('a payout costs at most five requests to nodes: three sendings, and two for what the address holds, however many there are', async () => {
  const none = await requestsWith(0)
  expect(none).toBeGreaterThan(10)
  expect((await requestsWith(1)) - none).toBe(5)
  expect((await requestsWith(10)) - none).toBe(32)
})
