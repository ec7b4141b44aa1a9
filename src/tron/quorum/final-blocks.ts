import type { Block, BlockHeight, Txid } from '../../chain/block.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { readBlocksMax, receiptsMax } from '../../chain/limits.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { blockCall, logsCall, parseResult, queryFinal, readBlockLogs, readNodeReceipts } from '../calls.ts'
import { createNodeSelector, firstAnswer } from '../nodes/failover.ts'
import { alarmIsDue } from '../nodes/health.ts'
import { type NodeError, nodeError } from '../nodes/node-error.ts'
import { type ParsedBlock, parseBlock } from '../parse/block.ts'
import type { NodePool, TronNode } from '../transport/batch.ts'
import { collectVotes, reportDisagreement } from './agreement.ts'
import { confirmBlocks, type Mismatch } from './confirm-blocks.ts'

/**
 * Final blocks from one node that `quorum` − 1 others confirm. Where the others contradict it, one of them is asked
 * for the blocks instead: with one liar among `quorum` + 1 nodes the honest ones still find each other, and no node
 * wins alone.
 */
export async function readFinalBlocks(
  pool: NodePool,
  from: BlockHeight,
  to: BlockHeight,
): ChainResult<readonly Block[]> {
  if (to < from || to - from >= readBlocksMax) return err({ kind: 'no-answer', why: `blocks ${from} to ${to}` })
  let order = pool.nodes
  const contradicted = new Set<TronNode>()
  const disputes: Dispute[] = []
  for (;;) {
    const read = await firstAnswer(createNodeSelector(pool, 'money', order), (node) => readFinal(pool, node, from, to))
    if (!read.ok) return contradicted.size > 0 ? held() : read
    const { node, value: bodies } = read.value
    const others = pool.nodes.filter((other) => other !== node && !contradicted.has(other))
    const turns = createNodeSelector(pool, 'money', others)
    const voices = await collectVotes(
      turns,
      (other) => confirmBlocks(pool, other, node, bodies),
      (heard) => pool.quorum - 1 - heard.filter(({ value }) => value === null).length,
    )
    const agreeing = voices.filter(({ value }) => value === null).map((voice) => voice.node)
    const dissent = voices.flatMap((voice) => (voice.value === null ? [] : [{ node: voice.node, said: voice.value }]))
    const isAgreed = agreeing.length >= pool.quorum - 1
    disputes.push(...dissent.map(({ node: witness, said }) => ({ reader: node, witness, said })))
    if (isAgreed) {
      report(pool, disputes, [node, ...agreeing])
      return ok(bodies.map(({ indexes: _, ...block }) => block))
    }
    if (dissent.length === 0 && contradicted.size === 0) return err(turns.failure())
    contradicted.add(node)
    order = dissent.map((one) => one.node)
    if (order.length === 0 || pool.nodes.length - contradicted.size < pool.quorum) return held()
  }

  function held() {
    report(pool, disputes, [])
    return err({ kind: 'disagreement', about: `blocks ${from} to ${to}` } as const)
  }
}

/** A witness that contradicted the node which gave the blocks. */
interface Dispute {
  readonly reader: TronNode
  readonly witness: TronNode
  readonly said: Mismatch
}

/** Writes what was disputed. Of the two in a dispute, the one that a quorum agrees with is right. */
function report(pool: NodePool, disputes: readonly Dispute[], agreed: readonly TronNode[]): void {
  for (const { reader, witness, said } of disputes) {
    const mine = { node: reader, spelt: said.mine }
    const theirs = { node: witness, spelt: said.theirs }
    const [right, wrong] = agreed.includes(witness) ? [theirs, mine] : [mine, theirs]
    const nodes = agreed.length > 0 ? agreed : [right.node]
    reportDisagreement(pool, said.about, { nodes, spelt: right.spelt }, [wrong], agreed.length > 0)
  }
}

/** A block with its logs and the places of its transactions. */
export type BlockReading = ParsedBlock & Block

/** Blocks and all of their logs from one node: two requests. Each block is the parent of the next. */
async function readFinal(
  pool: NodePool,
  node: TronNode,
  from: BlockHeight,
  to: BlockHeight,
): Promise<Result<readonly BlockReading[], NodeError>> {
  const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const heard = await queryFinal(
    pool,
    node,
    to,
    heights.map((height) => blockCall(height, true)),
  )
  if (!heard.ok) return heard
  const bodies: ParsedBlock[] = []
  for (const [i, height] of heights.entries()) {
    const body = parseResult(heard.value.replies[i], `block ${height}`, (value) => parseBlock(value, height))
    if (!body.ok) return body
    const parent = bodies.at(-1)
    if (parent !== undefined && body.value.parentHash !== parent.hash) {
      return err(nodeError('bad-answer', `block ${height} does not follow the one before it`))
    }
    bodies.push(body.value)
  }
  const { finalized } = heard.value
  const same = bodies.find((body) => body.height === finalized.height)
  if (same !== undefined && same.hash !== finalized.hash) {
    return err(nodeError('bad-answer', `block ${same.height} is not the finalized head of that height`))
  }
  const readings = await addLogs(pool, node, bodies, to)
  if (!readings.ok) return readings
  const hidden = await findHiddenLogs(pool, node, readings.value)
  return hidden === null ? readings : err(hidden)
}

async function addLogs(
  pool: NodePool,
  node: TronNode,
  bodies: readonly ParsedBlock[],
  to: BlockHeight,
): Promise<Result<readonly BlockReading[], NodeError>> {
  const heard = await queryFinal(
    pool,
    node,
    to,
    bodies.map(({ hash }) => logsCall(hash)),
  )
  if (!heard.ok) return heard
  const readings: BlockReading[] = []
  for (const [i, body] of bodies.entries()) {
    const logs = await readBlockLogs(pool, node, body, heard.value.replies[i])
    if (!logs.ok) return logs
    readings.push({ ...body, logs: logs.value })
  }
  return ok(readings)
}

/**
 * A block that calls accepted tokens and yet has no log at all is either full of failures or a silent `[]` (7.4). The
 * receipts of those calls tell: on a busy network this costs nothing, as every block has logs.
 */
async function findHiddenLogs(
  pool: NodePool,
  node: TronNode,
  blocks: readonly BlockReading[],
): Promise<NodeError | null> {
  const suspects: Txid[] = []
  let height = blocks[0]?.height
  for (const block of blocks) {
    if (block.logs.length > 0) continue
    for (const { txid, to } of block.transactions) {
      if (to === null || !pool.tokens.has(to) || suspects.length >= receiptsMax) continue
      suspects.push(txid)
      height = block.height
    }
  }
  if (suspects.length === 0 || height === undefined) return null
  const receipts = await readNodeReceipts(pool, node, suspects, height)
  if (!receipts.ok) return receipts.error
  const hiding = [...receipts.value.values()].find(({ logs }) => logs.length > 0)
  if (hiding === undefined) return null
  if (alarmIsDue(pool.health, `hidden logs ${node.number}`, pool.budget.clock)) {
    const why = 'a receipt has logs that its block does not show'
    pool.log.alarm('node-lies', { node: node.number, why, height: hiding.block.height, txid: hiding.txid })
  }
  return nodeError('bad-answer', `block ${hiding.block.height} hides logs`)
}
