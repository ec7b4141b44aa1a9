import { createBranch } from './branches.ts'
import type { Environment } from './environment.ts'
import type { Storm } from './scenario.ts'
import { type SimulatedNode, unlimited } from './simulated-node.ts'

/** Changes a node in any way in which a correct one can change. */
export function changeNode(env: Environment, node: SimulatedNode): void {
  const { random, scheduler, scenario, chain } = env
  switch (random.int(1, 9)) {
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
      return
    case 7:
      node.scripted.logsMax = random.int(1, 8)
      env.count('node limits logs')
      return
    case 8:
      node.replyMax = random.pick([4_000, 12_000, 40_000])
      env.count('node limits replies')
      return
    case 9:
      refuseQuestion(env, node)
  }
}

/** Ends all that `changeNode` and `beginNodeFault` have begun, except for an absence. */
export function recoverNode(env: Environment, node: SimulatedNode): void {
  node.scripted.behind = 0
  node.spread = 0
  node.scripted.logsMax = 10_000
  Object.assign(node, unlimited)
  leaveFork(env, node)
}

/** A transaction that only the fork has returns to those that are in no block. */
export function leaveFork({ chain }: Environment, node: SimulatedNode): void {
  const branch = node.fork
  node.fork = null
  for (const { txid, wire } of branch?.chain.at(branch.from)?.transactions ?? []) {
    if (chain.transaction(txid) !== undefined) continue
    node.scripted.unmined.set(txid, { ...wire, blockHash: '0x', blockNumber: '0x', transactionIndex: '0x' })
  }
}

const methods = [
  'eth_getLogs',
  'eth_getLogs',
  'eth_getBlockByNumber',
  'eth_getTransactionReceipt',
  'eth_getTransactionByHash',
  'eth_getBalance',
  'eth_call',
]

function refuseQuestion({ random, count }: Environment, node: SimulatedNode): void {
  node.refuses = random.pick(methods)
  count('node refuses a question')
}

/** Gives a node one fault that lasts, while the others work. */
export function beginNodeFault(
  env: Environment,
  node: SimulatedNode,
  kind: Exclude<Storm['nodeFault'], 'byzantine'>,
): void {
  const { scheduler, random } = env
  if (kind === 'away') node.awayUntil = scheduler.now() + 3_600_000
  if (kind === 'refusal') refuseQuestion(env, node)
  if (kind === 'malformed') node.malformed = random.pick([0.3, 1])
  if (kind === 'glitch') node.glitches = random.pick([0.1, 0.5])
}
