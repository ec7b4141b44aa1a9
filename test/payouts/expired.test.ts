import { describe, expect, it } from 'vitest'
import { referenceOf } from '../../src/worker/chain/transaction.ts'
import { nodesWith } from '../http/service.ts'
import {
  alarmsOf,
  breakNodes,
  disagreeOn,
  finalizedIn,
  headOf,
  openGaps,
  repairNodes,
  rescan,
  stateOf,
  tickFor,
  tickLater,
} from '../scan/harness.ts'
import { signTransfer } from '../support/payouts.ts'
import {
  ask,
  balance,
  blockMs,
  contentOf,
  expiringAfter,
  handIn,
  mined,
  mineFinal,
  offered,
  passBlocks,
  passBusy,
  payoutEvents,
  scanTo,
  send,
  shown,
  sign,
  startBusy,
  startPaying,
  stateOfPayout,
} from './harness.ts'

describe('a transaction that is in no final block', () => {
  it('has expired with the first block at or past its expiration, and not with the one before', async () => {
    const service = await startPaying()
    const { id, txid, last } = await expiringAfter(service, 30)
    await scanTo(service, last - 1)
    service.clock.seconds += 600 // a transaction expires by the times of blocks, not by the clock
    await service.tick()
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    await scanTo(service, last)
    const payout = await shown(service, id)
    expect(payout).toMatchObject({ state: 'approved', attempts: 1 })
    expect(payout).not.toHaveProperty('txid')
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'approved'])
    expect(await balance(service)).toBe(995_000_000)
    expect(await offered(service)).toEqual([id])
    const response = await service.ledger(`/ledger/payouts?txid=${txid}`)
    expect(await response.json()).toMatchObject({ data: { list: [{ id }] } })
  })

  it('can still be in the first block that is past its expiration', async () => {
    const service = await startPaying()
    const { id, last, ...signed } = await expiringAfter(service, 30)
    await scanTo(service, last - 1)
    const next = finalizedIn(service) + 1
    const chain = service.chain.fork(next - 1)
    chain.add([mined(signed)])
    chain.addEmpty(18)
    for (const node of service.nodes) node.chain = chain
    await tickLater(service)
    expect(await shown(service, id)).toMatchObject({ state: 'paid', height: next })
  })

  it('is stuck once three have expired, until a person allows three more', async () => {
    const service = await startPaying()
    const { id, last } = await expiringAfter(service, 10)
    await scanTo(service, last)
    for (const attempts of [2, 3]) {
      const { timestamp } = await headOf(service)
      const next = await sign(service, { expiration: BigInt(timestamp + 10 * blockMs) })
      expect(await handIn(service, id, next.transaction)).toMatchObject({ state: 'signed' })
      await passBlocks(service, 10)
      expect(await stateOfPayout(service, id)).toBe(attempts === 3 ? 'stuck:expired/3' : 'approved/2')
    }
    expect(await offered(service)).toEqual([])
    expect(await send(service, '/approve', { ids: [id] }, 'office')).toMatchObject({ status: 200 })
    expect(await stateOfPayout(service, id)).toBe('approved/3')
    for (const state of ['approved/4', 'approved/5', 'stuck:expired/6']) {
      const { timestamp } = await headOf(service)
      const next = await sign(service, { expiration: BigInt(timestamp + 10 * blockMs) })
      await handIn(service, id, next.transaction)
      await passBlocks(service, 10)
      expect(await stateOfPayout(service, id)).toBe(state)
    }
  })

  it.each([
    ['right after its reference block', 1],
    ['in the middle', 15],
    ['at its expiration', 30],
  ])('waits for a block %s that is a gap', async (_, place) => {
    const service = await startBusy()
    const { id, reference, last } = await expiringAfter(service, 30)
    disagreeOn(service, reference + place)
    await scanTo(service, last + 2)
    expect(await openGaps(service)).toMatchObject([{ next_height: reference + place }])
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await openGaps(service)).toEqual([])
    expect(await stateOfPayout(service, id)).toBe('approved/1')
  })

  it('does not wait for gaps outside of its life', async () => {
    const service = await startBusy()
    const before = finalizedIn(service) + 1
    const after = before + 40
    disagreeOn(service, before, after)
    await scanTo(service, before + 1)
    const { id, last } = await expiringAfter(service, 30)
    expect(last).toBeLessThan(after)
    await scanTo(service, after + 1)
    expect(await openGaps(service)).toHaveLength(2)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
  })

  it('waits although an operator ends the reading of a gap, and is paid if it was there', async () => {
    const service = await startPaying()
    const { id, last, ...signed } = await expiringAfter(service, 30)
    const at = service.chain.tip().height + 1
    disagreeOn(service, at)
    await mineFinal(service, mined(signed))
    await scanTo(service, last + 2)
    await service.db
      .prepare(
        `UPDATE rescan SET finished_at = 1700000000000, closed = 'a test' WHERE kind = 'gap' AND finished_at IS NULL`,
      )
      .run()
    expect(await openGaps(service)).toMatchObject([{ kind: 'payout', next_height: at, to_height: at }])
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('waits for blocks that are to be read again', async () => {
    const service = await startBusy()
    const { id, reference, last } = await expiringAfter(service, 30)
    await scanTo(service, last - 2)
    await rescan(service, reference + 3, reference + 4)
    disagreeOn(service, reference + 3)
    await scanTo(service, last + 1)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
  })

  it('waits while no node answers, and while one alone goes on', async () => {
    const service = await startPaying()
    const { id, last } = await expiringAfter(service, 30)
    service.chain.addEmpty(60)
    breakNodes(service)
    await tickFor(service, 600)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    repairNodes(service)
    const [first] = service.nodes
    if (first !== undefined) first.behind = 60
    await tickFor(service, 600)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    if (first !== undefined) first.behind = 0
    await tickFor(service, 600)
    expect((await stateOf(service)).height).toBeGreaterThan(last)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
  })

  it('that was handed in after its expiration has expired once the blocks of its life were read again', async () => {
    const service = await startBusy()
    const { id } = await ask(service)
    const head = await headOf(service)
    await passBusy(service, 40)
    const late = signTransfer(contentOf(head, { expiration: BigInt(head.timestamp + 10 * blockMs) }))
    disagreeOn(service, head.height + 5)
    expect(await handIn(service, id, late.transaction)).toMatchObject({ state: 'signed' })
    expect(await openGaps(service)).toMatchObject([{ kind: 'payout', from_height: head.height + 1 }])
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
    expect(service.nodes.flatMap(({ broadcasts }) => broadcasts)).toEqual([])
  })

  it('refers by its two bytes to the newest block that they can mean, so older blocks are not read again', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const head = await headOf(service)
    await passBlocks(service, 5)
    const older = signTransfer(contentOf(await headOf(service), { reference: referenceOf(head) }))
    expect(await handIn(service, id, older.transaction)).toMatchObject({ state: 'signed' })
    expect(await openGaps(service)).toMatchObject([
      { kind: 'payout', from_height: head.height + 1, to_height: head.height + 5 },
    ])
  })
})

it('what a payout needs to be read again has an alarm after a quarter of an hour, where nodes allow too little for it', async () => {
  const service = await startPaying()
  const { id } = await ask(service)
  const { transaction } = await sign(service)
  const poor = service.with(nodesWith({ perDay: 22_500 })) // exactly the requests that ticks need in a day
  await passBlocks(poor, 3)
  expect(await handIn(service, id, transaction)).toMatchObject({ state: 'signed' })
  for (let minute = 1; minute <= 14; minute += 1) await tickLater(poor, 60)
  expect(alarmsOf(service, 'gap-unread')).toEqual([])
  await tickLater(poor, 60)
  await tickLater(poor, 60)
  expect(alarmsOf(service, 'gap-unread')).toMatchObject([{ attempts: 0, why: expect.stringContaining('no requests') }])
  await tickLater(service, 60)
  expect(await openGaps(service)).toEqual([])
})
