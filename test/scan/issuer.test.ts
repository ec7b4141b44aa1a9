import { beforeEach, describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/chain/address.ts'
import { writable } from '../../src/d1/database.ts'
import { selectIssuerState, stopsOf } from '../../src/issuer/state.ts'
import { addressIn, oneEndpoint, payFinal, type RunningService, textOf, usdtTo } from '../http/service.ts'
import { changing, type Fault } from '../support/scripted-node.ts'
import {
  addressOf,
  issuerLog,
  type LogSpec,
  type TransactionSpec,
  unindexed,
  usdtAddress,
} from '../support/transaction-spec.ts'
import {
  alarmLines,
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
  tickFor,
  tickLater,
  withAddress,
} from './harness.ts'

const issuer = addressOf(60)

let service: RunningService
let own: Address

beforeEach(async () => {
  const started = await withAddress(oneEndpoint)
  service = started.service
  own = started.own
  await service.tick()
})

/** A transaction of the issuer with these logs. */
const acting = (...logs: readonly LogSpec[]): TransactionSpec => ({
  kind: 'call',
  contract: usdtAddress,
  from: issuer,
  logs,
})
const freeze = (address: Address) => issuerLog(usdtAddress, 'frozen', address)
const release = (address: Address) => issuerLog(usdtAddress, 'released', address)
const destroy = (address: Address, amount: bigint) => issuerLog(usdtAddress, 'destroyed', address, amount)
const fee = (basisPoints: bigint, most: bigint) => issuerLog(usdtAddress, 'fee-set', basisPoints, most)
const pause = issuerLog(usdtAddress, 'paused')
const unpause = issuerLog(usdtAddress, 'unpaused')
/** These acts in a final block that is scanned; its transaction. */
const act = async (...logs: readonly LogSpec[]) => {
  const [txid = ''] = payFinal(service, acting(...logs))
  await tickLater(service)
  return txid
}
const state = () => selectIssuerState(writable(service.db))
/** The currencies in which the address is frozen, as the door for backends has it. */
const frozenIn = async (address = own) => {
  const response = await service.ledger(`/ledger/address?address=${formatBase58(address)}`)
  return (await response.json<{ data: { frozen: number[] } }>()).data.frozen
}
const eventList = async () => {
  const response = await service.ledger('/ledger/events')
  return (await response.json<{ data: { list: { type: string; uid: number; data: object }[] } }>()).data.list
}
const usdtSums = async () => {
  const response = await service.ledger('/ledger/summary')
  const { data } = await response.json<{ data: { currencies: Record<string, unknown>[] } }>()
  return data.currencies.find(({ cuy }) => cuy === 2)
}

describe('an address that the issuer freezes', () => {
  it('has an alarm and an event until it is released, and its user keeps the credit', async () => {
    payFinal(service, usdtTo(own, 25_000_000n))
    const txid = await act(freeze(own))
    const data = { address: formatBase58(own), cuy: 2, txid }
    expect(await eventList()).toMatchObject([{ type: 'deposit.credited' }, { type: 'address.frozen', uid: 7, data }])
    expect((await eventList())[1]?.data).toEqual(data)
    expect(alarmsOf(service, 'address-frozen')).toMatchObject([{ ...data, symbol: 'USDT' }])
    expect(await frozenIn()).toEqual([2])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    const released = await act(release(own))
    expect((await eventList())[2]).toMatchObject({
      type: 'address.released',
      uid: 7,
      data: { ...data, txid: released },
    })
    expect(await frozenIn()).toEqual([])
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    await act(freeze(own))
    expect(alarmsOf(service, 'address-frozen')).toHaveLength(2)
  })

  it('is told to the endpoints by the scan that reads it', async () => {
    await act(freeze(own))
    await service.deliver()
    expect(service.hooks.map(({ body }) => JSON.parse(body).type)).toEqual(['address.frozen'])
  })

  it('is seen with its address in the data, too, and at no further request', async () => {
    const requestsOfTick = async (log: LogSpec) => {
      const before = service.nodes.map((node) => node.requests.length)
      await act(log)
      return service.nodes.map((node, i) => node.requests.length - (before[i] ?? 0))
    }
    await requestsOfTick(freeze(addressOf(3)))
    const usual = await requestsOfTick(freeze(addressOf(3)))
    expect(await requestsOfTick(unindexed(freeze(own)))).toEqual(usual)
    expect(await frozenIn()).toEqual([2])
  })

  it('of nobody here is not stored, nor what another contract logs', async () => {
    await act(freeze(addressOf(3)), issuerLog(addressOf(70), 'frozen', own))
    expect(await service.db.prepare('SELECT * FROM issuer_act').raw()).toEqual([])
    expect(await eventsOf(service)).toEqual([])
  })

  it('in a transaction that failed is not frozen', async () => {
    payFinal(service, { ...acting(freeze(own)), failed: true } as TransactionSpec)
    await tickLater(service)
    expect(await frozenIn()).toEqual([])
  })

  it('of two that one transaction names has its own events, one for each log', async () => {
    const other = await addressIn(await service.get('/tron/generate', 8))
    await act(freeze(own), freeze(other), freeze(own))
    expect((await eventList()).map(({ type, uid }) => [type, uid])).toEqual([
      ['address.frozen', 7],
      ['address.frozen', 8],
      ['address.frozen', 7],
    ])
    expect(alarmsOf(service, 'address-frozen')).toHaveLength(2)
  })

  it('is what its newest log says, also within one block and one transaction', async () => {
    payFinal(service, acting(freeze(own)), acting(release(own)))
    await tickLater(service)
    expect(await frozenIn()).toEqual([])
    await act(release(own), freeze(own))
    expect(await frozenIn()).toEqual([2])
    await act(freeze(own), release(own))
    expect(await frozenIn()).toEqual([])
  })

  it('stays frozen in one currency where another one’s issuer releases it', async () => {
    const other = { cuy: 3, symbol: 'OTHER', contract: formatBase58(addressOf(70)), decimals: 6 }
    const both = service.with({
      CURRENCIES: [...retiredUsdt.map(({ cuy, ...rest }) => ({ cuy, ...rest, retired: false })), other],
    })
    for (const node of service.nodes) node.decimals.set(addressOf(70), 6)
    payFinal(service, acting(freeze(own), issuerLog(addressOf(70), 'frozen', own)))
    await tickLater(both)
    expect(await frozenIn()).toEqual([2, 3])
    payFinal(service, acting(issuerLog(addressOf(70), 'released', own)))
    await tickLater(both)
    expect(await frozenIn()).toEqual([2])
  })
})

describe('what a single node says about an issuer', () => {
  const [first = ''] = freeze(addressOf(1)).topics
  /** The first node shows one more log in each transaction of the issuer: that the address is frozen. */
  const invent = (): Fault =>
    changing('eth_getLogs', (logs) => {
      const [one] = logs as Record<string, unknown>[]
      return one === undefined ? logs : [{ ...one, topics: [first, `0x${own.padStart(64, '0')}`], data: '0x' }]
    })

  it('is no fact: the block is a gap, with an alarm, until they agree', async () => {
    const [node] = service.nodes
    if (node === undefined) throw new Error('no node')
    node.script = invent
    await act(pause)
    expect(await service.db.prepare('SELECT * FROM issuer_act').raw()).toEqual([])
    expect(alarmsOf(service, 'nodes-disagree')).toHaveLength(1)
    expect(await openGaps(service)).toHaveLength(1)
    node.script = () => null
    await tickLater(service, 120)
    expect(await frozenIn()).toEqual([])
    expect((await state()).paused).toMatchObject([{ cuy: 2 }])
  })

  it('does not hide it either', async () => {
    const [node] = service.nodes
    if (node === undefined) throw new Error('no node')
    node.script = () => changing('eth_getLogs', () => [])
    await act(freeze(own))
    expect(await frozenIn()).toEqual([])
    node.script = () => null
    await tickLater(service, 120)
    expect(await frozenIn()).toEqual([2])
  })
})

describe('blocks that are read in another order', () => {
  it('say the same: a release that is read before the freeze that a gap contains', async () => {
    const height = service.chain.tip().height + 1
    disagreeOn(service, height)
    await act(freeze(own))
    await act(release(own))
    expect(await openGaps(service)).toHaveLength(1)
    repairNodes(service)
    await tickLater(service, 120)
    expect(await openGaps(service)).toEqual([])
    expect(await frozenIn()).toEqual([])
    expect(alarmsOf(service, 'address-frozen')).toEqual([])
    expect(await eventsOf(service)).toEqual(['address.released', 'address.frozen'])
  })

  it('say the same: a freeze that is read before the release that a gap contains', async () => {
    await act(freeze(own))
    disagreeOn(service, service.chain.tip().height + 1)
    await act(release(own))
    expect(await frozenIn()).toEqual([2])
    repairNodes(service)
    await tickLater(service, 120)
    expect(await frozenIn()).toEqual([])
  })

  it('find what happened before it was looked for, by a rescan, and store it once', async () => {
    const { height } = service.chain.tip()
    await act(freeze(own))
    await service.db.batch(
      [
        'DROP TRIGGER issuer_act_is_never_deleted',
        'DELETE FROM issuer_act',
        'DROP TRIGGER event_is_deleted_from_the_oldest',
        'DELETE FROM event',
      ].map((sql) => service.db.prepare(sql)),
    )
    expect(await frozenIn()).toEqual([])
    await rescan(service, height + 1, height + 1)
    await tickLater(service, 60)
    expect(await frozenIn()).toEqual([2])
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
    expect(await frozenIn()).toEqual([2])
    expect((await state()).paused).toHaveLength(1)
    expect(callsOf(service, 'eth_getTransactionReceipt').length).toBeGreaterThan(0)
  })
})

describe('a correction', () => {
  it('takes back what was above its height, and what is read again makes no second event', async () => {
    await act(freeze(own))
    const { height } = service.chain.tip()
    await act(release(own), pause)
    expect(await frozenIn()).toEqual([])
    await correct(service, height)
    expect(await frozenIn()).toEqual([2])
    expect((await state()).paused).toEqual([])
    await tickLater(service)
    expect(await frozenIn()).toEqual([])
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
    await act(freeze(own), destroy(own, 25_000_000n))
    expect(await recorded()).toBe(0)
    const fork = service.chain.fork(height)
    fork.addEmpty(25)
    for (const node of service.nodes) node.chain = fork
    await correct(service, height)
    expect(await recorded()).toBe(25_000_000)
    await tickLater(service)
    expect(await recorded()).toBe(25_000_000)
    expect(await frozenIn()).toEqual([])
  })
})

describe('what is destroyed', () => {
  const setBalance = (units: bigint) => {
    for (const node of service.nodes) node.balances.set(`${usdtAddress} ${own}`, units)
  }
  /** Days in which each holding is compared several times. */
  const compare = () => tickFor(service, 4 * 86_400, () => service.chain.addEmpty(1_200), 3_600)

  it('explains its shortfall to the unit: no other alarm, and the sums say what is gone', async () => {
    payFinal(service, usdtTo(own, 25_000_001n))
    setBalance(25_000_001n)
    await tickLater(service)
    await compare()
    expect(await usdtSums()).toMatchObject({ held: 25.000001, frozen: 0, frozen_addresses: 0, destroyed: 0 })
    await act(freeze(own))
    expect(await usdtSums()).toMatchObject({ frozen: 25.000001, frozen_addresses: 1, destroyed: 0 })
    const txid = await act(destroy(own, 25_000_001n))
    setBalance(0n)
    await compare()
    const kinds = alarmLines(service).map(({ alarm }) => String(alarm))
    expect(kinds.filter((kind) => !kind.startsWith('endpoint'))).toEqual(['address-frozen'])
    expect(await usdtSums()).toMatchObject({
      owed: 25.000001,
      held: 0,
      frozen: 0,
      frozen_addresses: 1,
      destroyed: 25.000001,
      unexplained: 0,
    })
    const [destroyed] = (await eventList()).filter(({ type }) => type === 'address.destroyed')
    expect(destroyed?.data).toEqual({ address: formatBase58(own), cuy: 2, txid, amt: 25.000001 })
  })

  it('leaves what is missing beyond it as a shortfall', async () => {
    payFinal(service, usdtTo(own, 25_000_000n))
    setBalance(25_000_000n)
    await act(freeze(own))
    await act(destroy(own, 20_000_000n))
    setBalance(4_000_000n)
    await compare()
    expect(alarmsOf(service, 'reconciliation-shortfall')).toMatchObject([{ amount: '1000000' }])
  })

  it('can be nothing, and is an event all the same', async () => {
    await act(freeze(own), destroy(own, 0n))
    expect((await eventList())[1]).toMatchObject({ type: 'address.destroyed', data: { amt: 0 } })
  })
})

describe('a token', () => {
  it('that is paused has an alarm until it goes on', async () => {
    const txid = await act(pause)
    expect(alarmsOf(service, 'token-paused')).toMatchObject([{ cuy: 2, symbol: 'USDT', txid }])
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['paused'])
    await act(unpause)
    expect(stopsOf(await state(), 2 as never, own)).toEqual([])
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    await act(pause)
    expect(alarmsOf(service, 'token-paused')).toHaveLength(2)
  })

  it('with a fee has an alarm until there is none, or an operator has confirmed exactly this one', async () => {
    const txid = await act(fee(10n, 5_000_000n))
    expect(alarmsOf(service, 'token-fee-set')).toMatchObject([{ cuy: 2, percent: '0.1', most: '5', txid }])
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['fee-unconfirmed'])
    await act(fee(0n, 0n))
    expect((await state()).fees).toEqual([])
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    await act(fee(10n, 5_000_000n))
    await service.db
      .prepare(
        `UPDATE issuer_act SET confirmed_at = 1, confirmation = 'we bear it' WHERE height = (SELECT max(height) FROM issuer_act)`,
      )
      .run()
    await tickLater(service)
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
    expect((await state()).fees).toMatchObject([{ basisPoints: 10n, maximum: 5_000_000n, isConfirmed: true }])
    await act(fee(10n, 5_000_000n)) // set again
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['fee-unconfirmed'])
  })

  it('whose fee has no amount, or no rate, has a fee all the same', async () => {
    await act(fee(0n, 1n))
    expect(alarmsOf(service, 'token-fee-set')).toHaveLength(1)
    await act(fee(1n, 0n))
    expect((await state()).fees).toHaveLength(1)
  })

  it('that is deprecated has an alarm with its successor until the currency is retired', async () => {
    const txid = await act(issuerLog(usdtAddress, 'deprecated', addressOf(71)))
    expect(alarmsOf(service, 'token-deprecated')).toMatchObject([
      { cuy: 2, txid, successor: formatBase58(addressOf(71)) },
    ])
    expect(stopsOf(await state(), 2 as never, own)).toEqual(['deprecated'])
    await tickLater(service.with({ CURRENCIES: retiredUsdt }))
    expect(await service.db.prepare('SELECT kind FROM alarm').raw()).toEqual([])
  })

  it('with a fee credits what arrives', async () => {
    await act(fee(10n, 5_000_000n))
    payFinal(service, usdtTo(own, 24_975_000n))
    await tickLater(service)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 24.975 })
    expect(await textOf(service, '/wallet/list')).toContain('24.975')
  })
})
