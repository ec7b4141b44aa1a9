import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import {
  addressFrom,
  addressIn,
  alarmsIn,
  finalityLag,
  firstAddress,
  payFinal,
  renewFinal,
  startService,
  testNodes,
  textOf,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  alarmsOf,
  balancesOf,
  breakNodes,
  callsOf,
  finalizedIn,
  repairNodes,
  stateOf,
  statesOf,
  withAddress,
  withDeposit,
} from './harness.ts'

const oneNode = { TRON_NODES: testNodes.slice(0, 1), TRON_QUORUM: 1 }

describe('a tick', () => {
  it('starts the scan at the finalized height, also before any address exists', async () => {
    const service = await startService()
    await service.tick()
    const finalized = finalizedIn(service)
    expect(await stateOf(service)).toMatchObject({ height: finalized, finalized })
    await renewFinal(service)
    expect(await textOf(service, '/health')).toContain(`"scanned":${finalized},"finalized":${finalized},"behind":0`)
  })

  it('asks two nodes together at most 40,000 times a day while nothing arrives', async () => {
    const service = await startService()
    await service.tick()
    for (let i = 0; i < 10; i += 1) {
      const before = service.nodes.map((node) => node.requests.length)
      service.chain.addEmpty(7)
      service.clock.seconds += 20
      await service.tick()
      const asked = service.nodes.map((node, n) => node.requests.length - (before[n] ?? 0))
      const ticksOfADay = 4_320
      if (i > 0) expect(asked.reduce((a, b) => a + b) * ticksOfADay).toBeLessThanOrEqual(40_000)
    }
  })

  it('credits a final deposit, and none that is not final', async () => {
    const { service, own } = await withDeposit()
    service.chain.add([usdtTo(own, 1n)])
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(await statesOf(service)).toEqual(['credited', 'seen'])
  })

  it('credits several transfers in one transaction, to one caller and to several, each once', async () => {
    const { service, own } = await withAddress()
    const other = await addressIn(await service.get('/tron/generate', 8))
    const payer = addressOf(99)
    const logs = [own, own, other].map((to) => transferLog(usdtAddress, payer, to, 5_000_000n))
    payFinal(service, { kind: 'call', contract: usdtAddress, from: payer, logs }, trxTo(own, 1_000_000n))
    await service.tick()
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 1, 2: 10 })
    expect(await balancesOf(service, 8)).toEqual({ 1: 0, 2: 5 })
  })

  it('credits 700 deposits of both kinds in one block, with a handful of requests', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const before = service.nodes.map(({ requests }) => requests.length)
    const pay = (i: number) => (i % 2 === 0 ? trxTo(own, 1_000_000n) : usdtTo(own, 1_000_000n))
    payFinal(service, ...Array.from({ length: 700 }, (_, i) => pay(i)))
    service.clock.seconds += 20
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 350, 2: 350 })
    for (const [i, node] of service.nodes.entries()) expect(node.requests.length - (before[i] ?? 0)).toBeLessThan(10)
  })

  it('asks nothing about a single transfer: thousands of worthless ones cost no request', async () => {
    const { service, own } = await withAddress()
    await service.tick()
    const requests = async (specs: readonly TransactionSpec[]) => {
      const before = service.nodes.map(({ requests: all }) => all.length)
      payFinal(service, ...specs)
      service.clock.seconds += 20
      await service.tick()
      return service.nodes.reduce((sum, node, i) => sum + node.requests.length - (before[i] ?? 0), 0)
    }
    const dust: TransactionSpec = { kind: 'trc10', from: addressOf(99), to: own, amount: 1n }
    const few = await requests([dust])
    expect(await requests(Array.from({ length: 2_000 }, () => dust))).toBeLessThanOrEqual(few)
    expect(await statesOf(service)).toEqual([])
  })

  it('reads a block with thousands of transfers of others by as many statements as a block with one', async () => {
    const { service } = await withAddress()
    const { db } = service
    await service.tick()
    let prepared = 0
    const counted = (inner: Pick<D1Database, 'prepare' | 'batch'>) => ({
      prepare(sql: string) {
        prepared += 1
        return inner.prepare(sql)
      },
      batch: (statements: D1PreparedStatement[]) => inner.batch(statements),
    })
    const counting = service.with({
      DB: { ...counted(db), withSession: (start: string) => counted(db.withSession(start)) },
    })
    const tick = async (...transfers: TransactionSpec[]) => {
      service.chain.add(transfers)
      service.chain.addEmpty(finalityLag)
      service.clock.seconds += 60
      prepared = 0
      await counting.tick()
      expect((await stateOf(service)).height).toBe(finalizedIn(service))
      return prepared
    }
    for (let i = 0; i < 2; i += 1) await tick() // two ticks that also compare the new address's balance
    const [one, thousands] = [
      await tick(trxTo(addressOf(999), 1n)),
      await tick(...Array.from({ length: 3_000 }, (_, i) => trxTo(addressOf(1_000 + i), 1n))),
    ]
    expect(one).toBeGreaterThan(0)
    expect(thousands).toBe(one)
  })

  it('credits nothing by a token that only one of two nodes has, and passes its block as a gap', async () => {
    const { service, txid } = await withDeposit()
    const [first] = service.nodes
    if (!first) throw new Error('two nodes')
    first.script = () => changing('eth_getLogs', () => [])
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(alarmsIn(service)).toContain('gap-unread')
    first.script = () => null
    service.clock.seconds += 120
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(await textOf(service, `/tron/recharge?txid=${txid}`)).toContain('already credited')
  })

  it('reads every block once and in order while it catches up', async () => {
    const { service, own } = await withAddress()
    for (let i = 0; i < 30; i += 1) {
      service.chain.add([usdtTo(own, 1_000_000n)])
      service.chain.addEmpty(14)
    }
    service.chain.addEmpty(finalityLag)
    await service.tick()
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 30 })
    const [first] = service.nodes
    const starts = (first?.requests ?? [])
      .flatMap(({ calls }) => calls)
      .filter(({ method }) => method === '/wallet/getblockbylimitnext')
      .map(({ params }) => Number((params[0] as { startNum: number }).startNum))
    expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b))
  })
})

describe('a fork', () => {
  it('halts the scan with one alarm, undoes nothing, and ends when the chain follows the stored block again', async () => {
    const { service, own } = await withDeposit()
    await service.tick()
    const original = service.chain
    const other = original.fork(finalizedIn(service) - 1)
    const [lost = ''] = other.add([usdtTo(own, 9_000_000n)]).transactions.map(({ txid }) => txid)
    other.addEmpty(finalityLag + 2)
    for (const node of service.nodes) node.chain = other
    for (let i = 0; i < 3; i += 1) {
      service.clock.seconds += 20
      await service.tick()
    }
    expect(alarmsOf(service, 'chain-forked')).toHaveLength(1)
    expect(await textOf(service, '/health')).toContain('"status":"stopped"')
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect((await service.get(`/tron/recharge?txid=${lost}`)).status).toBe(409)
    // The halt is stored: a scan that ends too early to see the fork again must not lift it.
    breakNodes(service)
    service.clock.seconds += 20
    expect(await textOf(service, '/tron/recharge')).toContain('stopped until an operator has checked the chain')
    await service.tick()
    expect(await textOf(service, '/health')).toContain('"status":"stopped"')
    expect(await service.db.prepare(`SELECT count(*) AS n FROM alarm WHERE kind = 'chain-forked'`).first('n')).toBe(1)
    repairNodes(service)
    for (const node of service.nodes) node.chain = original
    original.addEmpty(3)
    service.clock.seconds += 20
    await service.tick()
    service.clock.seconds += 1
    expect((await service.get('/health', null)).status).toBe(200)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })
})

describe('the start of the scan', () => {
  it('is refused above the agreed finalized head, and is possible later', async () => {
    const service = await startService()
    const late = service.with({ TRON_START_BLOCK: String(finalizedIn(service) + 1) })
    await late.tick()
    expect((await late.get('/tron/generate')).status).toBe(503)
    await expect(stateOf(late)).rejects.toThrow('not started')
    expect(alarmsIn(late)).toEqual([])
    service.chain.addEmpty(1)
    expect((await late.get('/tron/generate')).status).toBe(200)
  })

  it('stores the agreed finalized height, also where the first block is configured', async () => {
    const service = await startService()
    const early = service.with({ TRON_START_BLOCK: String(service.chain.firstHeight) })
    await early.get('/tron/generate')
    const first = service.chain.firstHeight as BlockHeight
    expect(await stateOf(early)).toMatchObject({ height: first - 1, finalized: finalizedIn(service) })
  })

  it('is stored before an address is shown: without a node there is none', async () => {
    const service = await startService()
    breakNodes(service)
    expect((await service.get('/tron/generate')).status).toBe(503)
    expect(await service.db.prepare('SELECT * FROM address').first()).toBeNull()
    repairNodes(service)
    service.clock.seconds += 60
    expect((await service.get('/tron/generate')).status).toBe(200)
    await stateOf(service)
  })
})

describe('nodes that are not well', () => {
  it('fail nothing by a block above the finalized one that cannot be read', async () => {
    const { service, own } = await withDeposit(oneNode)
    const finalized = finalizedIn(service)
    service.chain.add([usdtTo(own, 1n)])
    const [node] = service.nodes
    if (node === undefined) throw new Error('a node')
    node.script = () =>
      changing('/wallet/getblockbylimitnext', (result, { params }) => {
        const { startNum } = params[0] as { startNum: number }
        return startNum > finalized ? { block: [{ blockID: '0xzz' }] } : result
      })
    expect((await service.get('/tron/recharge')).status).toBe(200)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    expect(alarmsIn(service)).toEqual(['node-lies'])
  })

  it('that are behind change nothing: the position never goes back', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const before = await stateOf(service)
    for (const node of service.nodes) node.behind = 10
    service.clock.seconds += 20
    await service.tick()
    expect(await stateOf(service)).toMatchObject({ height: before.height, finalized: before.finalized })
    expect(callsOf(service, 'eth_getLogs').length).toBeGreaterThan(0)
  })

  it('are used by the next tick after an outage of a quarter of an hour', async () => {
    const { service } = await withDeposit()
    breakNodes(service)
    for (let minute = 0; minute < 15; minute += 1) {
      await service.tick()
      service.clock.seconds += 60
    }
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
    repairNodes(service)
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })
})

describe('an address', () => {
  it('is never its owner’s for what was final at its issue: an alarm for who asks, and no credit', async () => {
    const service = await startService()
    const early = finalizedIn(service)
    const [txid = ''] = payFinal(service, usdtTo(addressFrom(firstAddress), 5_000_000n))
    const later = service.with({ TRON_START_BLOCK: String(early) })
    const to = await addressIn(await later.get('/tron/generate'))
    expect(to).toBe(addressFrom(firstAddress))
    await later.tick()
    for (let i = 0; i < 2; i += 1) expect((await later.get(`/tron/recharge?txid=${txid}`)).status).toBe(409)
    expect(alarmsIn(service)).toEqual(['paid-before-issue'])
    expect(await statesOf(later)).toEqual([])
    payFinal(service, usdtTo(to, 7_000_000n))
    service.clock.seconds += 20
    await later.tick()
    expect(await balancesOf(later)).toEqual({ 1: 0, 2: 7 })
  })
})
