import { describe, expect, it } from 'vitest'
import { finalityLag, usdtTo } from '../http/service.ts'
import {
  correct,
  disagreeOn,
  headOf,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  tickFor,
  tickLater,
  withoutReceiptOf,
} from '../scan/harness.ts'
import { addressOf } from '../support/transaction-spec.ts'
import {
  balance,
  expiringAfter,
  handIn,
  mined,
  mineFinal,
  offered,
  passBlocks,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'
import {
  correctBoth,
  excuse,
  expectPaidOnce,
  sendingsOf,
  sendNow,
  signSecond,
  startTwoSigned,
} from './two-transactions.ts'

/**
 * A payout whose first transaction has failed, or has moved nothing, on a wrong chain, and whose
 * second one is signed.
 */
async function startFailedAndSigned(how: 'failed' | 'other') {
  const service = await startPaying()
  const { height } = await headOf(service)
  const { id, ...first } = await signedPayout(service, {
    expiration: BigInt((await headOf(service)).timestamp + 300_000),
  })
  const right = service.chain.fork(service.chain.tip().height)
  await mineFinal(service, mined(first, how === 'failed' ? { failed: true, logs: [] } : { logs: [] }))
  expect(await stateOfPayout(service, id)).toBe(`stuck:${how}/1`)
  expect((await send(service, '/approve', { ids: [id] }, 'office')).status).toBe(200)
  const second = await signSecond(service, id)
  return { service, height, id, first, second, right }
}

describe.each([
  ['failed', 'failed'],
  ['moved nothing', 'other'],
] as const)('a first transaction that has %s on the wrong chain', (_, how) => {
  it('nothing is sent while blocks that may have it are to be read again', async () => {
    const { service, height, first, second, right } = await startFailedAndSigned(how)
    const before = sendingsOf(service, second.transaction)
    right.add([mined(first)])
    right.addEmpty(40)
    await correctBoth({ service, height, right })
    service.clock.seconds += 700
    await sendNow(service)
    expect(sendingsOf(service, second.transaction)).toBe(before)
    await tickLater(service, 60)
    expect(await offered(service)).toBe('payouts-stopped')
    expect(sendingsOf(service, second.transaction)).toBe(before)
  })

  it('the second one is sent, once they are read and have it failed again, or not', async () => {
    const { service, height, first, second, right } = await startFailedAndSigned(how)
    const before = sendingsOf(service, second.transaction)
    right.add([mined(first, { failed: true, logs: [] })])
    right.addEmpty(140)
    await correctBoth({ service, height, right })
    await tickLater(service, 700)
    await tickLater(service, 60)
    expect(sendingsOf(service, second.transaction)).toBeGreaterThan(before)
  })

  it.each(['open', 'closed'] as const)('nothing is paid again while a gap that is %s may have it', async (gap) => {
    await expectPaidOnce(await startFailedAndSigned(how), gap)
  })
})

it('a gap between two transactions of a payout, in which neither can be, does not hold it', async () => {
  const service = await startPaying()
  const { id } = await expiringAfter(service, 10)
  await passBlocks(service, 12)
  expect(await stateOfPayout(service, id)).toBe('approved/1')
  service.chain.addEmpty(finalityLag)
  const gap = service.chain.add([usdtTo(addressOf(80), 1n)]).height
  disagreeOn(service, gap)
  service.chain.addEmpty(finalityLag + 3)
  await tickLater(service, 120)
  expect(await openGaps(service)).toHaveLength(1)
  const { timestamp } = await headOf(service)
  const second = await sign(service, { expiration: BigInt(timestamp + 30_000) })
  expect(await handIn(service, id, second.transaction)).toMatchObject({ state: 'signed' })
  await passBlocks(service, 12)
  await tickFor(service, 120, () => {}, 60)
  expect(await openGaps(service)).toHaveLength(1)
  expect(await stateOfPayout(service, id)).toBe('approved/2')
})

/**
 * A payout whose first transaction has paid late, and whose second one has expired. `isUnread`: no
 * node gives the receipt of the first one.
 */
async function startLate(isUnread: boolean) {
  const { service, height, id, first, second, right } = await startTwoSigned()
  if (isUnread) {
    limitLogs(service, 50)
    for (const node of service.nodes) node.script = () => withoutReceiptOf(first.txid)
  }
  const at = right.add([noise(60), mined(first)]).height
  right.addEmpty(1_240) // until the second one has expired
  await correctBoth({ service, height, right })
  await tickFor(service, 3_600, () => {}, 600)
  return { service, id, first, second, right, at }
}

describe('a late payment that an operator has excused before its receipt was read', () => {
  it('is shown to the signer, and takes moved: true to be given back', async () => {
    const { service, id, first } = await startLate(true)
    expect(await openGaps(service)).not.toEqual([])
    expect(await offered(service)).toBe('payouts-stopped')
    await excuse(service, first.txid)
    expect((await shown(service, id)).moved).not.toBeUndefined()
    const before = await balance(service)
    expect(await send(service, '/cancel', { ids: [id], why: 'a test' })).toMatchObject({
      status: 409,
      reason: 'money-moved',
    })
    expect(await balance(service)).toBe(before)
  })

  it('stops payouts again once its receipt shows that it has paid, and what was handed in meanwhile is not sent on', async () => {
    const { service, id, first } = await startLate(true)
    await excuse(service, first.txid)
    const third = await sign(service, { expiration: BigInt((service.clock.seconds + 3_000) * 1000) })
    expect(await handIn(service, id, third.transaction)).toMatchObject({ state: 'signed' })
    await tickLater(service, 1)
    repairNodes(service)
    await service.db.prepare('UPDATE rescan SET next_try = 0 WHERE finished_at IS NULL').run()
    await tickLater(service, 60)
    expect(await openGaps(service)).toEqual([])
    const before = sendingsOf(service, third.transaction)
    await tickLater(service, 600)
    expect(await offered(service)).toBe('payouts-stopped')
    expect(sendingsOf(service, third.transaction)).toBe(before)
    await excuse(service, first.txid)
    expect(await offered(service)).toEqual([])
  })
})

it('a late payment whose block a correction takes back can be excused before the block is read again', async () => {
  const { service, first, at } = await startLate(false)
  expect(await offered(service)).toBe('payouts-stopped')
  await correct(service, at - 1)
  await excuse(service, first.txid)
})
