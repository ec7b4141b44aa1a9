import { describe, expect, it } from 'vitest'
import { finalityLag } from '../http/service.ts'
import {
  correct,
  finalizedIn,
  headOf,
  limitLogs,
  noise,
  repairNodes,
  stateOf,
  tickLater,
  withoutReceiptOf,
} from '../scan/harness.ts'
import {
  balance,
  expiringAfter,
  handIn,
  mined,
  mineFinal,
  offered,
  passBlocks,
  payoutEvents,
  scanTo,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'

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

describe('while the chain is known to be forked, no payout is cancelled', () => {
  it('that has failed on the wrong chain: the right one shows that it has paid', async () => {
    const service = await startPaying()
    const { id, ...signed } = await signedPayout(service)
    const right = service.chain.fork(service.chain.tip().height)
    const height = await mineFinal(service, mined(signed, { failed: true, logs: [] }))
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/1')
    right.add([mined(signed)])
    right.addEmpty(60)
    for (const node of service.nodes) node.chain = right
    await tickLater(service, 200)
    const cancelled = await send(service, '/cancel', { ids: [id], why: 'it has failed' }, 'office')
    expect(cancelled).toMatchObject({ status: 409, reason: 'chain-forked' })
    await correct(service, height - 1)
    await tickLater(service, 120)
    expect([await stateOfPayout(service, id), await balance(service)]).toEqual(['paid/0', 995_000_000])
    expect(await payoutEvents(service)).not.toContain('cancelled')
  })

  it('that has expired on the wrong chain, over RPC as by the route; and once the fork is decided, one can be', async () => {
    const service = await startPaying()
    const { id, last, ...signed } = await expiringAfter(service, 30)
    const right = service.chain.fork(service.chain.tip().height)
    await scanTo(service, last + 2)
    expect(await stateOfPayout(service, id)).toBe('approved/1')
    const height = right.add([mined(signed, { failed: true, logs: [] })]).height
    right.addEmpty(90)
    for (const node of service.nodes) node.chain = right
    await tickLater(service, 300)
    const cancelled = await send(service, '/cancel', { ids: [id], why: 'x' }, 'office')
    expect(cancelled).toMatchObject({ status: 409, reason: 'chain-forked' })
    const over = await service.rpc.cancelPayouts([id], 'x', 'office')
    expect(over).toMatchObject({ ok: false, error: { kind: 'conflict', reason: 'chain-forked' } })
    expect(await balance(service)).toBe(995_000_000)
    await correct(service, height - 1)
    await tickLater(service, 120)
    expect(await stateOfPayout(service, id)).toBe('stuck:failed/1')
    expect(await send(service, '/cancel', { ids: [id], why: 'x' }, 'office')).toMatchObject({ status: 200 })
    expect(await balance(service)).toBe(1_000_000_000)
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

  it.each([
    ['', false],
    [', although its receipt cannot be read', true],
  ])('and while one has paid after all, no other one of its payout is taken or sent on%s', async (_, isUnread) => {
    const service = await startPaying()
    const { height } = await headOf(service)
    const { id, ...first } = await expiringAfter(service, 10)
    const right = service.chain.fork(service.chain.tip().height - finalityLag + 1)
    await passBlocks(service, 12)
    const second = await sign(service)
    expect(await handIn(service, id, second.transaction)).toMatchObject({ state: 'signed' })
    if (isUnread) {
      limitLogs(service, 50)
      for (const node of service.nodes) node.script = () => withoutReceiptOf(first.txid)
    }
    right.add([noise(60), mined(first)])
    right.addEmpty(40)
    await correct(service, height)
    for (const node of service.nodes) node.chain = right
    await tickLater(service, 60)
    expect(await offered(service)).toBe('payouts-stopped')
    const sendings = () => service.nodes.flatMap(({ broadcasts }) => broadcasts).length
    const before = sendings()
    for (let i = 0; i < 3; i += 1) await tickLater(service, 60)
    expect(sendings()).toBe(before)
    expect(await stateOfPayout(service, id)).toBe('signed/1')
    repairNodes(service)
    right.addEmpty(250)
    await tickLater(service, 750)
    expect(await stateOfPayout(service, id)).toBe('approved/2')
    const third = await sign(service, { timestamp: 3n })
    const refused = { code: 409, reason: 'another-transaction', why: expect.stringContaining('after all') }
    expect(await handIn(service, id, third.transaction)).toEqual({ id, refused })
  })
})
