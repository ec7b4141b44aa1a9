import { blockSeconds, type Header } from '../chain/block.ts'
import type { AgreedHead } from '../chain/chain.ts'
import { finalityMs } from '../chain/finality.ts'
import { nodeQuestions, nodeStates } from '../common/node-states.ts'
import type { UnixMs } from '../common/time.ts'
import type { Fault, Observation } from '../platform/observation.ts'
import type { Answers } from './agreement.ts'
import { headAgeMsMax, headLagBlocksMax, troubleAlarmMs } from './limits.ts'
import { demote, earlierOf, fieldsOf, labelOf, noteTrouble, type Pool, type Session, type TronNode } from './node.ts'
import type { NodeErrorKind } from './node-errors.ts'
import { forgetOldFailures } from './node-health.ts'

/** The finalized head of a node, and when it was received. */
export type NodeHead = Header & { readonly at: UnixMs }
/** The heads of the asked nodes that answered, and the errors of those that did not. */
export type Heads = Answers<NodeHead>

/** Whether a head is so old that the node is behind, or the chain makes no final blocks. */
export const isOld = ({ timestamp }: NodeHead, now: number) => now - timestamp > headAgeMsMax

/**
 * Kinds of errors for which `watchHeads` does not name a node: they are not the node's fault, or
 * have alarms of their own.
 */
const otherTroubles: ReadonlySet<NodeErrorKind> = new Set(['limited', 'out-of-time', 'unfit', 'wrong-chain'])

/**
 * Notes the heads of the asked nodes in the memory of the nodes. Returns the nodes that are behind
 * the newest head, or show none.
 */
export function watchHeads({ pool }: Session, heads: Heads): AgreedHead['behind'] {
  const invented = findInvented(pool, heads)
  const answers = heads.answers.filter((one) => !invented.includes(one))
  for (const { node, value } of heads.answers) node.telemetry.head = value
  const late = findLate(pool, answers)
  const silent = [...heads.errors].filter(([, { kind }]) => !otherTroubles.has(kind))
  const without = silent.filter(([, { kind }]) => kind === 'behind')
  const behind = [...late, ...without.map(([node]) => ({ node, height: null, since: pool.clock.now() }))]
  noteBehind(pool, behind, answers)
  const isBehind = new Set(behind.map(({ node }) => node))
  noteCaughtUp(answers.flatMap(({ node }) => (isBehind.has(node) ? [] : [node])))
  for (const node of pool.nodes) {
    forgetOldFailures(node, pool.clock.now())
    noteTrouble(pool, node)
  }
  pool.remember()
  return [
    ...late.map(({ node, height }) => ({ node, height })),
    ...silent.map(([node]) => ({ node, height: null })),
  ].map(({ node, height }) => ({ node: labelOf(node), height }))
}

/**
 * A node whose head is behind, and since when. `height` is the height of that head; null if the
 * node has no head yet.
 */
interface Late {
  readonly node: TronNode
  readonly height: AgreedHead['behind'][number]['height']
  readonly since: UnixMs
}

/**
 * The nodes whose heads are behind. A node may not have been asked for a while, so it counts as
 * behind for as long as its newest block is older than the newest block of another node.
 */
function findLate({ clock }: Pool, answers: Heads['answers']): readonly Late[] {
  const now = clock.now()
  const newest = Math.max(...answers.map(({ value }) => value.height))
  const newestTime = Math.max(...answers.map(({ value }) => value.timestamp))
  const someIsNew = answers.some(({ value }) => !isOld(value, now))
  return answers.flatMap(({ node, value }) => {
    const { height, timestamp } = value
    const isBehind = newest - height > headLagBlocksMax || (isOld(value, now) && someIsNew)
    const since = (now - (newestTime - timestamp)) as UnixMs // safe: now or earlier
    return isBehind ? [{ node, height, since }] : []
  })
}

function noteBehind({ clock }: Pool, behind: readonly Late[], answers: Heads['answers']): void {
  const newest = answers.length > 0 ? Math.max(...answers.map(({ value }) => value.height)) : null
  for (const { node, height, since } of behind) {
    node.behindSince = earlierOf(node.behindSince, since)
    node.caughtUp = 0
    node.late = { at: clock.now(), height, newest }
  }
}

/**
 * A node whose alarm is raised has caught up after this many heads in a row: one that shows an old
 * head at each second question stays behind.
 */
const caughtUpMin = 3

function noteCaughtUp(caughtUp: readonly TronNode[]): void {
  for (const node of caughtUp) {
    if (node.behindSince === null) continue
    node.caughtUp += 1
    const isRaised = findBehind(node).length > 0
    if (!isRaised || node.caughtUp >= caughtUpMin)
      Object.assign(node, { behindSince: null, late: null, lacksPeers: false })
  }
}

/**
 * The nodes that have been behind, or have failed at a question, for three minutes. Only the memory
 * of the nodes knows it, so the alarms follow that memory at each tick, whoever raised them.
 */
export async function observeNodes({ nodes, ready }: Pool): Promise<Observation> {
  await ready
  const faults = nodes.flatMap((node) => [...findBehind(node), ...findFailing(node)])
  return { kinds: ['node-behind', 'node-failing'], faults }
}

/**
 * Time alone proves nothing: what counts is how long the node had been behind when it last showed
 * so.
 */
function findBehind(node: TronNode): readonly Fault[] {
  const { number, behindSince, lacksPeers, late } = node
  if (behindSince === null || late === null || late.at - behindSince < troubleAlarmMs) return []
  const { height, newest } = late
  const seconds = Math.floor((late.at - behindSince) / 1000)
  const { word } = nodeStates[lacksPeers ? 'no-peers' : 'behind']
  const fields = { ...fieldsOf(node), state: word, height, newest, seconds }
  return [{ kind: 'node-behind', subject: { node: number }, fields }]
}

function findFailing(node: TronNode): readonly Fault[] {
  return nodeQuestions.flatMap((question): readonly Fault[] => {
    const { since, failure } = node.health[question]
    if (since === null || failure === null || failure.at - since < troubleAlarmMs) return []
    const seconds = Math.floor((failure.at - since) / 1000)
    const { word } = nodeStates[failure.state]
    const fields = { ...fieldsOf(node), question, state: word, seconds, why: failure.why }
    return [{ kind: 'node-failing', subject: { node: node.number, question }, fields }]
  })
}

/**
 * Finds heads that are far above the `quorum`-th highest one and newer than finality allows. They
 * raise an alarm and are ignored. Otherwise a node that invents a head would make all correct nodes
 * look behind.
 */
function findInvented({ quorum, clock, raiseAlarm }: Pool, { answers }: Heads): Heads['answers'] {
  const known = answers.map(({ value }) => value).sort((a, b) => b.height - a.height)[quorum - 1]
  // if no more nodes than a quorum have answered, nobody knows which one is right
  if (known === undefined || answers.length <= quorum) return []
  const blocksSince = Math.max(clock.now() - known.timestamp - finalityMs, 0) / (blockSeconds * 1000)
  const invented = answers.filter(({ value }) => value.height - known.height > headLagBlocksMax + blocksSince)
  for (const { node, value } of invented) {
    demote(node, clock)
    const why = `final block ${value.height} is newer than finality allows: others have ${known.height}`
    raiseAlarm('node-lies', { node: node.number }, { ...fieldsOf(node), why })
  }
  return invented
}
