import { describe, expect, it } from 'vitest'
import { startDevnetService } from './service.ts'

/**
 * Types of transactions for which JSON-RPC shows our address in `to`, so that they look like
 * deposits. `party` is the parameter that takes the address.
 */
const lookalikes: readonly (readonly [type: string, party: string, more: Readonly<Record<string, unknown>>])[] = [
  ['AccountCreateContract', 'account_address', {}],
  ['TransferAssetContract', 'to_address', { asset_name: '31303030303031', amount: 7_000_000 }],
  ['ParticipateAssetIssueContract', 'to_address', { asset_name: '31303030303031', amount: 7_000_000 }],
  ['FreezeBalanceContract', 'receiver_address', { frozen_balance: 7_000_000, frozen_duration: 3 }],
  ['UnfreezeBalanceContract', 'receiver_address', {}],
  ['UpdateSettingContract', 'contract_address', { consume_user_resource_percent: 50 }],
  ['UpdateEnergyLimitContract', 'contract_address', { origin_energy_limit: 1_000 }],
  ['ClearABIContract', 'contract_address', {}],
  ['DelegateResourceContract', 'receiver_address', { balance: 7_000_000 }],
  ['UnDelegateResourceContract', 'receiver_address', { balance: 7_000_000 }],
]

describe('a transfer that is not a valid deposit', () => {
  it('of any type that looks like one is not credited, and the response explains it', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const txids: string[] = []
    for (const [type, party, more] of lookalikes) txids.push(await service.sendSynthetic(type, to, party, more))
    await service.mine()
    expect((await service.get('/tron/recharge', 1)).status).toBe(200)
    expect((await service.get('/wallet/flow/list', 1)).text).toContain('"count":0')
    const checks = await Promise.all(txids.map((txid) => service.get(`/tron/recharge?txid=${txid}`, 1)))
    expect(checks.map(({ status }) => status)).toEqual(lookalikes.map(() => 422))
    for (const { body } of checks) {
      expect(body.msg.length).toBeGreaterThan(20)
      expect(body.data).toBeUndefined()
    }
  })

  it.each([
    ['reverts', 'd66eb1a1', undefined], // the selector of transferAndRevert(address,uint256)
    // the selector of transfer(address,uint256)
    ['runs out of energy', 'a9059cbb', { fails: 'OUT_OF_ENERGY' as const }],
    ['fails with a log of the transfer', 'b1b7965c', undefined], // the selector of phantomTransfer(address,uint256)
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
})
