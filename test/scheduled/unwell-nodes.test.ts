import { describe, expect, it } from 'vitest'
import {
  addressFrom,
  addressIn,
  alarmsIn,
  finalityLag,
  firstAddress,
  payFinal,
  type RunningService,
  requestsOf,
  startService,
  textOf,
  usdtTo,
} from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'

const oneNode = { TRON_NODES: [{ rpc: 'https://one.example/jsonrpc', api: 'https://one.example' }], TRON_QUORUM: 1 }

/** A service whose caller has a final deposit of 25 USDT, and one that is not final. */
async function withDeposit(variables: Record<string, unknown> = {}): Promise<RunningService> {
  const service = await startService(variables)
  const to = await addressIn(await service.get('/tron/generate'))
  payFinal(service, usdtTo(to, 25_000_000n))
  service.chain.add([usdtTo(addressFrom(firstAddress), 1n)])
  return service
}

describe('nodes that are not well', () => {
  it('fail nothing by a block above the finalized one whose fields are none, and cost no more requests', async () => {
    const healthy = await withDeposit(oneNode)
    const unwell = await withDeposit(oneNode)
    const finalized = unwell.chain.tip().height - finalityLag
    for (const node of unwell.nodes) {
      node.script = () =>
        changing('eth_getBlockByNumber', (result, { params }) => {
          const block = result as { number: string; transactions: object[] }
          if (params[1] !== true || Number(block.number) <= finalized) return result
          return { ...block, transactions: block.transactions.map((one) => ({ ...one, value: '0xzz' })) }
        })
    }
    const costs = await Promise.all(
      [healthy, unwell].map(async (service) => {
        const before = requestsOf(service)
        expect((await service.get('/tron/recharge')).status).toBe(200)
        expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
        return requestsOf(service) - before
      }),
    )
    expect(costs[1]).toBeLessThanOrEqual(costs[0] ?? 0)
    await unwell.tick()
    expect(alarmsIn(unwell)).toEqual([])
  })

  it('are used a minute after they named another chain, also where there is only one', async () => {
    const service = await withDeposit(oneNode)
    for (const node of service.nodes) node.script = () => changing('eth_chainId', () => '0xcd8690dc')
    await service.tick()
    for (const node of service.nodes) node.script = () => null
    service.clock.seconds += 30
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":0,"cuy":2}')
    service.clock.seconds += 30
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })

  it('are used by the next tick after an outage of a quarter of an hour', async () => {
    const service = await withDeposit()
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 500 })
    for (let minute = 0; minute < 15; minute += 1) {
      await service.tick()
      service.clock.seconds += 60
    }
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":0,"cuy":2}')
    for (const node of service.nodes) node.script = () => null
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })
})
