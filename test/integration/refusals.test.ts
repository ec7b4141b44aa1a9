import { describe, expect, inject, it } from 'vitest'
import { contractSpecs } from '../devnet/contracts.ts'
import { startOnChain } from './service.ts'

/** Types that JSON-RPC shows with our address as `to`: each looks like, or near, a deposit. */
const lookalikes = Object.entries(contractSpecs)
  .filter(([type, spec]) => spec.showsTarget && !['TransferContract', 'TriggerSmartContract'].includes(type))
  .map(([type]) => type)

describe('a false deposit on a real chain', () => {
  it.each(lookalikes)('of type %s is never credited and is explained', async (type) => {
    const service = await startOnChain()
    const to = await service.addressOf(1)
    const txid = await service.control('inject', { type, to, amount: '7000000' })
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":0')
    const asked = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(asked.status).toBe(422)
    expect(asked.body.msg.length).toBeGreaterThan(20)
    expect(asked.body.data).toBeUndefined()
  })

  it('of a token that is not configured is refused with its contract', async () => {
    const { token } = inject('devnet')
    const service = await startOnChain({ CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 6 }] })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '1000', 'USDT')
    await service.mine()
    const asked = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(asked.status).toBe(422)
    expect(asked.body.msg).toContain(token)
  })

  it('below the minimum is recorded, not credited, and named with the minimum', async () => {
    const { token } = inject('devnet')
    const minDeposit = '10.5'
    const service = await startOnChain({
      CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: token, decimals: 6, minDeposit }],
    })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '10.499999', 'USDT')
    await service.mine()
    await service.tick()
    const asked = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(asked.status).toBe(422)
    expect(asked.body.msg).toContain('10.5 USDT')
    expect((await service.get('/wallet/list', 1)).text).toContain('{"amt":0,"cuy":2}')
  })

  it('by a contract with other decimals than configured waits, and the reason is said', async () => {
    const { token } = inject('devnet')
    const service = await startOnChain({ CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: token, decimals: 8 }] })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '1', 'USDT')
    await service.mine()
    await service.tick()
    const asked = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(asked.status).toBe(409)
    expect(asked.body.msg).toContain('decimals')
  })

  it('is unknown where no node knows the transaction', async () => {
    const service = await startOnChain()
    await service.addressOf(1)
    expect((await service.get(`/tron/recharge?txid=${'ab'.repeat(32)}`, 1)).status).toBe(404)
  })
})

describe('a TRX deposit without any api', () => {
  it('waits, says why, and is credited once there is one', async () => {
    const { rpcUrl, apiUrl } = inject('devnet')
    const nodes = [{ rpc: rpcUrl, api: apiUrl }]
    const service = await startOnChain({ TRON_NODES: [{ rpc: rpcUrl }] })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '6', 'TRX')
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).body.msg).toMatch(/^success: .*wait/)
    expect((await service.get(`/tron/recharge?txid=${txid}`, 1)).status).toBe(409)
    const withApi = service.with({ TRON_NODES: nodes })
    const asked = await withApi.get(`/tron/recharge?txid=${txid}`, 1)
    expect(asked.status).toBe(200)
    expect((await withApi.get('/wallet/list', 1)).text).toContain('{"amt":6,"cuy":1}')
  })
})
