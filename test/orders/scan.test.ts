import { expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import { addressFrom, finalityLag, type RunningService, trxTo, usdtTo } from '../http/service.ts'
import {
  balancesOf,
  correct,
  disagreeOn,
  repairNodes,
  rescan,
  tickLater,
  usdtWith,
  withAddress,
} from '../scan/harness.ts'
import { changing } from '../support/scripted-node.ts'
import { topicOf } from '../support/transaction-spec.ts'

interface Shown {
  readonly address: string
  readonly state: string
  readonly credited: number
  readonly seen: number
  readonly late: boolean
  readonly taken: boolean
  readonly deposits: readonly object[]
}

/** A service whose clock goes with its chain, with its first scan done. */
async function start(variables: Record<string, unknown> = {}) {
  const { service, own } = await withAddress(variables)
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 2
  await service.tick()
  return { service, own }
}

/** Sets the clock to two seconds after the newest block. */
function follow({ clock, chain }: RunningService): void {
  clock.seconds = Math.max(clock.seconds, chain.tip().timeMs / 1000 + 2)
}

/** Asks for orders of user 7 of 25 USDT, and returns their addresses. */
async function ask(service: RunningService, ...changes: readonly object[]): Promise<readonly Address[]> {
  const orders = changes.map((change, i) => ({ uid: 7, cuy: 2, amt: '25', order: 'ABCDEFGH'[i], ...change }))
  const { data } = await (await service.send('/ledger/orders', { orders })).json<{ data: { list: Shown[] } }>()
  return data.list.map(({ address }) => addressFrom(address))
}

/** Orders in the order of asking: state, credited, seen. */
async function shown(service: RunningService): Promise<readonly string[]> {
  const { data } = await (await service.ledger('/ledger/orders?uid=7')).json<{ data: { list: Shown[] } }>()
  return data.list.toReversed().map(({ state, credited, seen, late, taken }) => {
    return [
      state,
      credited,
      ...(seen > 0 ? [`seen ${seen}`] : []),
      ...(late ? ['late'] : []),
      ...(taken ? ['taken'] : []),
    ].join(' ')
  })
}

/** Mines until the newest block is final, and ticks. */
async function settle(service: RunningService): Promise<void> {
  service.chain.addEmpty(finalityLag)
  follow(service)
  await service.tick()
}

it('an order is seen and paid at its address; one payment pays one of two equal orders', async () => {
  const { service } = await start()
  const [first, second] = await ask(service, {}, {})
  expect(first).not.toBe(second)
  service.chain.add([usdtTo(second as Address, 25_000_000n)])
  follow(service)
  await service.tick()
  expect(await shown(service)).toEqual(['open 0', 'open 0 seen 25'])
  await settle(service)
  expect(await shown(service)).toEqual(['open 0', 'paid 25'])
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  const types = await service.db.prepare('SELECT type FROM event ORDER BY id').all<{ type: string }>()
  expect(types.results.map(({ type }) => type)).toEqual(['deposit.seen', 'deposit.credited', 'order.paid'])
})

it('what stands in a block already counts for nothing, nor another currency or another address', async () => {
  const { service, own } = await start()
  const [address] = await ask(service, {
    amt: '1',
    order: 'first',
    until: new Date((service.clock.seconds + 60) * 1000).toISOString(),
  })
  const to = address as Address
  service.clock.seconds += 90_000
  await service.tick()
  service.chain.addEmpty(30_010) // until the hold has ended, by the chain's time
  follow(service)
  service.chain.add([usdtTo(to, 25_000_000n)])
  follow(service)
  expect(await ask(service, { order: 'second' })).toEqual([to])
  service.chain.add([trxTo(to, 25_000_000n), usdtTo(own, 25_000_000n)])
  await tickLater(service, 60)
  await settle(service)
  await settle(service)
  expect(await shown(service)).toEqual(['expired 0', 'open 0'])
  expect(await balancesOf(service)).toEqual({ 1: 25, 2: 50 })
}, 60_000)

it('a fork may move a payment to another block: it counts by that block, once', async () => {
  const { service } = await start()
  const [to] = await ask(service, { until: new Date(service.chain.tip().timeMs + 4_000).toISOString() })
  const fork = service.chain.fork(service.chain.tip().height)
  service.chain.add([usdtTo(to as Address, 25_000_000n)])
  follow(service)
  await service.tick()
  fork.addEmpty(2)
  fork.add([usdtTo(to as Address, 25_000_000n)])
  for (const node of service.nodes) node.chain = fork
  service.clock.seconds += 20
  await service.tick()
  fork.addEmpty(finalityLag)
  service.clock.seconds += 60
  await service.tick()
  expect(await shown(service)).toEqual(['paid 25 late'])
})

it('a payment that nodes have shown at its address, and that goes to another one, is none', async () => {
  const { service, own } = await start()
  const [to] = await ask(service, {})
  const recipient = topicOf(to as Address)
  const misled = changing('eth_getLogs', (result) =>
    (result as { topics: string[] }[]).map((log) => ({ ...log, topics: [...log.topics.slice(0, 2), recipient] })),
  )
  for (const node of service.nodes) node.script = () => misled
  service.chain.add([usdtTo(own, 25_000_000n)])
  follow(service)
  await service.tick()
  expect(await shown(service)).toEqual(['open 0 seen 25'])
  repairNodes(service)
  await settle(service)
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  expect(await shown(service)).toEqual(['open 0'])
  const { data } = await (await service.ledger('/ledger/orders?uid=7')).json<{ data: { list: Shown[] } }>()
  expect(data.list.map(({ deposits }) => deposits)).toEqual([[]])
})

it('a review counts when it is credited, also of a block that was in time; the order has expired before', async () => {
  const { service } = await start({ CURRENCIES: usdtWith({ reviewFrom: '10' }) })
  const [to] = await ask(service, { until: new Date((service.clock.seconds + 120) * 1000).toISOString(), take: true })
  const { transactions } = service.chain.add([usdtTo(to as Address, 25_000_000n)])
  await settle(service)
  expect(await shown(service)).toEqual(['open 0 seen 25'])
  await tickLater(service, 200)
  expect(await shown(service)).toEqual(['expired 0 seen 25'])
  const decision = { txid: transactions[0]?.txid, position: 0, decision: 'credit', why: 'a customer of ours' }
  expect((await service.send('/ledger/deposits/decide', { deposits: [decision] })).status).toBe(200)
  expect(await shown(service)).toEqual(['paid 25 taken'])
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
})

it('a gap that is read later, a block that is read again and a correction count nothing twice', async () => {
  const { service } = await start()
  const [to] = await ask(service, {})
  const { height } = service.chain.add([usdtTo(to as Address, 20_000_000n)])
  service.chain.add([usdtTo(to as Address, 5_000_000n)])
  disagreeOn(service, height)
  await settle(service)
  await tickLater(service, 60)
  expect(await shown(service)).toEqual(['partly 5'])
  repairNodes(service)
  await tickLater(service, 600)
  await tickLater(service, 600)
  expect(await shown(service)).toEqual(['paid 25'])
  await rescan(service, height, height + 1)
  await tickLater(service, 60)
  await correct(service, height - 1)
  await tickLater(service, 60)
  await tickLater(service, 60)
  expect(await shown(service)).toEqual(['paid 25'])
  expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
})

it('a question about its transaction credits what a scan has not read yet, for its order', async () => {
  const { service } = await start()
  const [to] = await ask(service, {})
  const { transactions } = service.chain.add([usdtTo(to as Address, 25_000_000n)])
  service.chain.addEmpty(finalityLag)
  follow(service)
  const answer = await service.get(`/tron/recharge?txid=${transactions[0]?.txid}`)
  expect(answer.status).toBe(200)
  expect(await shown(service)).toEqual(['paid 25'])
})
