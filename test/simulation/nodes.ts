import { usdtAddress } from '../support/transaction-spec.ts'
import { type Branch, createBranch, grow } from './branches.ts'
import { receiveBroadcast } from './broadcasts.ts'
import type { ChainView } from './chain.ts'
import type { Environment, MinedPayment } from './environment.ts'
import { createFalseChain } from './false-blocks.ts'
import { createFalseTail, type FalseTail } from './false-tail.ts'
import { withoutLacked } from './lacking.ts'
import type { NodeView } from './node-replies.ts'
import { beginningOf, drawTrouble, type TroubledState, type TroubleName, untroubled } from './node-troubles.ts'
import type { Random } from './random.ts'
import { fineToken, type NodePlan, type Storm } from './scenario.ts'

/** The services of a node. One can fail while the other works. */
export const nodeServices = ['rpc', 'api'] as const
export type NodeService = (typeof nodeServices)[number]

/**
 * The ways in which a Byzantine node lies for a while. Each lie is consistent: no single reply
 * shows that it is wrong. While faults occur, all Byzantine nodes tell the same lie at the same
 * time.
 */
const byzantineFaults = [
  'false blocks', // true hashes, false contents; drawn three times as often as each other fault
  'false blocks',
  'false blocks',
  'rewritten past', // a chain that differs from the true one also below the finalized head
  'early finality', // all blocks up to the node's head are called final, even those of a fork
  'held-back head', // an old head, with true blocks up to it
  'absurd height', // a final block that is higher than any chain can be by now
  'no history', // `[]` for all logs, null for all receipts
  'false decimals',
  'false balances',
  'unknown transactions',
] as const
export type ByzantineFault = (typeof byzantineFaults)[number]

/** A node and its present state. */
export interface SimulatedNode extends TroubledState {
  readonly number: number
  rpc: string
  api: string
  readonly plan: NodePlan
  /** The txids of transactions that the node knows and no block contains. */
  readonly unmined: Set<string>
  /** Times of the last day's requests, in milliseconds since 1970. */
  readonly requests: number[]
  /**
   * Times at which the node was asked for its final head, for a block by height, for final blocks,
   * and for blocks that are not final.
   */
  readonly askedFor: Readonly<Record<'head' | 'block' | 'final' | 'tail', number[]>>
  /**
   * How many requests the node has received because of callers: all except those of the scan and of
   * sending payouts.
   */
  byCallers: number
  /** How many of the newest blocks the node does not have yet. */
  behind: number
  /** By how many blocks at most the servers behind the node's URL differ. */
  spread: number
  /** The most logs that the node puts into one reply. */
  logsMax: number
  /**
   * The time until which no request reaches the service, in milliseconds since 1970; 0 if it can be
   * reached.
   */
  readonly awayUntil: { rpc: number; api: number }
  /** The most characters that the node puts into one reply. */
  replyMax: number
  /**
   * The JSON-RPC method that the node refuses, or `api` if it refuses every request to its HTTP
   * API; null if it refuses nothing.
   */
  refuses: string | null
  /** The probability, for each request, that the reply has the id of another chain. */
  glitches: number
  /**
   * The probability, for each request after the faulty phase, that the reply is malformed. In the
   * faulty phase `rates.malformed` counts.
   */
  malformed: number
  /** The fork that the node is on, whose blocks are not final; null if it is on none. */
  fork: Branch | null
  fault: ByzantineFault | null
  /** The height of the newest block that the node shows while it has the fault `held-back head`. */
  heldHeight: number
  /** The blocks that the node invents above the true ones. */
  readonly falseTail: FalseTail
}

/** The nodes of a run. */
export interface Nodes {
  readonly list: readonly SimulatedNode[]
  /**
   * To be called after each block, with the block's payments. Forks grow. In the faulty phase nodes
   * lag, fork, recover and go away.
   */
  advance(payments: readonly MinedPayment[]): void
  /**
   * Makes every node reachable and up to date. Byzantine nodes have `fault` from now on: `any`
   * keeps or draws one, null is none.
   */
  recover(fault: ByzantineFault | 'any' | null): void
  /** Makes all nodes show the chain of `branch`; with null they show the canonical chain again. */
  rewriteAll(branch: Branch | null): void
  /** Makes all nodes unreachable, or reachable again. */
  setAway(isAway: boolean): void
  /**
   * What the node shows in its reply to one request, and the Byzantine fault by which the reply is
   * false; null if it is true.
   */
  viewOf(node: SimulatedNode): { readonly view: NodeView; readonly fault: ByzantineFault | null }
}

/** A node without any limit or fault. */
const unlimited = {
  ...untroubled,
  replyMax: Number.POSITIVE_INFINITY,
  refuses: null,
  glitches: 0,
  malformed: 0,
  behind: 0,
  spread: 0,
  logsMax: 10_000,
} as const

/**
 * The state of a node without faults. In some scenarios one node never takes batches, and one has
 * no HTTP API while faults occur.
 */
function unlimitedOf({ scenario, phase }: Environment, number: number) {
  const { batchless, refusals } = scenario
  const closed = phase === 'faults' && refusals?.closedNode === number ? refusals.closed : null
  return { ...unlimited, closed, ...(batchless === number && { callsMax: 1 }) }
}

/**
 * A balance counts as a false reading if its node is further behind the scan's position than this
 * many blocks.
 */
const readingLagBlocks = 20

/** Makes the scenario's nodes. `position` is the height up to which the service has scanned. */
export function createNodes(env: Environment, position: () => number): Nodes {
  const { scenario, random, chain } = env
  const list = scenario.nodes.map((plan, i) => createNode(env, plan, i + 1))
  const watched = () => [...env.shown.keys()]
  const seed = random.int(1, 2 ** 31)
  const falseChain = createFalseChain(chain, seed, watched, (kind) => env.count(`byzantine: ${kind}`), scenario.lies)
  const state: FaultState = { rewritten: null }
  return {
    list,
    advance: (payments) => advance(env, list, state, payments),
    recover(fault) {
      for (const node of list) {
        recoverNode(env, node)
        Object.assign(node.awayUntil, { rpc: 0, api: 0 })
        const next = fault === 'any' ? (node.fault ?? random.pick(byzantineFaults)) : fault
        setFault(env, node, node.plan.byzantine ? next : null)
      }
    },
    setAway(isAway) {
      const until = isAway ? Number.POSITIVE_INFINITY : 0
      for (const node of list) Object.assign(node.awayUntil, { rpc: until, api: until })
    },
    rewriteAll(branch) {
      state.rewritten = branch
      for (const node of list) node.fault = branch === null ? null : 'rewritten past'
    },
    viewOf: (node) => viewOf(env, node, falseChain, state.rewritten, position()),
  }
}

function createNode(env: Environment, plan: NodePlan, number: number): SimulatedNode {
  return {
    number,
    rpc: `https://node-${number}.test/jsonrpc`,
    api: `https://node-${number}.test`,
    plan,
    unmined: new Set(),
    requests: [],
    askedFor: { head: [], block: [], final: [], tail: [] },
    byCallers: 0,
    awayUntil: { rpc: 0, api: 0 },
    ...unlimitedOf(env, number),
    fork: null,
    fault: null,
    heldHeight: 0,
    falseTail: createFalseTail(env),
  }
}

/**
 * The chain that nodes with the fault `rewritten past` show in place of the true one; null if there
 * is none.
 */
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
  payments: readonly MinedPayment[],
): void {
  const { random, scenario } = env
  if (state.rewritten !== null) grow(env, state.rewritten, payments)
  for (const node of list) {
    if (node.fork === null) continue
    grow(env, node.fork, payments)
    // A correct node never calls a block of a fork final. So it leaves the fork before the fork's
    // first block would be final.
    if (node.fork.chain.tip().height - scenario.finalityLag >= node.fork.from - 1) leaveFork(env, node)
  }
  if (env.phase !== 'faults') return
  const drawn = random.chance(0.3) ? null : random.pick(byzantineFaults)
  const fault = scenario.lies === null ? drawn : 'false blocks'
  const changesFault = random.chance(0.15)
  for (const node of list) {
    if (random.chance(scenario.rates.change)) changeNode(env, node)
    else if (random.chance(0.15)) recoverNode(env, node)
    if (node.plan.byzantine && changesFault) setFault(env, node, fault)
    if (env.troubles.chance(scenario.troubles.node))
      beginTrouble(env, node, drawTrouble(env.troubles, node.plan.byzantine))
    if (node.fault === 'rewritten past') {
      state.rewritten ??= createBranch(env, env.finalized() + 1 - random.int(0, 3))
    }
  }
}

function viewOf(
  env: Environment,
  node: SimulatedNode,
  falseChain: ChainView,
  rewritten: Branch | null,
  position: number,
): { readonly view: NodeView; readonly fault: ByzantineFault | null } {
  const { scenario, random, isForked, count } = env
  const isFaulty = node.fault !== null && (isForked || random.chance(scenario.rates.byzantine))
  const fault = isFaulty ? node.fault : null
  if (fault !== null && fault !== 'false blocks') count(`byzantine: ${fault}`)
  const branch = (fault === 'rewritten past' ? rewritten : null) ?? node.fork
  const { chain, balances } = branch ?? env
  const backend = node.spread > 0 ? random.int(0, node.spread) : 0
  const held = fault === 'held-back head' ? env.chain.tip().height - node.heldHeight : 0
  const invented = node.falseTail.show(node)
  const newest = Math.min(invented?.tip().height ?? chain.tip().height, node.cutOffAt)
  const head = newest - Math.max(node.behind + backend, held)
  const final = Math.min(chain.tip().height, head) - scenario.finalityLag + node.aheadBy
  const decimals = scenario.decimalsDiffer ? 8 : 18
  const view: NodeView = {
    chain: withoutLacked(env, node.number, fault === 'false blocks' ? falseChain : (invented ?? chain)),
    head,
    finalized: fault === 'early finality' ? head : final,
    plan: node.plan,
    hasHistory: fault !== 'no history',
    keepsInternals: node.number <= scenario.keepers || fault === 'false blocks',
    logsMax: node.logsMax,
    balanceOf(address, contract) {
      const sum = balances.at(head, address, contract)
      const shown = sum < 0n ? 0n : sum // a fork can lack a payment that its address spends
      const isTrue = branch === null && fault !== 'false balances' && head >= position - readingLagBlocks
      const key = `${contract} ${address}`
      if (!isTrue) env.falseReadings.set(key, (env.falseReadings.get(key) ?? 0) + 1)
      if (fault !== 'false balances') return shown
      return random.pick([0n, shown / 2n, shown + 1n, shown + 500_000_000n])
    },
    decimals: new Map([
      [usdtAddress, fault === 'false decimals' ? 18 : 6],
      [fineToken, fault === 'false decimals' ? 26 - decimals : decimals],
    ]),
    unmined: node.unmined,
    broadcast: (transaction) => receiveBroadcast(env, node.number, transaction),
  }
  return { view, fault }
}

/** The ways in which a correct node can change. */
const changes: readonly (readonly [name: string, change: (random: Random) => Partial<SimulatedNode>])[] = [
  ['node lags', (random) => ({ behind: random.pick([1, 2, 5, 25]) })],
  ['node lags', (random) => ({ behind: random.pick([1, 2, 5, 25]) })],
  ['node switches backends', (random) => ({ spread: random.pick([1, 3, 25]) })],
  ['node limits batches', (random) => ({ callsMax: random.pick([1, 4, 10, 19]) })],
  ['node limits logs', (random) => ({ logsMax: random.int(1, 8) })],
  ['node limits replies', (random) => ({ replyMax: random.pick([4_000, 12_000, 40_000]) })],
  ['node refuses a question', (random) => ({ refuses: random.pick(methods) })],
]

function changeNode(env: Environment, node: SimulatedNode): void {
  const kind = env.random.int(-1, changes.length)
  const [name, change] = changes[kind] ?? (kind < 0 ? ['service of a node goes away'] : ['fork above finality'])
  env.count(name)
  if (change !== undefined) Object.assign(node, change(env.random))
  else if (kind < 0) goAway(env, node, env.random.pick([5_000, 30_000, 120_000]))
  else beginFork(env, node)
}

function goAway({ random, scheduler }: Environment, node: SimulatedNode, ms: number): void {
  const until = scheduler.now() + ms
  for (const service of random.pick([nodeServices, ['rpc'], ['api']] as const)) node.awayUntil[service] = until
}

function beginFork(env: Environment, node: SimulatedNode): void {
  const { random, scenario, chain } = env
  node.fork = createBranch(env, chain.tip().height - random.int(0, Math.min(3, scenario.finalityLag - 1)))
}

const methods = [
  'api',
  'api',
  'eth_getLogs',
  'eth_getBlockByNumber',
  'eth_getTransactionReceipt',
  'eth_getTransactionByHash',
  'eth_getBalance',
  'eth_call',
]

/**
 * Ends the faults and troubles of a node. A node that is away stays away, and a Byzantine fault
 * stays.
 */
function recoverNode(env: Environment, node: SimulatedNode): void {
  Object.assign(node, unlimitedOf(env, node.number))
  leaveFork(env, node)
}

/**
 * Takes a node off its fork. For this node, transactions that only the fork contained are in no
 * block from now on.
 */
function leaveFork({ chain }: Environment, node: SimulatedNode): void {
  const branch = node.fork
  node.fork = null
  for (const { txid } of branch?.chain.at(branch.from)?.transactions ?? []) {
    if (chain.blockOf(txid) === undefined) node.unmined.add(txid)
  }
}

/** Gives one node a lasting fault. The other nodes work. */
export function beginNodeFault(
  env: Environment,
  node: SimulatedNode,
  kind: Exclude<Storm['nodeFault'], 'byzantine'>,
): void {
  const { random } = env
  if (kind === 'away') goAway(env, node, 3_600_000)
  if (kind === 'refusal') node.refuses = random.pick(methods)
  if (kind === 'malformed') node.malformed = random.pick([0.3, 1])
  if (kind === 'glitch') node.glitches = random.pick([0.1, 0.5])
}

/** Gives a node a trouble (`node-troubles.ts`), which lasts until `recoverNode`. */
export function beginTrouble(env: Environment, node: SimulatedNode, name: TroubleName): void {
  env.count(`trouble: ${name}`)
  env.trace(() => `node ${node.number} begins: ${name}`)
  Object.assign(node, beginningOf(name, env.troubles, env.chain.tip().height))
}
