import { txidOf } from '../../src/worker/chain/transaction.ts'
import type { Chain } from './chain.ts'
import type { ChainBalances } from './chain-balances.ts'
import { type Environment, encodePayments, type MinedPayment } from './environment.ts'
import { drawPayment } from './payments.ts'
import { mineOnBranch } from './payouts.ts'

/** A branch that shares the blocks below `from` with the canonical chain. */
export interface Branch {
  readonly chain: Chain
  readonly balances: ChainBalances
  readonly from: number
  /** Payments for the branch's next block. */
  readonly later: MinedPayment[]
}

/**
 * Adds a block to a branch that will be replaced. It has some of `payments`, a few of them failed
 * or a block late, and can have a payment of its own.
 */
export function grow(env: Environment, branch: Branch, payments: readonly MinedPayment[]): void {
  const { chain, balances, later } = branch
  const { random, hard, shown } = env
  const parties = { shown: [...shown.keys()], unshown: [], balanceOf: () => 0n }
  const all: MinedPayment[] = later.splice(0)
  for (const payment of payments) {
    if (random.chance(0.4)) continue
    const isFailed = payment.spec.kind === 'token' && random.chance(0.2)
    const own = isFailed
      ? { ...payment, spec: { ...payment.spec, failed: true }, changes: [] }
      : isOtherwise(env, payment) && hard.chance(env.isForked ? 0.6 : 0.2)
        ? doOtherwise(env, payment)
        : payment
    if (random.chance(0.3)) later.push(own)
    else all.push(own)
  }
  const height = chain.tip().height + 1
  // Blocks of one moment have payments of different times: equal ones would be one transaction.
  const time = 500 + height - branch.from
  all.push(...encodePayments(env, random.chance(0.5) ? [drawPayment(random, parties)] : [], time))
  if (env.payouts !== null && env.isForked) all.push(...mineOnBranch(env, env.payouts, chain))
  const mined = withoutRepeated(chain, all)
  balances.apply(
    height,
    mined.flatMap(({ changes }) => changes),
  )
  // A block at a height that the canonical chain has already gets the same time.
  const seconds = env.chain.at(height)?.seconds
  chain.mine(mined, seconds ?? Math.floor(env.scheduler.now() / 1000))
}

/** The payments whose transaction the chain does not have already. It has each transaction once. */
function withoutRepeated(chain: Chain, payments: readonly MinedPayment[]): readonly MinedPayment[] {
  const byTxid = Map.groupBy(payments, ({ rawData }) => txidOf(rawData))
  return [...byTxid].flatMap(([txid, [first]]) => (first === undefined || chain.blockOf(txid) ? [] : [first]))
}

/** Whether a payment of this kind can do otherwise on a branch of this run. */
const isOtherwise = ({ scenario: { hardships } }: Environment, { otherwise }: MinedPayment) =>
  otherwise === undefined ? hardships.alters : hardships.reverses

/**
 * The payment on a branch where its contract is in another state: the same bytes move another
 * amount, or to another address, or a payout ends otherwise.
 */
function doOtherwise({ hard, shown }: Environment, payment: MinedPayment): MinedPayment {
  const { spec, otherwise } = payment
  if (otherwise !== undefined) return { ...payment, spec: otherwise, changes: [] }
  if (spec.kind !== 'token' || spec.amount < 5n || payment.transfers.length === 0) return payment
  const [amount, to] = hard.chance(0.5)
    ? [hard.pick([spec.amount / 5n, spec.amount + 1_000_000n]), spec.to]
    : [spec.amount, hard.pick([...shown.keys()])]
  return {
    ...payment,
    spec: { ...spec, amount, to },
    changes: [{ address: to, contract: spec.contract, amount }],
  }
}

/** A branch from height `from` on, as high as the canonical chain. */
export function createBranch(env: Environment, from: number): Branch {
  const branch: Branch = { chain: env.chain.fork(from - 1), balances: env.balances.fork(from), from, later: [] }
  while (branch.chain.tip().height < env.chain.tip().height) grow(env, branch, [])
  return branch
}
