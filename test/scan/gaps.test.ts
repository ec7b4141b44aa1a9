import { describe, expect, it } from 'vitest'
import { finalityLag, nodesWith, payFinal, textOf, trxTo, usdtTo } from '../http/service.ts'
import { changing, failing } from '../support/scripted-node.ts'
import { addressOf } from '../support/transaction-spec.ts'
import {
  alarmsOf,
  balancesOf,
  callsOf,
  correct,
  disagreeOn,
  finalizedIn,
  limitLogs,
  noise,
  openGaps,
  stateOf,
  statesOf,
  tickLater,
  withAddress,
  withHeldInGap,
  withoutReceiptOf,
} from './harness.ts'

describe('a block with more logs than nodes give at once', () => {
  it('does not stop the scan: its TRX is credited at once, and its tokens by the receipts of its calls', async () => {
    const { service, own } = await withAddress()
    limitLogs(service, 50)
    payFinal(service, noise(60), trxTo(own, 1_000_000n), usdtTo(own, 2_000_000n))
    await service.tick()
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await balancesOf(service)).toEqual({ 1: 1, 2: 2 })
    expect(await openGaps(service)).toEqual([])
    expect(alarmsOf(service, 'gap-unread')).toEqual([])
  })

  it('is read by receipts a batch at a time, also where an instance ends in between', async () => {
    const { service, own } = await withAddress()
    limitLogs(service, 50)
    const calls = Array.from({ length: 60 }, (_, i) => usdtTo(own, BigInt(i + 1)))
    const total = calls.length * (calls.length + 1)
    payFinal(service, noise(60), ...calls)
    let receipts = 0
    for (const node of service.nodes) {
      node.script = (request) => {
        receipts += request.calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length
        return receipts > 80 ? { kind: 'status', status: 500 } : null
      }
    }
    await service.tick()
    const [partly] = Object.values(await balancesOf(service)).slice(1)
    expect(partly).toBeGreaterThan(0)
    expect(partly).toBeLessThan(total / 2 / 1e6)
    for (const node of service.nodes) node.script = () => null
    const before = callsOf(service, 'eth_getTransactionReceipt').length
    service.clock.seconds += 120
    await service.with({}).tick() // another instance goes on to read the block that was put aside
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: total / 2 / 1e6 })
    expect(callsOf(service, 'eth_getTransactionReceipt').length - before).toBeLessThan(2 * 61)
    expect(await openGaps(service)).toEqual([])
  })

  it('has everything credited but the one transaction that no node can give, which its alarm names', async () => {
    const { service, own } = await withAddress()
    limitLogs(service, 50)
    const huge = noise(60)
    const [hugeId = ''] = payFinal(service, huge, usdtTo(own, 2_000_000n), usdtTo(own, 3_000_000n))
    for (const node of service.nodes) node.script = () => withoutReceiptOf(hugeId)
    await service.tick()
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    const [alarm] = alarmsOf(service, 'gap-unread')
    expect(String(alarm?.why)).toContain(hugeId)
    await tickLater(service)
    expect(alarmsOf(service, 'gap-unread')).toHaveLength(1)
  })

  it('has everything credited but the one transaction that nodes show differently, and that too once they agree', async () => {
    const { service, own } = await withAddress()
    limitLogs(service, 50)
    const [, disputed = ''] = payFinal(service, noise(60), usdtTo(own, 1n), usdtTo(own, 2_000_000n))
    const [first] = service.nodes
    if (first === undefined) throw new Error('a node')
    first.script = () =>
      changing('eth_getTransactionReceipt', (receipt, { params }) =>
        params[0] === `0x${disputed}` ? { ...(receipt as object), logs: [] } : receipt,
      )
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
    expect(await openGaps(service)).toMatchObject([{ why: expect.stringContaining(disputed) }])
    first.script = () => null
    await tickLater(service, 120)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2.000001 })
    expect(await openGaps(service)).toEqual([])
  })

  it('keeps what was seen in it only where it is the transaction that no node can give', async () => {
    const { service, own } = await withAddress()
    limitLogs(service, 50)
    await service.tick()
    const fork = service.chain.fork(service.chain.tip().height)
    const [, kept = ''] = service.chain.add([trxTo(own, 1n), usdtTo(own, 2n)]).transactions.map((one) => one.txid)
    service.clock.seconds += 20
    await service.tick()
    expect(await statesOf(service)).toEqual(['seen', 'seen'])
    fork.add([noise(60), usdtTo(own, 2n)]) // the first transfer is missing in the block that becomes final
    fork.addEmpty(finalityLag)
    for (const node of service.nodes) {
      node.chain = fork
      node.script = () => withoutReceiptOf(kept)
    }
    service.clock.seconds += 60
    await service.tick()
    await tickLater(service, 120)
    expect(await openGaps(service)).toMatchObject([{ why: expect.stringContaining(kept) }])
    expect(await statesOf(service)).toEqual(['dropped', 'seen'])
  })
})

it('a correction, which removes what is not credited, has all receipts of a gap read again', async () => {
  const { service, hugeId } = await withHeldInGap()
  await correct(service, finalizedIn(service) - 1)
  expect(await statesOf(service)).toEqual(['seen'])
  await tickLater(service, 120)
  expect(await statesOf(service)).toEqual(['held:retired'])
  expect(await openGaps(service)).toMatchObject([{ why: expect.stringContaining(hugeId) }])
})

describe('a block that nodes do not agree on', () => {
  it('is passed at once, with an alarm, and credited once they do', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const height = service.chain.tip().height + 1
    disagreeOn(service, height)
    payFinal(service, usdtTo(own, 2_000_000n))
    payFinal(service, usdtTo(own, 3_000_000n))
    await tickLater(service)
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 3 })
    expect(alarmsOf(service, 'gap-unread')).toEqual([expect.objectContaining({ from: height, to: height })])
    for (const node of service.nodes) node.script = () => null
    await tickLater(service, 120)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    expect(await openGaps(service)).toEqual([])
  })

  it('is asked about ever more rarely, to once a day', async () => {
    const { service } = await withAddress()
    await service.tick()
    const height = service.chain.tip().height + 1
    disagreeOn(service, height)
    payFinal(service, usdtTo(addressOf(9), 1n))
    await tickLater(service)
    const waits: number[] = []
    for (let i = 0; i < 14; i += 1) {
      const [gap] = await openGaps(service)
      const dueAt = Number(gap?.next_try)
      waits.push(Math.round((dueAt - service.clock.seconds * 1000) / 60_000))
      service.clock.seconds = Math.ceil(dueAt / 1000) + 1
      service.chain.addEmpty(1)
      await service.tick()
    }
    expect(waits.slice(0, 4)).toEqual([1, 2, 4, 8])
    expect(waits.at(-1)).toBe(1440)
    const asked = callsOf(service, 'eth_getLogs').length
    service.clock.seconds += 3600
    await service.tick()
    expect(callsOf(service, 'eth_getLogs').length - asked).toBeLessThan(60)
  })

  it('has an alarm of its own, also while another one lasts', async () => {
    const { service } = await withAddress()
    await service.tick()
    const first = service.chain.tip().height + 1
    disagreeOn(service, first, first + 19)
    payFinal(service, usdtTo(addressOf(9), 1n))
    await tickLater(service)
    payFinal(service, usdtTo(addressOf(9), 1n))
    await tickLater(service, 60)
    expect(alarmsOf(service, 'gap-unread').map(({ from }) => from)).toEqual([first, first + 19])
  })

  it('keeps no other block of its gap waiting', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const first = service.chain.tip().height + 1
    disagreeOn(service, first, first + 1, first + 2)
    service.chain.add([usdtTo(own, 1_000_000n)])
    service.chain.add([usdtTo(own, 2_000_000n)])
    payFinal(service, usdtTo(own, 4_000_000n))
    await tickLater(service)
    expect(await openGaps(service)).toHaveLength(1)
    disagreeOn(service, first)
    for (let i = 0; i < 6; i += 1) await tickLater(service, 60)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 6 })
    expect(await openGaps(service)).toEqual([expect.objectContaining({ from_height: first, to_height: first })])
  })

  it('keeps no other block of its gap waiting, also where more are unreadable than fit into one reply', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const first = service.chain.tip().height + 1
    const heights = Array.from({ length: 102 }, (_, i) => first + i)
    disagreeOn(service, ...heights)
    for (const _ of heights.slice(1)) service.chain.add([usdtTo(addressOf(9), 1n)])
    service.chain.add([usdtTo(own, 1_000_000n)])
    payFinal(service, usdtTo(own, 2_000_000n))
    await tickLater(service, 400)
    await tickLater(service, 20)
    expect(await openGaps(service)).toMatchObject([{ from_height: first, to_height: first + 101 }])
    disagreeOn(service, ...heights.slice(0, 101))
    for (let i = 0; i < 15; i += 1) await tickLater(service, 3600)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 3 })
  })

  it('does not keep a caller from the own transaction in it', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    limitLogs(service, 1)
    for (const node of service.nodes) node.script = () => failing('eth_getTransactionReceipt', -32000, 'busy')
    const [, txid = ''] = payFinal(service, noise(5), usdtTo(own, 2_000_000n))
    await tickLater(service)
    expect(await openGaps(service)).toHaveLength(1)
    for (const node of service.nodes) node.script = () => null
    expect(await textOf(service, `/tron/recharge?txid=${txid}`)).toContain('credited 2 USDT')
    await tickLater(service, 600)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 2 })
  })
})

describe('the requests of gaps', () => {
  it('are leftover ones: without room, ticks go on, and gaps wait', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const first = service.chain.tip().height + 1
    disagreeOn(service, first)
    payFinal(service, usdtTo(own, 2_000_000n))
    await tickLater(service)
    for (const node of service.nodes) node.script = () => null
    const poor = service.with(nodesWith({ perDay: 22_500 })) // exactly what ticks need in a day
    payFinal(service, usdtTo(own, 3_000_000n))
    service.clock.seconds += 120
    await poor.tick() // the first tick of an instance spends requests on checking its nodes
    service.clock.seconds += 20
    await poor.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 3 })
    expect(await openGaps(service)).toHaveLength(1)
  })
})
