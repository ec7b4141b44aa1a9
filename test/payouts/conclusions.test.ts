import { describe, expect, it } from 'vitest'
import { referenceOf, type TransferContent } from '../../src/chain/transaction.ts'
import { finalityLag, type RunningService, usdtTo } from '../http/service.ts'
import {
  breakNodes,
  correct,
  disagreeOn,
  finalizedIn,
  headOf,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  rescan,
  stateOf,
  tickFor,
  tickLater,
  withoutReceiptOf,
} from '../scan/harness.ts'
import { payoutAddress, signTransfer } from '../support/payouts.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  ask,
  balance,
  contentOf,
  handIn,
  mined,
  mineFinal,
  offered,
  paidLog,
  passBlocks,
  payoutEvents,
  recipient,
  recipientBase58,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
  trxContent,
} from './harness.ts'

const blockMs = 3_000

/** A payout whose transaction expires at the very time of the block that is so many above the newest final one. */
async function expiringAfter(service: RunningService, blocks: number, changes: Partial<TransferContent> = {}) {
  const { height, timestamp } = await headOf(service)
  const payout = await signedPayout(service, { expiration: BigInt(timestamp + blocks * blockMs), ...changes })
  return { ...payout, reference: height, last: height + blocks }
}

/** A service whose newest final block is the last one without a transfer, so that nodes can differ about each one after it. */
async function startBusy(): Promise<RunningService> {
  const service = await startPaying()
  await passBusy(service, finalityLag)
  return service
}

/** Adds blocks that have a transfer until so many more are final, and has them scanned. */
async function passBusy(service: RunningService, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) service.chain.add([usdtTo(addressOf(80), 1n)])
  await tickLater(service, Math.max(count * 3, 20))
}

/** Has blocks scanned until this one is the newest final one. */
async function scanTo(service: RunningService, height: number): Promise<void> {
  await passBusy(service, height - finalizedIn(service))
  expect((await stateOf(service)).height).toBe(height)
}

describe('a transaction that is in a final block', () => {
  it('has paid if a log of the token has exactly the amount, from the payout address to the recipient', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const height = await mineFinal(service, mined(signed))
    expect(await shown(service, id)).toMatchObject({ state: 'paid', height, attempts: 0, txid: signed.txid })
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'paid'])
    expect(await balance(service)).toBe(995_000_000)
    expect(await offered(service)).toEqual([])
  })

  it('has paid TRX if it has succeeded', async () => {
    const service = await startPaying()
    const { id } = await ask(service, { cuy: 1 })
    const signed = signTransfer(trxContent(await headOf(service)))
    await handIn(service, id, signed.transaction)
    await mineFinal(service, mined(signed, { logs: [] }))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('has paid although the token has moved more in it', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    await mineFinal(service, mined(signed, { logs: [paidLog(1n, addressOf(70)), paidLog()] }))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('has paid under whichever signature it was mined, and whatever the nodes have said about the sending', async () => {
    const service = await startPaying()
    const refusal = { code: 'TRANSACTION_EXPIRATION_ERROR', message: '' }
    for (const node of service.nodes) node.script = () => changing('/wallet/broadcasthex', () => refusal)
    const { id, ...signed } = await signedPayout(service)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    await mineFinal(service, mined(signed))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('is found in a block with more logs than a reply holds, by its receipt', async () => {
    const service = await startPaying()
    limitLogs(service, 50)
    const { id, ...signed } = await signedPayout(service)
    await mineFinal(service, noise(60), mined(signed))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('waits in such a block while its receipt cannot be read, and is neither expired nor paid meanwhile', async () => {
    const service = await startPaying()
    limitLogs(service, 50)
    const { id, last, ...signed } = await expiringAfter(service, 30)
    for (const node of service.nodes) node.script = () => withoutReceiptOf(signed.txid)
    await mineFinal(service, noise(60), mined(signed))
    await scanTo(service, last + 1)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    expect(await openGaps(service)).toMatchObject([{ kind: 'gap' }])
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('has failed if it was reverted or ran out of energy: its money stays taken', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const height = await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    expect(await shown(service, id)).toMatchObject({
      ...{ state: 'stuck', reason: 'failed', attempts: 1, height, txid: signed.txid },
      why: 'its transaction is final and has failed: nothing was paid',
    })
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'stuck'])
    expect(await balance(service)).toBe(995_000_000)
    expect(await offered(service)).toEqual([])
  })

  it('has failed as well if all of its energy was burnt', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const show = (result: unknown) => JSON.parse(JSON.stringify(result).replaceAll('"REVERT"', '"OUT_OF_ENERGY"'))
    for (const node of service.nodes) node.script = () => changing('/wallet/getblockbylimitnext', show)
    await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/1')
  })

  it.each([
    ['no log, as of a token that has returned false', [], []],
    ['a log of less', [paidLog(4_999_999n)], [{ to: recipientBase58, cuy: 2, amt: 4.999999 }]],
    ['a log to somebody else', [paidLog(5_000_000n, addressOf(70))], [{ cuy: 2, amt: 5 }]],
    ['two halves', [paidLog(2_500_000n), paidLog(2_500_000n)], [{ amt: 2.5 }, { amt: 2.5 }]],
    [
      'a log of another token',
      [transferLog(addressOf(33), payoutAddress, recipient, 5_000_000n)],
      [{ units: '5000000' }],
    ],
    ['a log from somebody else', [transferLog(usdtAddress, addressOf(71), recipient, 5_000_000n)], []],
  ])('has succeeded without paying with %s', async (_, logs, moved) => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    await mineFinal(service, mined(signed, { logs }))
    const payout = await shown(service, id)
    expect(payout).toMatchObject({ state: 'stuck', reason: 'other', attempts: 1, moved })
    expect(payout.moved).toHaveLength(moved.length)
    expect(await balance(service)).toBe(995_000_000)
  })

  it('counts only if the nodes agree on the block', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    disagreeOn(service, service.chain.tip().height + 1)
    await mineFinal(service, mined(signed))
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    repairNodes(service)
    await tickLater(service, 3_600)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('counts once it is final: where it is seen before, it is only seen', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    service.chain.add([mined(signed, { failed: true, logs: [] })])
    service.chain.addEmpty(3)
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    const fork = service.chain.fork(service.chain.tip().height - 4)
    fork.addEmpty(3)
    fork.add([mined(signed)])
    fork.addEmpty(18)
    for (const node of service.nodes) node.chain = fork
    await tickLater(service, 60)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'paid'])
  })

  it('is found in a block that was read before its bytes came', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const signed = await sign(service)
    const unwatched = service.with({ PAYOUTS: undefined })
    service.chain.add([mined(signed)])
    service.chain.addEmpty(30)
    await tickLater(unwatched, 90)
    expect((await headOf(service)).height).toBe(finalizedIn(service))
    expect(await handIn(service, id, signed.transaction)).toEqual({ id, state: 'signed', txid: signed.txid })
    await tickLater(service)
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'paid'])
  })
})

describe('a transaction that is in no final block', () => {
  it('has expired with the first block at or past its expiration, and not with the one before', async () => {
    const service = await startPaying()
    const { id, txid, last } = await expiringAfter(service, 30)
    await scanTo(service, last - 1)
    service.clock.seconds += 600 // the time of no clock counts
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

describe('a fork of final blocks', () => {
  it('has payouts wait until it is decided', async () => {
    const service = await startPaying()
    const { id, last } = await expiringAfter(service, 30)
    await scanTo(service, last - 5)
    const fork = service.chain.fork(finalizedIn(service) - 3)
    fork.addEmpty(60)
    for (const node of service.nodes) node.chain = fork
    await tickLater(service, 200)
    expect((await stateOf(service)).halted).not.toBeNull()
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    await correct(service, last - 10)
    await tickLater(service, 60)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
  })
})

describe('a correction takes back what rests on blocks above it', () => {
  it.each([
    ['paid', {}, 'paid/0', ['paid']],
    ['failed', { failed: true, logs: [] }, 'stuck:failed/1', ['stuck']],
    ['paid something else', { logs: [] }, 'stuck:other/1', ['stuck']],
  ])('of one that has %s, and finds it again without a second event', async (_, how, state, events) => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const height = await mineFinal(service, mined(signed, how))
    expect(await stateOfPayout(service, id)).toBe(state)
    await correct(service, height - 1)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    await passBlocks(service, 1)
    expect(await stateOfPayout(service, id)).toBe(state)
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', ...events])
  })

  it('and a payout that has not paid by the right blocks is stuck, with its event', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const before = service.chain.tip().height
    const right = service.chain.fork(before)
    const height = await mineFinal(service, mined(signed))
    right.add([mined(signed, { failed: true, logs: [] })])
    right.addEmpty(40)
    await correct(service, height - 1)
    for (const node of service.nodes) node.chain = right
    await tickLater(service, 60)
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/1')
    expect(await payoutEvents(service)).toEqual(['approved', 'signed', 'paid', 'stuck'])
  })

  it('of one that has expired: it is signed again, with the same transaction alone', async () => {
    const service = await startPaying()
    const { id, last, transaction, txid } = await expiringAfter(service, 10)
    await scanTo(service, last + 1)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
    await correct(service, last - 2)
    expect(await shown(service, id)).toMatchObject({ state: 'signed', attempts: 0, txid })
    expect(await offered(service)).toBe('no-final-block')
    await passBlocks(service, 1)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
    expect(await handIn(service, id, transaction)).toMatchObject({ refused: { reason: 'transaction-ended' } })
  })

  it('not if the payout has gone on: one that has paid after all stops payouts', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const before = service.chain.tip().height
    const right = service.chain.fork(before)
    const height = await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    await send(service, '/cancel', { ids: [id], why: 'a test' })
    right.add([mined(signed)])
    right.addEmpty(40)
    await correct(service, height - 1)
    expect(await stateOfPayout(service, id)).toBe('cancelled/1')
    for (const node of service.nodes) node.chain = right
    await tickLater(service, 60)
    expect(await stateOfPayout(service, id)).toBe('cancelled/1')
    expect(await offered(service)).toBe('payouts-stopped')
    expect(await balance(service)).toBe(1_000_000_000)
  })
})
