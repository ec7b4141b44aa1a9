import { describe, expect, it } from 'vitest'
import { recheckMs } from '../../src/worker/config/check-settings.ts'
import { addressIn, failed, payFinal, type RunningService, read, textOf, trxTo, usdtTo } from '../http/service.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { usdtBase58 } from '../support/variables.ts'
import { alarmLines, alarmsOf, balancesOf, callsOf, eventsOf, statesOf, tickLater, withAddress } from './harness.ts'

const most = BigInt(Number.MAX_SAFE_INTEGER)
const usdt = { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 }
const withUsdt = (over: object) => ({
  CURRENCIES: [
    { cuy: 1, symbol: 'TRX', decimals: 6 },
    { ...usdt, ...over },
  ],
})
const decimalsCalls = (service: RunningService) =>
  callsOf(service, 'eth_call').filter(({ params }) => (params[0] as { data?: string }).data === '0x313ce567').length

describe('a token whose decimals nodes do not agree on', () => {
  it('is held, with one event, and credited as soon as they do', async () => {
    const { service, own } = await withAddress()
    for (const node of service.nodes) node.decimals.delete(usdtAddress)
    const [txid] = payFinal(service, usdtTo(own, 25_000_000n), trxTo(own, 1_000_000n))
    await service.tick()
    expect(await statesOf(service)).toEqual(expect.arrayContaining(['held:decimals-unknown', 'credited']))
    expect(await textOf(service, '/tron/recharge')).toContain('1 transfer not credited yet: the decimals')
    expect(await read(await service.get(`/tron/recharge?txid=${txid}`))).toEqual(
      failed(409, "the decimals of the token's contract could not be read yet"),
    )
    for (const node of service.nodes) node.decimals.set(usdtAddress, 6)
    await tickLater(service, 60)
    expect(await balancesOf(service)).toEqual({ 1: 1, 2: 25 })
    const events = await eventsOf(service)
    expect(events.filter((type) => type === 'deposit.held')).toHaveLength(1)
  })

  it('is asked about ever more rarely, to once a day, and never again once they agree', async () => {
    const { service } = await withAddress()
    for (const node of service.nodes) node.decimals.delete(usdtAddress)
    await service.tick()
    const asked: number[] = []
    for (let hour = 0; hour < 72; hour += 2) {
      service.clock.seconds += 7200
      service.chain.addEmpty(1)
      const before = decimalsCalls(service)
      await service.with({}).tick() // a new instance, which has no answers of nodes in memory
      asked.push(decimalsCalls(service) - before)
    }
    const lastDay = asked.slice(-12).reduce((sum, count) => sum + count, 0)
    expect(lastDay).toBeGreaterThan(0)
    expect(lastDay).toBeLessThanOrEqual(4)
    for (const node of service.nodes) node.decimals.set(usdtAddress, 6)
    await tickLater(service, 86_400)
    const agreed = decimalsCalls(service)
    await tickLater(service, 86_400)
    expect(decimalsCalls(service)).toBe(agreed)
  })

  it('is held for the reason that is known by then: unknown decimals that turn out to differ', async () => {
    const { service, own } = await withAddress()
    for (const node of service.nodes) node.decimals.delete(usdtAddress)
    payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    expect(await statesOf(service)).toEqual(['held:decimals-unknown'])
    for (const node of service.nodes) node.decimals.set(usdtAddress, 18)
    await tickLater(service, 60)
    expect(await statesOf(service)).toEqual(['held:decimals-differ'])
  })

  it('is held with an alarm where they are not the configured ones, and credited when they are', async () => {
    const { service, own } = await withAddress()
    for (const node of service.nodes) node.decimals.set(usdtAddress, 18)
    payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    await tickLater(service)
    expect(await statesOf(service)).toEqual(['held:decimals-differ'])
    expect(alarmLines(service)).toEqual([
      { level: 'error', alarm: 'decimals-differ', cuy: 2, configured: 6, contract: 18, urgency: 'now' },
    ])
    for (const node of service.nodes) node.decimals.set(usdtAddress, 6)
    await tickLater(service, 600)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })
})

describe('a token that was configured with wrong decimals', () => {
  it('is credited by the right ones once these are configured and stored: at once, and without another request', async () => {
    const { service: wrong, own } = await withAddress(withUsdt({ decimals: 8, scale: 6 }))
    payFinal(wrong, usdtTo(own, 25_000_000n))
    await wrong.tick()
    const right = wrong.with(withUsdt({ decimals: 6, scale: 6 }))
    await tickLater(right)
    expect((await right.get('/health')).status).toBe(503)
    expect(await statesOf(wrong)).toEqual(['held:decimals-differ'])
    await wrong.db.prepare('UPDATE stored_currency SET decimals = 6 WHERE cuy = 2').run()
    const asked = decimalsCalls(wrong)
    await tickLater(right, recheckMs / 1000)
    expect(await balancesOf(right)).toEqual({ 1: 0, 2: 25 })
    expect(decimalsCalls(wrong)).toBe(asked)
    const raised = await wrong.db.prepare('SELECT kind FROM alarm').raw()
    expect(raised).toEqual([])
    expect(await wrong.db.prepare('SELECT decimals FROM agreed_decimals').raw()).toEqual([[6]])
  })
})

describe('a deposit that would make a balance too large', () => {
  it('is held with one alarm, delays no other deposit, and is credited when there is room', async () => {
    const { service, own } = await withAddress()
    const other = await addressIn(await service.get('/tron/generate', 8))
    const [, txid = ''] = payFinal(service, usdtTo(own, most - 5n), usdtTo(own, 6n), usdtTo(other, 2_000_000n))
    await service.tick()
    await tickLater(service)
    expect(alarmsOf(service, 'deposit-too-large')).toEqual([
      { level: 'error', alarm: 'deposit-too-large', txid, position: 0, urgency: 'today' },
    ])
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":9007199254.740986,"cuy":2}')
    expect(await balancesOf(service, 8)).toEqual({ 1: 0, 2: 2 })
    await service.post([{ uid: 7, cuy: 2, type: 2, osn: 'w1', amt: '-1000' }])
    await tickLater(service)
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":9007198254.740992,"cuy":2}')
    expect(await statesOf(service)).toEqual(['credited', 'credited', 'credited'])
  })

  it('is not stored by a question about its txid: the scan does that, with its event', async () => {
    const { service, own } = await withAddress()
    payFinal(service, usdtTo(own, most - 5n))
    await service.tick()
    const [txid = ''] = payFinal(service, usdtTo(own, 6n))
    expect((await service.get(`/tron/recharge?txid=${txid}`)).status).toBe(409)
    expect(await statesOf(service)).toEqual(['credited'])
    await tickLater(service)
    expect(await statesOf(service)).toEqual(['credited', 'held:wallet-full'])
  })
})

describe('what is undecided', () => {
  it('costs no request by itself, and is decided at once when it can be: a backlog of 10,000 within an hour', async () => {
    const { service, own } = await withAddress(withUsdt({ retired: true }))
    await service.tick()
    const requests = async () => {
      const before = service.nodes.map((node) => node.requests.length)
      service.chain.addEmpty(7)
      await tickLater(service)
      return service.nodes.reduce((sum, node, i) => sum + node.requests.length - (before[i] ?? 0), 0)
    }
    const none = await requests()
    payFinal(service, ...Array.from({ length: 1_500 }, () => usdtTo(own, 1n)))
    await tickLater(service, 60)
    expect((await statesOf(service)).filter((state) => state === 'held:retired')).toHaveLength(1_500)
    // until the addresses' balances have been compared, which costs requests
    for (let i = 0; i < 3; i += 1) await tickLater(service, 3600)
    await requests() // nodes that were not asked for an hour are checked
    expect(await requests()).toBeLessThanOrEqual(none + 2)
    const back = service.with(withUsdt({ retired: false }))
    await tickLater(back)
    const decided = (await statesOf(back)).filter((state) => state === 'credited').length
    expect(decided * (3_600 / 20)).toBeGreaterThanOrEqual(10_000)
  })
})
