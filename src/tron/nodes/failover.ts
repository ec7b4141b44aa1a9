import type { ChainResult } from '../../chain/chain.ts'
import type { ChainFailure } from '../../chain/failure.ts'
import { err, type Result } from '../../common/result.ts'
import { attemptsMax, waitMsMax } from '../limits.ts'
import type { NodePool, TronNode } from '../transport/batch.ts'
import { alarmIsDue, type CircuitState, recordError, recordSuccess } from './health.ts'
import { type NodeError, nodeError } from './node-error.ts'
import { probedFacts } from './probe.ts'

/**
 * What a node must be able to do. `money`: finalized blocks and history. `chain`: be of this chain by its block 0.
 * `word`: its word is not relied on, or each batch shows the chain id, so no probe is needed. `api`: its HTTP API.
 */
export type NodeRequirement = 'money' | 'chain' | 'word' | 'api'

/** The nodes that can still be asked one question, best first. */
export interface NodeSelector {
  /** The next node to ask, probed where that is due, or null where none is left. Waits for one that rests briefly. */
  next(): Promise<TronNode | null>
  /** Asks a node that `next` gave, and remembers how it went. */
  query<T>(node: TronNode, question: (node: TronNode) => Promise<Result<T, NodeError>>): Promise<Result<T, NodeError>>
  /** Why the nodes that did not answer did not. */
  failure(): ChainFailure
  /** Whether a node that was asked failed to answer. */
  failed(): boolean
}

/** Turns for one question, among `nodes` in order of preference. */
export function createNodeSelector(
  pool: NodePool,
  need: NodeRequirement,
  nodes: readonly TronNode[] = pool.nodes,
): NodeSelector {
  const { clock, deadline } = pool.budget
  const service = need === 'api' ? 'api' : 'rpc'
  const strainOf = (node: TronNode): CircuitState => node.health[service]
  const attempts = new Map<TronNode, number>()
  const done = new Set<TronNode>()
  const busy = new Set<TronNode>()
  const whys = new Map<TronNode, NodeError>()

  const rank = ({ health: state }: TronNode) =>
    (state.suspectUntil > clock.now() ? 4 : 0) + (state.lagUntil > clock.now() ? 2 : 0) + (state.callsMax === 1 ? 1 : 0)

  async function next(): Promise<TronNode | null> {
    for (;;) {
      if (clock.now() >= deadline) return null
      const open = nodes.filter((node) => isOpen(node))
      const rested = open.filter((node) => strainOf(node).restUntil <= clock.now())
      const [best] = rested.sort((a, b) => triesOf(a) - triesOf(b) || rank(a) - rank(b))
      if (best !== undefined) {
        busy.add(best)
        attempts.set(best, triesOf(best) + 1)
        if (await isFit(best)) return best
        busy.delete(best)
        continue
      }
      const soonest = Math.min(...open.map((node) => strainOf(node).restUntil))
      if (soonest - clock.now() > waitMsMax || soonest >= deadline) return null
      await clock.sleep(Math.ceil(soonest - clock.now()))
    }
  }

  const triesOf = (node: TronNode) => attempts.get(node) ?? 0

  function isOpen(node: TronNode): boolean {
    if (done.has(node) || busy.has(node) || triesOf(node) >= attemptsMax) return false
    return node.health.bannedUntil <= clock.now()
  }

  async function isFit(node: TronNode): Promise<boolean> {
    if (need === 'word' || need === 'api') return true
    const facts = await probedFacts(pool, node)
    if (!facts.ok) return note(node, facts.error)
    if (need === 'chain' || (facts.value.finalized && facts.value.history)) return true
    done.add(node)
    whys.set(node, nodeError('unfit', facts.value.finalized ? 'no history' : 'no finalized blocks'))
    return false
  }

  function note(node: TronNode, why: NodeError): false {
    whys.set(node, why)
    recordError(node.health, service, why, clock)
    if (['behind', 'unfit', 'wrong-chain', 'out-of-budget'].includes(why.kind)) done.add(node)
    if (why.kind === 'wrong-chain' && alarmIsDue(pool.health, `wrong-chain ${node.number}`, clock)) {
      pool.log.alarm('node-lies', { node: node.number, why: why.detail })
    } else if (why.kind !== 'out-of-budget') {
      pool.log.warn('node-trouble', { node: node.number, kind: why.kind, why: why.detail })
    }
    return false
  }

  return {
    next,
    async query(node, question) {
      const result = await question(node)
      busy.delete(node)
      if (result.ok) {
        done.add(node)
        whys.delete(node)
        recordSuccess(strainOf(node))
      } else note(node, result.error)
      return result
    },
    failed: () => whys.size > 0,
    failure() {
      const spent = clock.now() >= deadline || [...whys.values()].some(({ kind }) => kind === 'out-of-budget')
      if (spent) return { kind: 'out-of-budget' }
      const said = nodes.map((node) => `node ${node.number}: ${reason(node)}`)
      return { kind: 'no-answer', why: said.join('; ') || 'no node' }
    },
  }

  function reason(node: TronNode): string {
    if (node.health.bannedUntil > clock.now()) return 'another chain'
    return whys.get(node)?.detail ?? (done.has(node) ? 'answered' : 'resting')
  }
}

/** The first answer that any node gives. */
export async function firstAnswer<T>(
  turns: NodeSelector,
  question: (node: TronNode) => Promise<Result<T, NodeError>>,
): ChainResult<{ readonly node: TronNode; readonly value: T }> {
  for (;;) {
    const node = await turns.next()
    if (node === null) return err(turns.failure())
    const answer = await turns.query(node, question)
    if (answer.ok) return { ok: true, value: { node, value: answer.value } }
  }
}
