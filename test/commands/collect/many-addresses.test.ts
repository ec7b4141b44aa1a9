import { afterAll, beforeAll, expect, it } from 'vitest'
import { findPlanFault } from '../../../src/commands/collect/check-plan.ts'
import { isComplete } from '../../../src/commands/collect/tables.ts'
import { type CollectChain, destination, listedAt, startCollectChain } from './harness.ts'

/**
 * More addresses than those whose balances one request reads, and more transactions than `send`
 * sends before it looks at the chain again.
 */
const addresses = 48

let chain: CollectChain

beforeAll(async () => {
  chain = await startCollectChain({ stake: '600000', gasTrx: '2000' })
})
afterAll(() => chain.stop())

it('many addresses are collected with one plan', async () => {
  const all = Array.from({ length: addresses }, (_, index) => index)
  await chain.deposit(...all.map((index) => [index, '2', index % 4 === 3 ? 'TRX' : 'USDT'] as const))
  const plan = await chain.plan({}, listedAt(chain.config, ...all))
  const transfers = plan.steps.filter(({ kind }) => kind === 'transfer')
  expect([transfers.length, plan.leftOut]).toEqual([addresses, []])
  expect(findPlanFault(plan)).toBeNull()
  const { outcome, states } = await chain.send(chain.sign(plan))
  expect([outcome.kind, isComplete(plan, states)]).toEqual(['settled', true])
  expect([await chain.balanceOf(destination, 'USDT'), await chain.balanceOf(destination, 'TRX')]).toEqual(['72', '25'])
}, 300_000)
