import { describe, expect, it } from 'vitest'
import { finalityLag, payer, usdtTo } from '../http/service.ts'
import {
  alarmsOf,
  correct,
  disagreeOn,
  headOf,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  stateOf,
  tickFor,
  tickLater,
  withoutReceiptOf,
} from '../scan/harness.ts'
import { ask, balance, handIn, mined, mineFinal, offered, send, sign, startPaying, stateOfPayout } from './harness.ts'
import {
  closeGaps,
  correctBoth,
  excuse,
  expectPaidOnce,
  sendingsOf,
  sendNow,
  showRight,
  startTwoSigned,
} from './two-transactions.ts'

// A correction shows that a transaction has paid after all, of which something else was known
// before. Nothing may pay a second time.

describe('bytes of a transaction whose block a correction has taken back', () => {
  it.each(['open', 'closed'])(
    'are looked for in each block that may have them, also in a gap that is %s',
    async (gap) => {
      const service = await startPaying()
      const { id } = await ask(service)
      const { timestamp } = await headOf(service)
      const signed = await sign(service, { expiration: BigInt(timestamp + 90_000) })
      const right = service.chain.fork(service.chain.tip().height)
      const height = await mineFinal(service, mined(signed))
      expect(await offered(service)).toBe('payouts-stopped')
      await correct(service, height - 1)
      const at = right.add([mined(signed)]).height
      right.addEmpty(finalityLag + 4)
      showRight(service, right)
      disagreeOn(service, at)
      await tickLater(service, 60)
      expect(await openGaps(service)).toHaveLength(1)
      if (gap === 'closed') await closeGaps(service)
      repairNodes(service)
      expect(await handIn(service, id, signed.transaction)).toEqual({ id, state: 'signed', txid: signed.txid })
      for (let i = 0; i < 3; i += 1) {
        right.addEmpty(20)
        await tickLater(service, 60)
      }
      expect(await stateOfPayout(service, id)).toBe('paid/0')
    },
  )
})

it.each([
  ['after its end', 1],
  ['after its end, by a clock that was ahead', 9_000_000_000_000],
])('a transaction that a correction opens again is looked for in a gap that was closed %s', async (_, closedAt) => {
  const service = await startPaying()
  const { id } = await ask(service)
  const { timestamp } = await headOf(service)
  const signed = await sign(service, { expiration: BigInt(timestamp + 150_000) })
  expect(await handIn(service, id, signed.transaction)).toMatchObject({ state: 'signed' })
  const right = service.chain.fork(service.chain.tip().height)
  const gap = service.chain.add([usdtTo(payer, 1n)]).height
  right.add([mined(signed)])
  service.chain.addEmpty(2)
  disagreeOn(service, gap)
  await mineFinal(service, mined(signed))
  expect(await stateOfPayout(service, id)).toBe('paid/0')
  expect(await openGaps(service)).toHaveLength(1)
  await closeGaps(service, closedAt)
  repairNodes(service)
  right.addEmpty(finalityLag + 30)
  await correct(service, gap + 1)
  showRight(service, right)
  for (let i = 0; i < 3; i += 1) {
    right.addEmpty(20)
    await tickLater(service, 60)
  }
  expect(await stateOfPayout(service, id)).toBe('paid/0')
})

it('the scan goes on where the first one has paid far below the block that was past its expiration', async () => {
  const { service, height, id, first, right } = await startTwoSigned(300)
  right.add([noise(1), mined(first)])
  right.addEmpty(finalityLag + 3)
  await correctBoth({ service, height, right })
  await tickLater(service, 60)
  expect(alarmsOf(service, 'scan-stalled')).toEqual([])
  expect((await stateOf(service)).height).toBe(right.tip().height - finalityLag)
  expect(await offered(service)).toBe('payouts-stopped')
  expect(await stateOfPayout(service, id)).toBe('signed/1')
})

it('nothing is sent while blocks that may have an earlier transaction are to be read again', async () => {
  const { service, height, id, first, second, right } = await startTwoSigned()
  const before = sendingsOf(service, second.transaction)
  right.add([mined(first)])
  right.addEmpty(40)
  await correctBoth({ service, height, right })
  service.clock.seconds += 700
  await sendNow(service)
  expect(sendingsOf(service, second.transaction)).toBe(before)
  await tickLater(service, 60)
  expect(await stateOfPayout(service, id)).toBe('signed/1')
  expect(sendingsOf(service, second.transaction)).toBe(before)
})

it('and it is sent once they are read, and have no earlier one', async () => {
  const { service, height, second, right } = await startTwoSigned()
  const before = sendingsOf(service, second.transaction)
  right.addEmpty(40)
  await correctBoth({ service, height, right })
  await tickLater(service, 700)
  expect(sendingsOf(service, second.transaction)).toBeGreaterThan(before)
})

it.each(['open', 'closed'] as const)(
  'a payout is not signed again while a gap that is %s may have an earlier one',
  async (gap) => {
    await expectPaidOnce(await startTwoSigned(), gap)
  },
)

it('the second transaction of a payout that the first one has paid is not sent again when the operator resumes', async () => {
  const { service, height, first, second, right } = await startTwoSigned()
  right.add([noise(1), mined(first)])
  right.addEmpty(40)
  await correctBoth({ service, height, right })
  await tickLater(service, 60)
  expect(await offered(service)).toBe('payouts-stopped')
  const before = sendingsOf(service, second.transaction)
  expect(before).toBeGreaterThan(0)
  await excuse(service, first.txid)
  right.addEmpty(10)
  await tickLater(service, 600)
  await tickLater(service, 60)
  expect(sendingsOf(service, second.transaction)).toBe(before)
})

it('nor is it once a correction opens it again', async () => {
  const { service, height, first, second, right } = await startTwoSigned()
  right.add([noise(1), mined(first)])
  right.addEmpty(40)
  await correctBoth({ service, height, right })
  await tickLater(service, 60)
  await excuse(service, first.txid)
  const wrong = right.fork(right.tip().height)
  const ended = wrong.add([mined(second)]).height
  wrong.addEmpty(finalityLag + 3)
  showRight(service, wrong)
  await tickLater(service, 120)
  const before = sendingsOf(service, second.transaction)
  right.addEmpty(finalityLag + 10)
  await service.db
    .prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (?, 'a wrong node', ?)`)
    .bind(ended - 1, service.clock.seconds * 1000)
    .run()
  showRight(service, right)
  await tickLater(service, 60)
  right.addEmpty(10)
  await tickLater(service, 600)
  expect(sendingsOf(service, second.transaction)).toBe(before)
})

it.each([
  ['with its block', false, false],
  ['later than its block', true, false],
  ['at the second attempt', true, true],
])(
  'what has been paid late is shown as money that has left, if its receipt is read %s',
  async (_, isLater, isUnread) => {
    const { service, height, id, first, right } = await startTwoSigned()
    if (isLater) limitLogs(service, 50)
    if (isUnread) for (const node of service.nodes) node.script = () => withoutReceiptOf(first.txid)
    right.add([noise(60), mined(first)])
    right.addEmpty(40)
    await correctBoth({ service, height, right })
    await tickLater(service, 60)
    expect(await offered(service)).toBe('payouts-stopped')
    repairNodes(service)
    right.addEmpty(1_200) // until the second one has expired
    await tickFor(service, 7_200, () => {}, 600)
    expect(await openGaps(service)).toEqual([])
    expect(await stateOfPayout(service, id)).toBe('approved/2')
    await excuse(service, first.txid)
    const before = await balance(service)
    const cancelled = await send(service, '/cancel', { ids: [id], why: 'a test' })
    expect(cancelled).toMatchObject({ status: 409, reason: 'money-moved' })
    expect(await balance(service)).toBe(before)
  },
)

it.each([
  ['in the moment of the resume', 0],
  ['by a clock that is behind', 2],
])('bytes that are handed in after a late payment was excused are sent, also %s', async (_, behind) => {
  const { service, height, id, first, right } = await startTwoSigned()
  right.add([noise(1), mined(first)])
  right.addEmpty(1_240) // until the second one has expired
  await correctBoth({ service, height, right })
  await tickFor(service, 3_600, () => {}, 600)
  expect(await stateOfPayout(service, id)).toBe('approved/2')
  await service.db
    .prepare(
      `UPDATE payout_transaction SET version = version + 1, excused = 'looked at', changed_at = ? WHERE txid = ?`,
    )
    .bind(service.clock.seconds * 1000, first.txid)
    .run()
  const third = await sign(service, { expiration: BigInt((service.clock.seconds + 600) * 1000) })
  service.clock.seconds -= behind
  expect(await handIn(service, id, third.transaction)).toMatchObject({ state: 'signed' })
  await tickLater(service, 60)
  expect(sendingsOf(service, third.transaction)).toBeGreaterThan(0)
})
