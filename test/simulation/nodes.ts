import type { Address } from '../../src/addresses/address.ts'
import { readingLagBlocks } from '../../src/reconciliation/judge-reading.ts'
import type { BuiltBlock } from '../support/block-json.ts'
import type { BuiltChain } from '../support/chain-builder.ts'
import { createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { withoutFailedLogs } from './altered-chain.ts'
import { type ByzantineFault, drawByzantineFault, falsifyBalance } from './byzantine-faults.ts'
import type { ChainBalances } from './chain-balances.ts'
import type { Environment } from './environment.ts'
import { createFalseChain } from './false-blocks.ts'
import { drawPayment, type Payment } from './payments.ts'
import { fineToken, type Scenario } from './scenario.ts'

/** A branch that shares the blocks below `from` with the chain that stays. */
interface Branch {
  readonly chain: BuiltChain
  readonly balances: ChainBalances
  readonly from: number
}

/** A node and its present state. */
export interface SimulatedNode {
  readonly number: number
  readonly rpc: string
  readonly api: string | null
  readonly byzantine: boolean
  readonly keepsFailedLogs: boolean
  readonly scripted: ScriptedNode
  /** Largest difference in blocks between the backends behind its URL. */
  spread: number
  /** Time until which no request reaches it. */
  awayUntil: number
  /** Most calls of one batch. */
  callsMax: number
  /** The fork above finality that it is on. */
  fork: Branch | null
  fault: ByzantineFault | null
  /** The newest block that it shows while it holds its head back. */
  heldHeight: number
}

/** The nodes of a run. */
export interface Nodes {
  readonly list: readonly SimulatedNode[]
  /** To be called after each block with its payments: nodes lag, fork, recover, go away and change their faults. */
  advance(payments: readonly Payment[]): void
  /** Makes every node reachable and up to date. The Byzantine ones have `fault` from then on. */
  recover(fault: ByzantineFault | 'any' | null): void
  /** Makes all nodes show another chain from block `from` on, or with null the chain that stays again. */
  rewriteAll(from: number | null): void
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
        setFault(env, node, node.byzantine ? next : null)
      }
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

function createNode(
  chain: BuiltChain,
  { finalityLag }: Scenario,
  { byzantine, hasApi, keepsFailedLogs }: Scenario['nodes'][number],
  number: number,
): SimulatedNode {
  const scripted = createScriptedNode(chain)
  scripted.finalityLag = finalityLag
  return {
    number,
    rpc: `https://node-${number}.test/jsonrpc`,
    api: hasApi ? `https://node-${number}.test` : null,
    byzantine,
    keepsFailedLogs,
    scripted,
    spread: 0,
    awayUntil: 0,
    callsMax: Number.POSITIVE_INFINITY,
    fork: null,
    fault: null,
    heldHeight: 0,
  }
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
    if (node.byzantine && changesFault) setFault(env, node, fault)
    if (node.fault === 'rewritten past') {
      state.rewritten ??= createBranch(env, env.finalized() + 1 - random.int(0, 3))
    }
  }
}

/** Adds a block to a branch that does not stay. It has some of the payments, and some that no other branch has. */
function grow({ random, shown }: Environment, { chain, balances }: Branch, payments: readonly Payment[]): BuiltBlock {
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
function createBranch(env: Environment, from: number): Branch {
  const branch = { chain: env.chain.fork(from - 1), balances: env.balances.fork(from), from }
  while (branch.chain.tip().height < env.chain.tip().height) grow(env, branch, [])
  return branch
}

function changeNode(env: Environment, node: SimulatedNode): void {
  const { random, scheduler, scenario, chain } = env
  switch (random.int(1, 6)) {
    case 1:
    case 2:
      node.scripted.behind = random.pick([1, 2, 5, 25])
      env.count('node lags')
      return
    case 3:
      node.spread = random.pick([1, 3, 25])
      env.count('node switches backends')
      return
    case 4:
      node.awayUntil = scheduler.now() + random.pick([5_000, 30_000, 120_000])
      env.count('node goes away')
      return
    case 5:
      node.callsMax = random.pick([1, 4, 10, 19])
      env.count('node limits batches')
      return
    case 6:
      node.fork = createBranch(env, chain.tip().height - random.int(0, Math.min(3, scenario.finalityLag - 1)))
      env.count('fork above finality')
  }
}

function recoverNode(env: Environment, node: SimulatedNode): void {
  node.scripted.behind = 0
  node.spread = 0
  node.callsMax = Number.POSITIVE_INFINITY
  leaveFork(env, node)
}

/** A transaction that only the fork has returns to those that are in no block. */
function leaveFork({ chain }: Environment, node: SimulatedNode): void {
  const branch = node.fork
  node.fork = null
  for (const { txid, wire } of branch?.chain.at(branch.from)?.transactions ?? []) {
    if (chain.transaction(txid) !== undefined) continue
    node.scripted.unmined.set(txid, { ...wire, blockHash: '0x', blockNumber: '0x', transactionIndex: '0x' })
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
  scripted.chain = node.keepsFailedLogs ? own : withoutFailedLogs(own)
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
