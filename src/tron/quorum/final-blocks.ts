import type { Block, BlockHeight, Txid } from '../../chain/block.ts'
import { readBlocksMax, receiptsMax } from '../../scan/limits.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { Answer } from '../../chain/chain.ts'
import { collect, reportDissent } from './agreement.ts'
import { askFinal, blockCall, logsCall, logsOf, parsed, receiptsFrom } from '../calls.ts'
import { alarmIsDue } from '../nodes/health.ts'
import type { Pool, PoolNode } from '../transport/batch.ts'
import { type Body, readBody } from '../parse/block.ts'
import { type Trouble, trouble } from '../nodes/node-error.ts'
import { createTurns, first } from '../nodes/failover.ts'
import { type Testimony, testify } from './confirm-blocks.ts'

/**
 * Final blocks from one node that `quorum` − 1 others confirm. Where the others contradict it, one of them is asked
 * for the blocks instead: with one liar among `quorum` + 1 nodes the honest ones still find each other, and no node
 * wins alone.
 */
export async function finalizedBlocks(pool: Pool, from: BlockHeight, to: BlockHeight): Answer<readonly Block[]> {
  if (to < from || to - from >= readBlocksMax) return err({ kind: 'no-answer', why: `blocks ${from} to ${to}` })
  let order = pool.nodes
  const contradicted = new Set<PoolNode>()
  const disputes: Dispute[] = []
  for (;;) {
    const read = await first(createTurns(pool, 'money', order), (node) => readFinal(pool, node, from, to))
    if (!read.ok) return contradicted.size > 0 ? held() : read
    const { node, value: bodies } = read.value
    const others = pool.nodes.filter((other) => other !== node && !contradicted.has(other))
    const turns = createTurns(pool, 'money', others)
    const voices = await collect(
      turns,
      (other) => testify(pool, other, node, bodies),
      (heard) => pool.quorum - 1 - heard.filter(({ value }) => value === null).length,
    )
    const agreeing = voices.filter(({ value }) => value === null).map((voice) => voice.node)
    const dissent = voices.flatMap((voice) => (voice.value === null ? [] : [{ node: voice.node, said: voice.value }]))
    const isAgreed = agreeing.length >= pool.quorum - 1
    disputes.push(...dissent.map(({ node: witness, said }) => ({ reader: node, witness, said })))
    if (isAgreed) {
      report(pool, disputes, [node, ...agreeing])
      return ok(bodies.map(({ places: _, ...block }) => block))
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
  readonly reader: PoolNode
  readonly witness: PoolNode
  readonly said: Testimony
}

/** Writes what was disputed. Of the two in a dispute, the one that a quorum agrees with is right. */
function report(pool: Pool, disputes: readonly Dispute[], agreed: readonly PoolNode[]): void {
  for (const { reader, witness, said } of disputes) {
    const mine = { node: reader, spelt: said.mine }
    const theirs = { node: witness, spelt: said.theirs }
    const [right, wrong] = agreed.includes(witness) ? [theirs, mine] : [mine, theirs]
    const nodes = agreed.length > 0 ? agreed : [right.node]
    reportDissent(pool, said.about, { nodes, spelt: right.spelt }, [wrong], agreed.length > 0)
  }
}

/** A block with its logs and the places of its transactions. */
export type Reading = Body & Block

/** Blocks and all of their logs from one node: two requests. Each block is the parent of the next. */
async function readFinal(
  pool: Pool,
  node: PoolNode,
  from: BlockHeight,
  to: BlockHeight,
): Promise<Result<readonly Reading[], Trouble>> {
  const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const heard = await askFinal(
    pool,
    node,
    to,
    heights.map((height) => blockCall(height, true)),
  )
  if (!heard.ok) return heard
  const bodies: Body[] = []
  for (const [i, height] of heights.entries()) {
    const body = parsed(heard.value.replies[i], `block ${height}`, (value) => readBody(value, height))
    if (!body.ok) return body
    const parent = bodies.at(-1)
    if (parent !== undefined && body.value.parentHash !== parent.hash) {
      return err(trouble('bad-answer', `block ${height} does not follow the one before it`))
    }
    bodies.push(body.value)
  }
  const { finalized } = heard.value
  const same = bodies.find((body) => body.height === finalized.height)
  if (same !== undefined && same.hash !== finalized.hash) {
    return err(trouble('bad-answer', `block ${same.height} is not the finalized head of that height`))
  }
  const readings = await addLogs(pool, node, bodies, to)
  if (!readings.ok) return readings
  const hidden = await findHiddenLogs(pool, node, readings.value)
  return hidden === null ? readings : err(hidden)
}

async function addLogs(
  pool: Pool,
  node: PoolNode,
  bodies: readonly Body[],
  to: BlockHeight,
): Promise<Result<readonly Reading[], Trouble>> {
  const heard = await askFinal(
    pool,
    node,
    to,
    bodies.map(({ hash }) => logsCall(hash)),
  )
  if (!heard.ok) return heard
  const readings: Reading[] = []
  for (const [i, body] of bodies.entries()) {
    const logs = await logsOf(pool, node, body, heard.value.replies[i])
    if (!logs.ok) return logs
    readings.push({ ...body, logs: logs.value })
  }
  return ok(readings)
}

/**
 * A block that calls accepted tokens and yet has no log at all is either full of failures or a silent `[]` (7.4). The
 * receipts of those calls tell: on a busy network this costs nothing, as every block has logs.
 */
async function findHiddenLogs(pool: Pool, node: PoolNode, blocks: readonly Reading[]): Promise<Trouble | null> {
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
  const receipts = await receiptsFrom(pool, node, suspects, height)
  if (!receipts.ok) return receipts.error
  const hiding = [...receipts.value.values()].find(({ logs }) => logs.length > 0)
  if (hiding === undefined) return null
  if (alarmIsDue(pool.memory, `hidden logs ${node.number}`, pool.line.clock)) {
    const why = 'a receipt has logs that its block does not show'
    pool.log.alarm('node-lies', { node: node.number, why, height: hiding.block.height, txid: hiding.txid })
  }
  return trouble('bad-answer', `block ${hiding.block.height} hides logs`)
}
