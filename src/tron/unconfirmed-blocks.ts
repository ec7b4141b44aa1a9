import type { Block, BlockHeight } from '../chain/block.ts'
import type { ChainResult, UnconfirmedBlocks } from '../chain/chain.ts'
import { ok, type Result } from '../common/result.ts'
import { blockCall, logsCall, parseResult, requireResult } from './calls.ts'
import { unconfirmedBatchBlocks, unconfirmedBatchesMax } from './limits.ts'
import { createNodeSelector, firstAnswer } from './nodes/failover.ts'
import type { NodeError } from './nodes/node-error.ts'
import { type ParsedBlock, parseBlock, parseHeader, parseLogs } from './parse/block.ts'
import { type NodePool, queryNode, type TronNode } from './transport/batch.ts'
import type { RpcCall } from './transport/json-rpc.ts'

/** The blocks after `after` as one node sees them: those that follow each other, up to the first doubt. */
export async function readUnconfirmedBlocks(pool: NodePool, after: BlockHeight): ChainResult<UnconfirmedBlocks> {
  const answer = await firstAnswer(createNodeSelector(pool, 'chain'), (node) => tailOf(pool, node, after))
  return answer.ok ? ok(answer.value.value) : answer
}

async function tailOf(
  pool: NodePool,
  node: TronNode,
  after: BlockHeight,
): Promise<Result<UnconfirmedBlocks, NodeError>> {
  let latest = after
  const blocks: Block[] = []
  for (let round = 0; round < unconfirmedBatchesMax; round++) {
    const above = blocks.at(-1)?.height ?? after
    const read = await tailRound(pool, node, above)
    if (!read.ok) return read
    latest = read.value.latest
    const [first] = read.value.blocks
    const follows = first === undefined || blocks.length === 0 || first.parentHash === blocks.at(-1)?.hash
    if (follows) blocks.push(...read.value.blocks)
    if (!follows || read.value.blocks.length < unconfirmedBatchBlocks || (blocks.at(-1)?.height ?? latest) >= latest)
      break
  }
  return ok({ latest, blocks })
}

/** The blocks that fit one batch behind the chain id and the newest header, and their logs in a second one. */
async function tailRound(
  pool: NodePool,
  node: TronNode,
  after: BlockHeight,
): Promise<Result<UnconfirmedBlocks, NodeError>> {
  const heights = Array.from({ length: unconfirmedBatchBlocks }, (_, i) => after + 1 + i)
  const newest: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }
  const heard = await queryNode(pool, node, 'chain', [newest, ...heights.map((height) => blockCall(height, true))])
  if (!heard.ok) return heard
  const [latestReply, ...blockReplies] = heard.value.replies
  const latest = parseResult(latestReply, 'the latest block', parseHeader)
  if (!latest.ok) return latest
  const bodies: ParsedBlock[] = []
  for (const [i, height] of heights.entries()) {
    const value = requireResult(blockReplies[i], `block ${height}`)
    const body = value.ok ? parseBlock(value.value, height) : null
    const parent = bodies.at(-1)
    if (body === null || !body.ok || (parent !== undefined && body.value.parentHash !== parent.hash)) break
    bodies.push(body.value)
  }
  if (bodies.length === 0) return ok({ latest: latest.value.height, blocks: [] })
  const logsHeard = await queryNode(
    pool,
    node,
    'chain',
    bodies.map(({ hash }) => logsCall(hash)),
  )
  if (!logsHeard.ok) return logsHeard
  const blocks: Block[] = []
  for (const [i, { indexes: places, ...body }] of bodies.entries()) {
    const reply = logsHeard.value.replies[i]
    const logs = reply?.kind === 'result' ? parseLogs(reply.value, body, places) : null
    if (logs === null || !logs.ok) break // left the chain meanwhile, or not to be read: news can wait
    blocks.push({ ...body, logs: logs.value })
  }
  return ok({ latest: latest.value.height, blocks })
}
