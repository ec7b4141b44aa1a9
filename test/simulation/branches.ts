import type { BuiltBlock } from '../support/block-json.ts'
import type { BuiltChain } from '../support/chain-builder.ts'
import type { ChainBalances } from './chain-balances.ts'
import type { Environment } from './environment.ts'
import { drawPayment, type Payment } from './payments.ts'

/** A branch that shares the blocks below `from` with the chain that stays. */
export interface Branch {
  readonly chain: BuiltChain
  readonly balances: ChainBalances
  readonly from: number
}

/** Adds a block to a branch that does not stay. It has some of the payments, and some that no other branch has. */
export function grow(
  { random, shown }: Environment,
  { chain, balances }: Branch,
  payments: readonly Payment[],
): BuiltBlock {
  const parties = { shown: [...shown.keys()], unshown: [], balanceOf: () => 0n }
  const shared = payments.filter(() => random.chance(0.6))
  const own = [...shared, ...(random.chance(0.5) ? [drawPayment(random, parties)] : [])]
  balances.apply(
    chain.tip().height + 1,
    own.flatMap(({ changes }) => changes),
  )
  return chain.add(own.map(({ spec }) => spec))
}

/** A branch from `from` on, as high as the chain that stays. */
export function createBranch(env: Environment, from: number): Branch {
  const branch = { chain: env.chain.fork(from - 1), balances: env.balances.fork(from), from }
  while (branch.chain.tip().height < env.chain.tip().height) grow(env, branch, [])
  return branch
}
