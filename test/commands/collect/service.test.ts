import { afterEach, beforeEach, expect, it } from 'vitest'
import { isComplete } from '../../../src/commands/collect/tables.ts'
import { type CollectChain, listedAt, startCollectChain } from './harness.ts'
import { startService } from './whole-service.ts'

const dayMs = 86_400_000

let chain: CollectChain

beforeEach(async () => {
  chain = await startCollectChain()
})
afterEach(() => chain.stop())

it.each(['delegate', 'transfer'] as const)(
  'collecting (%s) changes no user’s balance, credits no gas, and reconciliation raises no alarm',
  async (gas) => {
    const service = startService(chain)
    await service.tick()
    for (const uid of [1, 2]) expect(await service.get('/tron/generate', uid)).toContain(chain.depositAt(uid - 1))
    await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'], [1, '10', 'USDT'])
    await service.pass(10_000)
    await service.tick()
    const before = await Promise.all([1, 2].map((uid) => service.get('/wallet/list', uid)))
    expect(before).toEqual([
      '{"code":200,"msg":"success","data":{"list":[{"amt":3.5,"cuy":1},{"amt":25,"cuy":2}],"count":2}}',
      '{"code":200,"msg":"success","data":{"list":[{"amt":0,"cuy":1},{"amt":10,"cuy":2}],"count":2}}',
    ])

    const plan = await chain.plan({ gas }, listedAt(chain.config, 0, 1))
    expect(plan.steps.some(({ kind }) => kind === (gas === 'delegate' ? 'delegate' : 'gas'))).toBe(true)
    await chain.deposit([1, '4', 'USDT']) // arrives between plan and send, and stays where it is
    const { states } = await chain.send(chain.sign(plan))
    expect(isComplete(plan, states)).toBe(true)

    await service.pass(10_000)
    await service.tick()
    const after = await Promise.all([1, 2].map((uid) => service.get('/wallet/list', uid)))
    expect(after).toEqual([before[0], before[1]?.replace('"amt":10,', '"amt":14,')])
    for (const uid of [1, 2]) expect(await service.get('/wallet/flow/list', uid)).toMatch(/"count":2\}\}$/)
    const gasStep = plan.steps.find(({ kind }) => kind === 'gas' || kind === 'activate')
    expect(await service.get(`/tron/recharge?txid=${gasStep?.txid}`, 2)).toContain('"code":422')

    // Two days of comparisons: three readings of a difference would raise an alarm.
    for (let i = 0; i < 2; i += 1) {
      await service.pass(dayMs)
      for (let tick = 0; tick < 6; tick += 1) {
        await service.pass(61_000)
        // the reading of a balance is judged once the scan has passed all blocks that the balance
        // may include
        await chain.devnet.mine(70)
        await service.tick()
      }
    }
    expect(service.compared()).toBe(4)
    expect(service.alarms()).toEqual([])
  },
  60_000,
)
