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

  it.each([
    ['reverts', 'd66eb1a1', undefined], // transferAndRevert(address,uint256)
    ['runs out of energy', 'a9059cbb', 'OUT_OF_ENERGY' as const], // transfer(address,uint256)
    ['fails with a log of the transfer', 'b1b7965c', undefined], // phantomTransfer(address,uint256)
  ])('by a call that %s is not credited, and the response explains it', async (_what, selector, fails) => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txid = await service.callToken(selector, [to, 9_000_000], fails)
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":0')
    const check = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect([check.status, check.body.msg]).toEqual([422, expect.stringContaining('failed')])
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
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    const check = await service.get(`/tron/recharge?txid=${txid}`, 1)
    expect(check.status).toBe(422)
    expect(check.body.msg).toContain('10.5 USDT')
    expect((await service.get('/wallet/list', 1)).text).toContain('{"amt":0,"cuy":2}')
  })

  it('of a token with other decimals than configured is held, and the response contains the reason', async () => {
    const { token } = inject('devnet')
    const service = await startDevnetService({ CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: token, decimals: 8 }] })
    const to = await service.addressOf(1)
    const txid = await service.pay(to, '1', 'USDT')
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
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
