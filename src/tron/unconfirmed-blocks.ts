import type { Block, BlockHeight } from '../chain/block.ts'
import type { ChainResult, UnconfirmedBlocks } from '../chain/chain.ts'
import { ok } from '../common/result.ts'
import { blockCall, logsCall } from './calls.ts'
import { unconfirmedBatchBlocks, unconfirmedBatchesMax } from './limits.ts'
import { createNodeSelector, firstAnswer } from './nodes/failover.ts'
import type { NodePool, TronNode } from './nodes/node.ts'
import type { NodeResult } from './nodes/node-error.ts'
import { type ParsedBlock, parseBlock, parseHeader } from './parse/block.ts'
import { parseLogs } from './parse/log.ts'
import { queryNode } from './transport/batch.ts'
import { parseResult } from './transport/json-rpc.ts'

/** The blocks after `after` by one node, up to the first one that is malformed, cannot be read or does not follow. */
export async function readUnconfirmedBlocks(pool: NodePool, after: BlockHeight): ChainResult<UnconfirmedBlocks> {
  return firstAnswer(createNodeSelector(pool, 'chain'), async (node) => {
    let latest = after
    const blocks: Block[] = []
    for (let batch = 0; batch < unconfirmedBatchesMax; batch++) {
      const parent = blocks.at(-1)
      const read = await readBatch(node, parent?.height ?? after)
      if (!read.ok && blocks.length === 0) return read
      if (!read.ok) break // they are information only: fewer of them are a result too
      latest = read.value.latest
      const [first] = read.value.blocks
      if (parent !== undefined && first !== undefined && first.parentHash !== parent.hash) break
      blocks.push(...read.value.blocks)
      if (read.value.blocks.length < unconfirmedBatchBlocks || (blocks.at(-1)?.height ?? latest) >= latest) break
    }
    return ok({ latest, blocks })
  })
}

/** One batch of blocks with the newest header, and a second one with their logs. */
async function readBatch(node: TronNode, after: BlockHeight): NodeResult<UnconfirmedBlocks> {
  const heights = Array.from({ length: unconfirmedBatchBlocks }, (_, i) => after + 1 + i)
  const calls = heights.map((height) => blockCall(height, true))
  const result = await queryNode(node, 'chain', [blockCall('latest', false), ...calls])
  if (!result.ok) return result
  const [latestReply, ...blockReplies] = result.value.replies
  const header = parseResult(latestReply, 'the latest block', parseHeader)
  if (!header.ok) return header
  const latest = header.value.height
  const parsed: ParsedBlock[] = []
  for (const [i, height] of heights.entries()) {
    const block = parseResult(blockReplies[i], `block ${height}`, (value) => parseBlock(value, height))
    const parent = parsed.at(-1)
    if (!block.ok || (parent !== undefined && block.value.parentHash !== parent.hash)) break
    parsed.push(block.value)
  }
  if (parsed.length === 0) return ok({ latest, blocks: [] })
  const logCalls = parsed.map(({ hash }) => logsCall(hash))
  const logsResult = await queryNode(node, 'chain', logCalls)
  if (!logsResult.ok) return logsResult
  const blocks: Block[] = []
  for (const [i, { indexes, ...block }] of parsed.entries()) {
    const reply = logsResult.value.replies[i]
    const logs = reply?.kind === 'result' ? parseLogs(reply.value, { ...block, indexes }) : null
    if (logs === null || !logs.ok) break // the block can have left the chain meanwhile
    blocks.push({ ...block, logs: logs.value.logs })
  }
  return ok({ latest, blocks })
}
