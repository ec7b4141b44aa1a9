import { type BuiltBlock, type BuiltChain, usdt } from '../support/chain-builder.ts'
import { createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import { withoutFailedLogs } from './altered-chain.ts'
import { createLiesAbout } from './lies.ts'
import { drawPayment, type Payment } from './payments.ts'
import { fineToken } from './scenario.ts'
import type { World } from './world.ts'

/** How a liar lies, for a while. Colluding liars lie in one way at one time. */
export type Deceit =
  /** True hashes, false contents. */
  | 'false blocks'
  /** Another chain below the finalized head. */
  | 'rewritten past'
  /** Blocks called final that are not, of a fork where it is on one. */
  | 'early finality'
  /** `[]` for all logs, null for all receipts. */
  | 'no history'
  | 'false decimals'
  | 'unknown transactions'

const deceits: readonly Deceit[] = [
  'false blocks',
  'false blocks',
  'false blocks',
  'rewritten past',
  'early finality',
  'no history',
  'false decimals',
  'unknown transactions',
]

/** A node in the world. */
export interface SimNode {
  readonly number: number
  readonly rpc: string
  readonly api: string | null
  readonly liar: boolean
  readonly keepsFailedLogs: boolean
  readonly scripted: ScriptedNode
  /** How many blocks the backends behind its address are apart. */
  spread: number
  /** Until when no request gets through. */
  awayUntil: number
  /** Calls that one of its batches may hold. */
  callsMax: number
  /** The fork it is on, which shares the blocks below `from` with the chain that stays. */
  fork: { readonly chain: BuiltChain; readonly from: number } | null
  deceit: Deceit | null
}

/** The nodes and what becomes of them with time. */
export interface Nodes {
  readonly list: readonly SimNode[]
  /** To be called after each block: nodes lag, fork, return, go away, begin to lie. */
  live(payments: readonly Payment[]): void
  /** Every node is there and sees the whole chain; with `allTruthful` none lies any more. */
  heal(allTruthful: boolean): void
  /** Sets up the node's view for one request. */
  look(node: SimNode): void
}

/** The scenario's nodes. */
export function createNodes(world: World): Nodes {
  const { scenario, random, chain } = world
  const watched = () => [...world.shown.keys()]
  const lies = createLiesAbout(chain, random.int(1, 2 ** 31), watched, (lie) => world.count(`lie: ${lie}`))
  let rewritten: BuiltChain | null = null
  const list = scenario.nodes.map(({ liar, hasApi, keepsFailedLogs }, i): SimNode => {
    const scripted = createScriptedNode(chain)
    scripted.finalityLag = scenario.finalityLag
    return {
      number: i + 1,
      rpc: `https://node-${i + 1}.test/jsonrpc`,
      api: hasApi ? `https://node-${i + 1}.test` : null,
      liar,
      keepsFailedLogs,
      scripted,
      spread: 0,
      awayUntil: 0,
      callsMax: Number.POSITIVE_INFINITY,
      fork: null,
      deceit: null,
    }
  })

  /** Blocks of a branch that does not stay: some payments are in it too, others are in it alone. */
  const grow = (branch: BuiltChain, payments: readonly Payment[]): BuiltBlock => {
    const parties = { shown: [...world.shown.keys()], unshown: [] }
    const kept = payments.filter(() => random.chance(0.6))
    return branch.add([...kept, ...(random.chance(0.5) ? [drawPayment(random, parties)] : [])].map(({ spec }) => spec))
  }

  const change = (node: SimNode) => {
    switch (random.int(1, 6)) {
      case 1:
      case 2:
        node.scripted.behind = random.pick([1, 2, 5, 25])
        world.count('node lags')
        return
      case 3:
        node.spread = random.pick([1, 3, 25])
        world.count('node jumps back and forth')
        return
      case 4:
        node.awayUntil = world.scheduler.now() + random.pick([5_000, 30_000, 120_000])
        world.count('node goes away')
        return
      case 5:
        node.callsMax = random.pick([1, 4, 10, 19])
        world.count('node limits batches')
        return
      case 6: {
        const from = chain.tip().height - random.int(0, Math.min(3, scenario.finalityLag - 1))
        const branch = chain.fork(from - 1)
        while (branch.tip().height < chain.tip().height) grow(branch, [])
        node.fork = { chain: branch, from }
        world.count('fork above finality')
      }
    }
  }

  const recover = (node: SimNode) => {
    node.scripted.behind = 0
    node.spread = 0
    node.callsMax = Number.POSITIVE_INFINITY
    leaveFork(node)
  }

  const leaveFork = (node: SimNode) => {
    const branch = node.fork
    node.fork = null
    if (branch === null) return
    // What only the fork held is a transaction that waits to be mined again.
    const orphans = branch.chain.at(branch.from)?.transactions ?? []
    for (const { txid, wire } of orphans) {
      if (chain.transaction(txid) !== undefined) continue
      node.scripted.unmined.set(txid, { ...wire, blockHash: '0x', blockNumber: '0x', transactionIndex: '0x' })
    }
  }

  return {
    list,
    live(payments) {
      if (rewritten !== null) grow(rewritten, payments)
      const deceit = random.chance(0.3) ? null : random.pick(deceits)
      const changesDeceit = random.chance(0.15)
      for (const node of list) {
        if (node.fork !== null) {
          grow(node.fork.chain, payments)
          // No honest node ever finds a block final that does not stay.
          if (node.fork.chain.tip().height - scenario.finalityLag >= node.fork.from - 1) leaveFork(node)
        }
        if (random.chance(scenario.rates.change)) change(node)
        else if (random.chance(0.15)) recover(node)
        if (node.liar && changesDeceit) node.deceit = deceit
        if (node.deceit === 'rewritten past' && rewritten === null) {
          rewritten = chain.fork(world.finalized() - random.int(0, 3))
          while (rewritten.tip().height < chain.tip().height) grow(rewritten, [])
        }
      }
    },
    heal(allTruthful) {
      for (const node of list) {
        recover(node)
        node.awayUntil = 0
        node.deceit = node.liar && !allTruthful ? (node.deceit ?? random.pick(deceits)) : null
      }
    },
    look(node) {
      const { scripted } = node
      const deceit = node.deceit !== null && random.chance(scenario.rates.lie) ? node.deceit : null
      const own = node.fork?.chain ?? chain
      scripted.chain = node.keepsFailedLogs ? own : withoutFailedLogs(own)
      scripted.finalityLag = scenario.finalityLag
      scripted.keepsHistory = true
      scripted.decimals.set(usdt, 6).set(fineToken, scenario.decimalsDiffer ? 8 : 18)
      if (deceit !== null && deceit !== 'false blocks') world.count(`lie: ${deceit}`)
      switch (deceit) {
        case 'false blocks':
          scripted.chain = lies
          return
        case 'rewritten past':
          scripted.chain = rewritten ?? chain
          return
        case 'early finality':
          scripted.finalityLag = 0
          return
        case 'no history':
          scripted.keepsHistory = false
          return
        case 'false decimals':
          scripted.decimals.set(usdt, 18).set(fineToken, scenario.decimalsDiffer ? 18 : 8)
          return
        case 'unknown transactions':
        case null:
      }
    },
  }
}
