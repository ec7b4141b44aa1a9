import { beforeEach, describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { selectIssuerState } from '../../src/worker/issuer/store.ts'
import { addressIn, oneEndpoint, payFinal, type RunningService, usdtTo } from '../http/service.ts'
import { changing, type Fault } from '../support/scripted-node.ts'
import { addressOf, issuerLog, type LogSpec, type TransactionSpec, unindexed } from '../support/transaction-spec.ts'
import {
  alarmsOf,
  balancesOf,
  callsOf,
  correct,
  disagreeOn,
  eventsOf,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  rescan,
  retiredUsdt,
  tickLater,
  withAddress,
} from './harness.ts'
import { act, acting, destroy, eventList, freeze, frozenIn, pause, release } from './issuer-acts.ts'

let service: RunningService
let own: Address

beforeEach(async () => {
  const started = await withAddress(oneEndpoint)
  service = started.service
  own = started.own
  await service.tick()
})

const state = () => selectIssuerState(writable(service.db))

describe('an address that the issuer freezes', () => {
  it('has an alarm and an event until it is released, and its user keeps the credit', async () => {
    payFinal(service, usdtTo(own, 25_000_000n))
    const txid = await act(service, freeze(own))
    const data = { address: formatBase58(own), cuy: 2, txid }
    expect(await eventList(service)).toMatchObject([
      { type: 'deposit.credited' },
      { type: 'address.frozen', uid: 7, data },
    ])
    expect((await eventList(service))[1]?.data).toEqual(data)
    expect(alarmsOf(service, 'address-frozen')).toMatchObject([{ ...data, symbol: 'USDT' }])
    expect(await frozenIn(service, own)).toEqual([2])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    const released = await act(service, release(own))
    expect((await eventList(service))[2]).toMatchObject({
      type: 'address.released',
      uid: 7,
      data: { ...data, txid: released },
    })
    expect(await frozenIn(service, own)).toEqual([])
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    await act(service, freeze(own))
    expect(alarmsOf(service, 'address-frozen')).toHaveLength(2)
  })

  it('is told to the endpoints by the scan that reads it', async () => {
    await act(service, freeze(own))
    await service.deliver()
    expect(service.hooks.map(({ body }) => JSON.parse(body).type)).toEqual(['address.frozen'])
  })

  it('is seen with its address in the data, too, and at no further request', async () => {
    const requestsOfTick = async (log: LogSpec) => {
      const before = service.nodes.map((node) => node.requests.length)
      await act(service, log)
      return service.nodes.map((node, i) => node.requests.length - (before[i] ?? 0))
    }
    await requestsOfTick(freeze(addressOf(3)))
    const usual = await requestsOfTick(freeze(addressOf(3)))
    expect(await requestsOfTick(unindexed(freeze(own)))).toEqual(usual)
    expect(await frozenIn(service, own)).toEqual([2])
  })

  it('of nobody here is not stored, nor what another contract logs', async () => {
    await act(service, freeze(addressOf(3)), issuerLog(addressOf(70), 'frozen', own))
    expect(await service.db.prepare('SELECT * FROM issuer_act').raw()).toEqual([])
    expect(await eventsOf(service)).toEqual([])
  })

  it('in a transaction that failed is not frozen', async () => {
    payFinal(service, { ...acting(freeze(own)), failed: true } as TransactionSpec)
    await tickLater(service)
    expect(await frozenIn(service, own)).toEqual([])
  })

  it('of two that one transaction names has its own events, one for each log', async () => {
    const other = await addressIn(await service.get('/tron/generate', 8))
    await act(service, freeze(own), freeze(other), freeze(own))
    expect((await eventList(service)).map(({ type, uid }) => [type, uid])).toEqual([
      ['address.frozen', 7],
      ['address.frozen', 8],
      ['address.frozen', 7],
    ])
    expect(alarmsOf(service, 'address-frozen')).toHaveLength(2)
  })

  it('is what its newest log says, also within one block and one transaction', async () => {
    payFinal(service, acting(freeze(own)), acting(release(own)))
    await tickLater(service)
    expect(await frozenIn(service, own)).toEqual([])
    await act(service, release(own), freeze(own))
    expect(await frozenIn(service, own)).toEqual([2])
    await act(service, freeze(own), release(own))
    expect(await frozenIn(service, own)).toEqual([])
  })

  it('stays frozen in one currency where another one’s issuer releases it', async () => {
    const other = { cuy: 3, symbol: 'OTHER', contract: formatBase58(addressOf(70)), decimals: 6 }
    const both = service.with({
      CURRENCIES: [...retiredUsdt.map(({ cuy, ...rest }) => ({ cuy, ...rest, retired: false })), other],
    })
    for (const node of service.nodes) node.decimals.set(addressOf(70), 6)
    payFinal(service, acting(freeze(own), issuerLog(addressOf(70), 'frozen', own)))
    await tickLater(both)
    expect(await frozenIn(service, own)).toEqual([2, 3])
    payFinal(service, acting(issuerLog(addressOf(70), 'released', own)))
    await tickLater(both)
    expect(await frozenIn(service, own)).toEqual([2])
  })
})

describe('what a single node says about an issuer', () => {
  const [first = ''] = freeze(addressOf(1)).topics
  /**
   * Makes a node replace the first log of each reply by one that says that the address `own` is
   * frozen.
   */
  const invent = (): Fault =>
    changing('eth_getLogs', (logs) => {
      const [one] = logs as Record<string, unknown>[]
      return one === undefined ? logs : [{ ...one, topics: [first, `0x${own.padStart(64, '0')}`], data: '0x' }]
    })

  it('is no fact: the block is a gap, with an alarm, until they agree', async () => {
    const [node] = service.nodes
    if (node === undefined) throw new Error('no node')
    node.script = invent
    await act(service, pause)
    expect(await service.db.prepare('SELECT * FROM issuer_act').raw()).toEqual([])
    expect(alarmsOf(service, 'nodes-disagree')).toHaveLength(1)
    expect(await openGaps(service)).toHaveLength(1)
    node.script = () => null
    await tickLater(service, 120)
    expect(await frozenIn(service, own)).toEqual([])
    expect((await state()).paused).toMatchObject([{ cuy: 2 }])
  })

  it('does not hide it either', async () => {
    const [node] = service.nodes
    if (node === undefined) throw new Error('no node')
    node.script = () => changing('eth_getLogs', () => [])
    await act(service, freeze(own))
    expect(await frozenIn(service, own)).toEqual([])
    node.script = () => null
    await tickLater(service, 120)
    expect(await frozenIn(service, own)).toEqual([2])
  })
})

describe('blocks that are read in another order', () => {
  it('say the same: a release that is read before the freeze that a gap contains', async () => {
    const height = service.chain.tip().height + 1
    disagreeOn(service, height)
    await act(service, freeze(own))
    await act(service, release(own))
    expect(await openGaps(service)).toHaveLength(1)
    repairNodes(service)
    await tickLater(service, 120)
    expect(await openGaps(service)).toEqual([])
    expect(await frozenIn(service, own)).toEqual([])
    expect(alarmsOf(service, 'address-frozen')).toEqual([])
    expect(await eventsOf(service)).toEqual(['address.released', 'address.frozen'])
  })

  it('say the same: a freeze that is read before the release that a gap contains', async () => {
    await act(service, freeze(own))
    disagreeOn(service, service.chain.tip().height + 1)
    await act(service, release(own))
    expect(await frozenIn(service, own)).toEqual([2])
    repairNodes(service)
    await tickLater(service, 120)
    expect(await frozenIn(service, own)).toEqual([])
  })

  it('find what happened before it was looked for, by a rescan, and store it once', async () => {
    const { height } = service.chain.tip()
    await act(service, freeze(own))
    await service.db.batch(
      [
        'DROP TRIGGER issuer_act_is_never_deleted',
        'DELETE FROM issuer_act',
        'DROP TRIGGER event_is_deleted_from_the_oldest',
        'DELETE FROM stored_event',
      ].map((sql) => service.db.prepare(sql)),
    )
    expect(await frozenIn(service, own)).toEqual([])
    await rescan(service, height + 1, height + 1)
    await tickLater(service, 60)
    expect(await frozenIn(service, own)).toEqual([2])
    await rescan(service, height + 1, height + 1)
    await tickLater(service, 60)
    expect(await eventsOf(service)).toEqual(['address.frozen'])
  })

  it('are also read from receipts, if a block has more logs than a reply holds', async () => {
    limitLogs(service, 50)
    payFinal(service, noise(60), acting(freeze(own)), acting(release(own)), acting(freeze(own), pause))
    await tickLater(service)
    await tickLater(service, 120)
    expect(await openGaps(service)).toEqual([])
    expect(await frozenIn(service, own)).toEqual([2])
    expect((await state()).paused).toHaveLength(1)
    expect(callsOf(service, 'eth_getTransactionReceipt').length).toBeGreaterThan(0)
  })
})

describe('a correction', () => {
  it('takes back what was above its height, and what is read again makes no second event', async () => {
    await act(service, freeze(own))
    const { height } = service.chain.tip()
    await act(service, release(own), pause)
    expect(await frozenIn(service, own)).toEqual([])
    await correct(service, height)
    expect(await frozenIn(service, own)).toEqual([2])
    expect((await state()).paused).toEqual([])
    await tickLater(service)
    expect(await frozenIn(service, own)).toEqual([])
    expect((await state()).paused).toHaveLength(1)
    expect(await eventsOf(service)).toEqual(['address.frozen', 'address.released'])
  })

  it('gives back what was destroyed only in a block that is not there', async () => {
    payFinal(service, usdtTo(own, 25_000_000n))
    await tickLater(service)
    const { height } = service.chain.tip()
    const recorded = async () => {
      const query = `SELECT part_6 FROM holding WHERE cuy = 2 AND address = '${own}'`
      return await service.db.prepare(query).first('part_6')
    }
    await act(service, freeze(own), destroy(own, 25_000_000n))
    expect(await recorded()).toBe(0)
    const fork = service.chain.fork(height)
    fork.addEmpty(25)
    for (const node of service.nodes) node.chain = fork
    await correct(service, height)
    expect(await recorded()).toBe(25_000_000)
    await tickLater(service)
    expect(await recorded()).toBe(25_000_000)
    expect(await frozenIn(service, own)).toEqual([])
  })
})
