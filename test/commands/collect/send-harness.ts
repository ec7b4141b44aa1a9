import type { CollectPlan, SignedPlan } from '../../../src/commands/collect/plan.ts'
import type { StepStates } from '../../../src/commands/collect/step-state.ts'
import { result } from '../../devnet/support.ts'
import { type CollectChain, listedAt } from './harness.ts'

/**
 * A signed plan for two users' addresses: the first has 25 USDT and 3.5 TRX, the second 10 USDT.
 * Their deposits are final.
 */
export async function twoUsers(chain: CollectChain, gas: 'delegate' | 'transfer' = 'delegate'): Promise<SignedPlan> {
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'], [1, '10', 'USDT'])
  return chain.sign(await chain.plan({ gas }, listedAt(chain.config, 0, 1)))
}

/** The result of each step as a sentence. */
export const resultsOf = ({ steps }: CollectPlan, states: StepStates) =>
  steps.map(({ id, kind }) => {
    const state = states.get(id)
    return `${id} ${kind}: ${state?.kind}${state !== undefined && 'why' in state ? `, ${state.why}` : ''}`
  })

/**
 * How often the blocks of the chain contain each transaction of the plan. First makes a block, so
 * that transactions that were sent are mined.
 */
export async function minedCounts({ devnet }: CollectChain, { plan }: SignedPlan): Promise<readonly number[]> {
  const { latest } = await devnet.mine(1)
  const counts = new Map<string, number>()
  for (let height = 1; height <= latest; height += 1) {
    const at = `0x${height.toString(16)}`
    const block = await result<{ transactions: string[] }>(devnet, 'eth_getBlockByNumber', at, false)
    for (const hash of block.transactions) counts.set(hash.slice(2), (counts.get(hash.slice(2)) ?? 0) + 1)
  }
  return plan.steps.map(({ txid }) => counts.get(txid) ?? 0)
}

/** Makes the token's contract need `factor` times its usual energy. */
export async function setEnergyPrice({ devnet }: CollectChain, factor: number): Promise<void> {
  await fetch(`${devnet.apiUrl}/devnet/energy-price`, { method: 'POST', body: JSON.stringify({ factor }) })
}
