import { describe, expect, it } from 'vitest'
import { referenceOf } from '../../src/worker/chain/transaction.ts'
import { finalityLag, usdtTo } from '../http/service.ts'
import { correct, disagreeOn, headOf, openGaps, repairNodes, tickFor, tickLater } from '../scan/harness.ts'
import { addressOf } from '../support/transaction-spec.ts'
import {
  balance,
  expiringAfter,
  handIn,
  mined,
  offered,
  passBlocks,
  send,
  sign,
  startPaying,
  stateOfPayout,
} from './harness.ts'

// The second transaction of a payout can be in blocks in which the first one can be, too: its
// reference block is older than the first one's end.

/**
 * A payout whose second transaction has failed, in the blocks that are read again after a
 * correction. The block before is a gap, which has the first one.
 */
async function startInGap() {
  const service = await startPaying()
  const head = await headOf(service)
  const { id, ...first } = await expiringAfter(service, 10)
  const right = service.chain.fork(service.chain.tip().height - finalityLag + 1)
  await passBlocks(service, 12)
  expect(await stateOfPayout(service, id)).toBe('approved/1')
  const second = await sign(service, {
    reference: referenceOf(head),
    expiration: BigInt((await headOf(service)).timestamp + 3_500_000),
  })
  expect(await handIn(service, id, second.transaction)).toMatchObject({ state: 'signed' })
  const at = right.add([usdtTo(addressOf(80), 1n), mined(first)]).height
  right.add([mined(second, { failed: true, logs: [] })])
  right.addEmpty(finalityLag + 2)
  await correct(service, head.height)
  for (const node of service.nodes) node.chain = right
  disagreeOn(service, at)
  await tickLater(service, 60)
  expect(await openGaps(service)).toHaveLength(1)
  expect(await stateOfPayout(service, id)).toBe('stuck:failed/2')
  return { service, id, right }
}

describe.each(['open', 'closed'])('while a gap that is %s can have the first one', (gap) => {
  it('the money of the payout does not go back', async () => {
    const { service, id, right } = await startInGap()
    const before = await balance(service)
    if (gap === 'closed') {
      await service.db.prepare(`UPDATE rescan SET finished_at = 1, closed = 'nobody gives it' WHERE kind = 'gap'`).run()
    }
    const cancel = () => send(service, '/cancel', { ids: [id], why: 'a test', moved: true }, 'office')
    for (const blocks of [0, 20]) {
      right.addEmpty(blocks)
      await tickLater(service, 60)
      expect(await cancel()).toMatchObject({ status: 409, reason: 'not-in-this-state' })
    }
    repairNodes(service)
    await tickFor(service, 7_200, () => {}, 600)
    expect(await offered(service)).toBe('payouts-stopped')
    expect(await cancel()).toMatchObject({ status: 409, reason: 'payouts-stopped' })
    expect(await balance(service)).toBe(before)
  })
})

it('the money goes back once all blocks are read and do not have it', async () => {
  const service = await startPaying()
  const head = await headOf(service)
  const { id } = await expiringAfter(service, 10)
  const right = service.chain.fork(service.chain.tip().height - finalityLag + 1)
  await passBlocks(service, 12)
  const second = await sign(service, {
    reference: referenceOf(head),
    expiration: BigInt((await headOf(service)).timestamp + 3_500_000),
  })
  expect(await handIn(service, id, second.transaction)).toMatchObject({ state: 'signed' })
  right.add([mined(second, { failed: true, logs: [] })])
  right.addEmpty(finalityLag + 2)
  await correct(service, head.height)
  for (const node of service.nodes) node.chain = right
  await tickLater(service, 60)
  expect(await stateOfPayout(service, id)).toBe('stuck:failed/2')
  expect(await send(service, '/cancel', { ids: [id], why: 'a test' })).toMatchObject({ status: 409 })
  right.addEmpty(20)
  await tickLater(service, 60)
  expect(await send(service, '/cancel', { ids: [id], why: 'a test' })).toMatchObject({ status: 200 })
  expect(await balance(service)).toBe(1_000_000_000)
})
