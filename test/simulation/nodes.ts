import type { Address } from '../../src/chain/address.ts'
import { readingLagBlocks } from '../../src/reconciliation/judge-reading.ts'
import type { BuiltChain } from '../support/chain-builder.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { withNumbersByTransaction, withoutFailedLogs } from './altered-chain.ts'
import { type Branch, createBranch, grow } from './branches.ts'
import { type ByzantineFault, drawByzantineFault, falsifyBalance } from './byzantine-faults.ts'
import type { Environment } from './environment.ts'
import { createFalseChain } from './false-blocks.ts'
import { changeNode, leaveFork, recoverNode } from './node-changes.ts'
import type { Payment } from './payments.ts'
import { fineToken } from './scenario.ts'
import { createNode, type SimulatedNode } from './simulated-node.ts'

/** The nodes of a run. */
export interface Nodes {
  readonly list: readonly SimulatedNode[]
  /** To be called after each block with its payments: nodes lag, fork, recover, go away and change their faults. */
  advance(payments: readonly Payment[]): void
  /** Makes every node reachable and up to date. The Byzantine ones have `fault` from then on. */
  recover(fault: ByzantineFault | 'any' | null): void
  /** Makes all nodes show another chain from block `from` on, or with null the chain that stays again. */
  rewriteAll(from: number | null): void
  /** All nodes go away, or return. */
  setAway(isAway: boolean): void
  /** Sets the view from which the node replies to one request. Returns its Byzantine fault in that request. */
  setView(node: SimulatedNode): ByzantineFault | null
  /** What the node replies as a balance with `fault`, and whether that is the true balance of about now. */
  balanceOf(
    node: SimulatedNode,
    fault: ByzantineFault | null,
    address: Address,
    contract: Address | null,
  ): { readonly balance: bigint; readonly isTrue: boolean }
}

/** The scenario's nodes. `position` is the height up to which the service has scanned. */
export function createNodes(env: Environment, position: () => number): Nodes {
  const { scenario, random, chain, balances } = env
  const list = scenario.nodes.map((plan, i) => createNode(chain, scenario, plan, i + 1))
  const watched = () => [...env.shown.keys()]
  const seed = random.int(1, 2 ** 31)
  const falseChain = createFalseChain(chain, seed, watched, (kind) => env.count(`byzantine: ${kind}`))
  const state: FaultState = { rewritten: null }
  return {
    list,
    advance: (payments) => advance(env, list, state, payments),
    recover(fault) {
      for (const node of list) {
        recoverNode(env, node)
        node.awayUntil = 0
        const next = fault === 'any' ? (node.fault ?? drawByzantineFault(random)) : fault
        setFault(env, node, node.plan.byzantine ? next : null)
      }
    },
    setAway(isAway) {
      for (const node of list) node.awayUntil = isAway ? Number.POSITIVE_INFINITY : 0
    },
    rewriteAll(from) {
      state.rewritten = from === null ? null : createBranch(env, from)
      for (const node of list) node.fault = from === null ? null : 'rewritten past'
    },
    setView: (node) => setView(env, node, falseChain, state.rewritten),
    balanceOf(node, fault, address, contract) {
      const branch = fault === 'rewritten past' ? state.rewritten : node.fork
      const view = branch ?? { chain, balances }
      const head = view.chain.tip().height - node.scripted.behind
      const held = view.balances.at(head, address, contract)
      const shown = held < 0n ? 0n : held // on a fork that lacks the payment which was spent
      const isTrue = branch === null && fault !== 'false balances' && head >= position() - readingLagBlocks
      return { balance: fault === 'false balances' ? falsifyBalance(random, shown) : shown, isTrue }
    },
  }
}

/** What colluding nodes share. */
interface FaultState {
  rewritten: Branch | null
}

function setFault({ random, chain }: Environment, node: SimulatedNode, fault: ByzantineFault | null): void {
  if (fault === 'held-back head') node.heldHeight = chain.tip().height - random.int(0, 3)
  node.fault = fault
}

function advance(
  env: Environment,
  list: readonly SimulatedNode[],
  state: FaultState,
  payments: readonly Payment[],
): void {
  const { random, scenario } = env
  if (state.rewritten !== null) grow(env, state.rewritten, payments)
  const fault = random.chance(0.3) ? null : drawByzantineFault(random)
  const changesFault = random.chance(0.15)
  for (const node of list) {
    if (node.fork !== null) {
      grow(env, node.fork, payments)
      // No correct node calls a block final that does not stay.
      if (node.fork.chain.tip().height - scenario.finalityLag >= node.fork.from - 1) leaveFork(env, node)
    }
    if (random.chance(scenario.rates.change)) changeNode(env, node)
    else if (random.chance(0.15)) recoverNode(env, node)
    if (node.plan.byzantine && changesFault) setFault(env, node, fault)
    if (node.fault === 'rewritten past') {
      state.rewritten ??= createBranch(env, env.finalized() + 1 - random.int(0, 3))
    }
  }
}

function setView(
  { scenario, random, chain, isForked, count }: Environment,
  node: SimulatedNode,
  falseChain: BuiltChain,
  rewritten: Branch | null,
): ByzantineFault | null {
  const { scripted } = node
  const isFaulty = node.fault !== null && (isForked || random.chance(scenario.rates.byzantine))
  const fault = isFaulty ? node.fault : null
  const own = node.fork?.chain ?? chain
  const kept = node.plan.keepsFailedLogs ? own : withoutFailedLogs(own)
  scripted.chain = node.plan.numbersByTransaction ? withNumbersByTransaction(kept) : kept
  scripted.finalityLag = scenario.finalityLag
  scripted.hasHistory = fault !== 'no history'
  const decimals = scenario.decimalsDiffer ? 8 : 18
  scripted.decimals.set(usdtAddress, 6).set(fineToken, decimals)
  if (fault !== null && fault !== 'false blocks') count(`byzantine: ${fault}`)
  if (fault === 'false blocks') scripted.chain = falseChain
  if (fault === 'rewritten past') scripted.chain = rewritten?.chain ?? chain
  if (fault === 'early finality') scripted.finalityLag = 0
  if (fault === 'false decimals') scripted.decimals.set(usdtAddress, 18).set(fineToken, decimals === 18 ? 8 : 18)
  return fault
}
