import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import { addressIn, nodesWith, type RunningService, startService, threeNodes, usdtTo } from '../http/service.ts'
import { addressOf } from '../support/transaction-spec.ts'
import { balancesOf, breakNodes, eventsOf, stateOf, statesOf } from './harness.ts'

const blockMs = 3_000
const orderOf7 = { uid: 7, cuy: 1, amt: '25', order: 'tea' }
/** In milliseconds: how often the test looks whether something is due. */
const stepMs = 250

/** Starts a service in which user 7 was just given an address, at the time of the newest block. */
async function waiting(variables: Record<string, unknown> = {}) {
  const service = await startService(variables)
  service.clock.seconds = service.chain.tip().timeMs / 1000
  const own = await addressIn(await service.get('/tron/generate'))
  await service.tick()
  return { service, own, live: createLife(service) }
}

/**
 * The time as it passes: a block each 3 s, and the looks and the ticks that are due. `pays` are the
 * addresses that the next blocks pay. Returns, for each payment, the milliseconds from its block to
 * the end of the look or tick that has seen it.
 */
function createLife(service: RunningService) {
  const { scannerHost, chain, clock } = service
  const minedAt: number[] = []
  const seenAfter: number[] = []
  let planned: { readonly timer: typeof scannerHost.timer; readonly at: number } = { timer: null, at: 0 }
  const now = () => clock.seconds * 1000
  const observe = async () => {
    const { length } = await statesOf(service)
    while (seenAfter.length < length) seenAfter.push(now() - (minedAt[seenAfter.length] ?? 0))
  }
  return async (seconds: number, pays: readonly Address[] = []) => {
    const left = [...pays]
    for (const end = now() + seconds * 1000; now() < end; clock.seconds += stepMs / 1000) {
      while (chain.tip().timeMs + blockMs <= now()) {
        const to = left.shift()
        chain.add(to === undefined ? [] : [usdtTo(to, 25_000_000n)])
        if (to !== undefined) minedAt.push(chain.tip().timeMs)
      }
      const { timer } = scannerHost
      if (timer !== planned.timer) planned = { timer, at: now() + (timer?.ms ?? 0) }
      if (timer !== null && planned.at <= now()) {
        scannerHost.timer = null
        await timer.work()
        await service.settled()
        await observe()
      }
      if (scannerHost.alarmAt !== null && scannerHost.alarmAt <= now()) {
        await service.tick()
        await observe()
      }
    }
    return seenAfter
  }
}

/** How many requests each node got while `work` ran. */
async function requestsDuring(service: RunningService, work: () => Promise<unknown>): Promise<readonly number[]> {
  const before = service.nodes.map(({ requests }) => requests.length)
  await work()
  return service.nodes.map(({ requests }, i) => requests.length - (before[i] ?? 0))
}

describe('while somebody waits for a payment', () => {
  it('each is seen within 5 s of its block, half within 2.5 s, and credited as any other', async () => {
    const { service, own, live } = await waiting({ SCAN_EVERY_SECONDS: '60' })
    await live(10)
    const seenAfter = [...(await live(40, Array<Address>(10).fill(own)))].sort((a, b) => a - b)
    expect(seenAfter).toHaveLength(10)
    expect(seenAfter[4]).toBeLessThanOrEqual(2_500)
    expect(seenAfter[9]).toBeLessThanOrEqual(5_000)
    await live(60)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 250 })
    expect((await eventsOf(service)).filter((type) => type === 'deposit.seen')).toHaveLength(10)
  })

  it('the tick of its finality is brought forward', async () => {
    const { service, own, live } = await waiting({ SCAN_EVERY_SECONDS: '60' })
    const before = service.scannerHost.alarmAt ?? 0
    await live(8, [own])
    const { finalized, finalizedAt } = await stateOf(service)
    const height = service.chain.tip().height - 1
    expect(service.scannerHost.alarmAt).toBe(finalizedAt + (height - finalized) * blockMs + 500)
    expect(service.scannerHost.alarmAt).toBeLessThan(before)
  })

  it('each block costs two requests, to one node after the other', async () => {
    const { service, live } = await waiting({ SCAN_EVERY_SECONDS: '60' })
    await live(12)
    expect(await requestsDuring(service, () => live(30))).toEqual([10, 10])
  })

  it('with three nodes, each of them in turn', async () => {
    const { service, live } = await waiting({ SCAN_EVERY_SECONDS: '60', TRON_NODES: threeNodes })
    await live(12)
    expect(await requestsDuring(service, () => live(27))).toEqual([6, 6, 6])
  })

  it('a tick that has read the newest block takes the turn of a look', async () => {
    const [short, long] = await Promise.all(['20', '60'].map((every) => waiting({ SCAN_EVERY_SECONDS: every })))
    if (short === undefined || long === undefined) throw new Error('two services')
    const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0)
    await Promise.all([short.live(12), long.live(12)])
    const ofLooks = sum(await requestsDuring(long.service, () => long.live(40)))
    const ofBoth = sum(await requestsDuring(short.service, () => short.live(40)))
    expect(ofBoth - ofLooks).toBeLessThanOrEqual(2 * 8) // of two ticks, of which each costs 8 without looks
  })

  it('looks end by themselves eleven minutes after the last address was given', async () => {
    const { service, live } = await waiting({ SCAN_EVERY_SECONDS: '60' })
    await live(640)
    expect(service.scannerHost.timer).not.toBeNull()
    await live(40)
    expect(service.scannerHost.timer).toBeNull()
    await service.get('/tron/recharge') // who asks for a scan waits, too
    expect(service.scannerHost.timer).not.toBeNull()
  })

  it.each<[string, (service: RunningService) => Promise<unknown>]>([
    ['the address of an order', ({ send }) => send('/ledger/orders', { orders: [orderOf7] })],
    ['the address of an order, over RPC', ({ rpc }) => rpc.askOrders([orderOf7], 'shop')],
    ['an address over RPC', ({ rpc }) => rpc.address(7)],
  ])('who was given %s waits, too', async (_, give) => {
    const service = await startService()
    service.clock.seconds = service.chain.tip().timeMs / 1000
    await service.tick()
    expect(service.scannerHost.timer).toBeNull()
    await give(service)
    await service.settled()
    expect(service.scannerHost.timer).not.toBeNull()
  })

  it('many who wait are one state', async () => {
    const { service } = await waiting()
    const { timer } = service.scannerHost
    for (let uid = 8; uid < 12; uid += 1) await service.get('/tron/generate', uid)
    await service.settled()
    expect(service.scannerHost.timer).toBe(timer)
  })

  it('a block that has left the chain is no obstacle: the tail is read from the final block on', async () => {
    const { service, own, live } = await waiting({ SCAN_EVERY_SECONDS: '60' })
    await live(12)
    const fork = service.chain.fork(service.chain.tip().height - 2)
    fork.add([usdtTo(own, 1_000_000n)])
    fork.addEmpty(4)
    for (const node of service.nodes) node.chain = fork
    await live(5)
    expect(await statesOf(service)).toEqual(['seen'])
  })
})

describe('one node that is not well costs a look one turn of the next one', () => {
  const troubles: readonly (readonly [string, (service: RunningService) => void])[] = [
    ['refuses', ({ nodes: [one] }) => Object.assign(one ?? {}, { script: () => ({ kind: 'status', status: 500 }) })],
    ['is behind by some blocks', ({ nodes: [one] }) => Object.assign(one ?? {}, { behind: 3, finalityLag: 15 })],
    ['stands still', ({ chain, nodes: [one] }) => Object.assign(one ?? {}, { chain: chain.fork(chain.tip().height) })],
    [
      'is ahead on a fork of its own, which pays a stranger',
      ({ chain, nodes: [one] }) => {
        const fork = chain.fork(chain.tip().height - 2)
        fork.add([usdtTo(addressOf(77), 1_000_000n)])
        fork.addEmpty(5)
        Object.assign(one ?? {}, { chain: fork })
      },
    ],
  ]

  it.each(troubles)('that %s', async (_, begin) => {
    const { service, own, live } = await waiting({ SCAN_EVERY_SECONDS: '60' })
    await live(12)
    begin(service)
    const seenAfter = await live(40, Array<Address>(10).fill(own))
    expect(seenAfter).toHaveLength(10)
    expect(Math.max(...seenAfter)).toBeLessThanOrEqual(5_000)
  })

  it('that shows scans blocks of times to come', async () => {
    const { service, own, live } = await waiting({ SCAN_EVERY_SECONDS: '20' })
    await live(12)
    const fork = service.chain.fork(service.chain.tip().height - 2)
    fork.addEmpty(18)
    Object.assign(service.nodes[0] ?? {}, { chain: fork })
    await live(21) // a scan reads the tail of this node
    const seenAfter = await live(30, Array<Address>(7).fill(own))
    expect(seenAfter).toHaveLength(7)
    expect(Math.max(...seenAfter)).toBeLessThanOrEqual(5_000)
  })
})

describe('nothing is looked at', () => {
  it('while nobody waits: by an instance that nobody has told', async () => {
    const { service } = await waiting()
    service.scannerHost.timer = null
    await service.with({}).tick()
    expect(service.scannerHost.timer).toBeNull()
  })

  it('by an instance that has not scanned yet', async () => {
    const service = await startService()
    service.clock.seconds = service.chain.tip().timeMs / 1000
    await service.get('/tron/generate')
    await service.settled()
    service.scannerHost.alarmAt = null
    const live = createLife(service)
    expect(await requestsDuring(service, () => live(10))).toEqual([0, 0])
    expect(service.scannerHost.timer).not.toBeNull()
  })

  it('while the newest scan is not caught up', async () => {
    const { service, live } = await waiting({ SCAN_EVERY_SECONDS: '60' })
    breakNodes(service)
    service.clock.seconds += 20
    await service.tick()
    expect(await requestsDuring(service, () => live(20))).toEqual([0, 0])
  })

  it('where the day of each node has no room beside ticks, callers and payouts: looks end', async () => {
    const { service } = await waiting()
    const limited = service.with({ SCAN_EVERY_SECONDS: '20', ...nodesWith({ perDay: 22_600 }) })
    await limited.tick()
    await limited.get('/tron/generate')
    await limited.settled()
    await createLife(limited)(400)
    expect(service.scannerHost.timer).toBeNull()
  })
})
