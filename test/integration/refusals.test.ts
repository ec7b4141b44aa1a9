import { describe, expect, inject, it } from 'vitest'
import { contractSpecs } from '../support/contracts.ts'
import { startDevnetService } from './service.ts'

/** Types for which JSON-RPC shows our address as `to`: each looks like a deposit. */
const lookalikes = Object.entries(contractSpecs)
  .filter(([type, spec]) => spec.showsTarget && !['TransferContract', 'TriggerSmartContract'].includes(type))
  .map(([type]) => type)

describe('a transfer that is not a valid deposit', () => {
  it.each(lookalikes)('of type %s is not credited, and the response explains it', async (type) => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txid = await service.sendSynthetic({ type, to, amount: '7000000' })
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":0')
    const check = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(check.status).toBe(422)
    expect(check.body.msg.length).toBeGreaterThan(20)
    expect(check.body.data).toBeUndefined()
  })

  it('of a token that is not configured is refused with the contract address', async () => {
    const { token } = inject('devnet')
    const service = await startDevnetService({ CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 6 }] })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '1000', 'USDT')
    await service.mine()
    const check = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(check.status).toBe(422)
    expect(check.body.msg).toContain(token)
  })

  it('below the minimum is recorded but not credited, and the response contains the minimum', async () => {
    const { token } = inject('devnet')
    const minDeposit = '10.5'
    const service = await startDevnetService({
      CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: token, decimals: 6, minDeposit }],
    })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '10.499999', 'USDT')
    await service.mine()
    await service.tick()
    const check = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(check.status).toBe(422)
    expect(check.body.msg).toContain('10.5 USDT')
    expect((await service.get('/wallet/list', 1)).text).toContain('{"amt":0,"cuy":2}')
  })

  it('of a token with other decimals than configured stays pending, and the response contains the reason', async () => {
    const { token } = inject('devnet')
    const service = await startDevnetService({ CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: token, decimals: 8 }] })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '1', 'USDT')
    await service.mine()
    await service.tick()
    const check = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(check.status).toBe(409)
    expect(check.body.msg).toContain('decimals')
  })

  it('with an unknown txid is not found', async () => {
    const service = await startDevnetService()
    await service.addressOf(1)
    expect((await service.get(`/tron/recharge?txid=${'ab'.repeat(32)}`, 1)).status).toBe(404)
  })
})

describe('a TRX deposit without a node with the HTTP API', () => {
  it('is pending, and credited as soon as such a node is configured', async () => {
    const { rpcUrl, apiUrl } = inject('devnet')
    const service = await startDevnetService({ TRON_NODES: [{ rpc: rpcUrl }] })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '6', 'TRX')
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    expect((await service.get(`/tron/recharge?txid=${txid}`, 1)).status).toBe(409)
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":0')
    const withApi = service.with({ TRON_NODES: [{ rpc: rpcUrl, api: apiUrl }] })
    expect((await withApi.get(`/tron/recharge?txid=${txid}`, 1)).status).toBe(200)
    expect((await withApi.get('/wallet/list', 1)).text).toContain('{"amt":6,"cuy":1}')
  })
})
