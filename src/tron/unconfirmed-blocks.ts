import type { Block, BlockHeight } from '../chain/block.ts'
import { ok, type Result } from '../common/result.ts'
import type { Answer, Tail } from '../chain/chain.ts'
import { blockCall, given, logsCall, parsed } from './calls.ts'
import type { Call } from './transport/json-rpc.ts'
import { tailRoundBlocks, tailRoundsMax } from './limits.ts'
import { ask, type Pool, type PoolNode } from './transport/batch.ts'
import { type Body, readBody, readHead, readLogs } from './parse/block.ts'
import type { Trouble } from './nodes/node-error.ts'
import { createTurns, first } from './nodes/failover.ts'

/** The blocks after `after` as one node sees them: those that follow each other, up to the first doubt. */
export async function tail(pool: Pool, after: BlockHeight): Answer<Tail> {
  const answer = await first(createTurns(pool, 'chain'), (node) => tailOf(pool, node, after))
  return answer.ok ? ok(answer.value.value) : answer
}

async function tailOf(pool: Pool, node: PoolNode, after: BlockHeight): Promise<Result<Tail, Trouble>> {
  let latest = after
  const blocks: Block[] = []
  for (let round = 0; round < tailRoundsMax; round++) {
    const above = blocks.at(-1)?.height ?? after
    const read = await tailRound(pool, node, above)
    if (!read.ok) return read
    latest = read.value.latest
    const [first] = read.value.blocks
    const follows = first === undefined || blocks.length === 0 || first.parentHash === blocks.at(-1)?.hash
    if (follows) blocks.push(...read.value.blocks)
    if (!follows || read.value.blocks.length < tailRoundBlocks || (blocks.at(-1)?.height ?? latest) >= latest) break
  }
  return ok({ latest, blocks })
}

/** The blocks that fit one batch behind the chain id and the newest header, and their logs in a second one. */
async function tailRound(pool: Pool, node: PoolNode, after: BlockHeight): Promise<Result<Tail, Trouble>> {
  const heights = Array.from({ length: tailRoundBlocks }, (_, i) => after + 1 + i)
  const newest: Call = { method: 'eth_getBlockByNumber', params: ['latest', false] }
  const heard = await ask(pool, node, 'chain', [newest, ...heights.map((height) => blockCall(height, true))])
  if (!heard.ok) return heard
  const [latestReply, ...blockReplies] = heard.value.replies
  const latest = parsed(latestReply, 'the latest block', readHead)
  if (!latest.ok) return latest
  const bodies: Body[] = []
  for (const [i, height] of heights.entries()) {
    const value = given(blockReplies[i], `block ${height}`)
    const body = value.ok ? readBody(value.value, height) : null
    const parent = bodies.at(-1)
    if (body === null || !body.ok || (parent !== undefined && body.value.parentHash !== parent.hash)) break
    bodies.push(body.value)
  }
  if (bodies.length === 0) return ok({ latest: latest.value.height, blocks: [] })
  const logsHeard = await ask(
    pool,
    node,
    'chain',
    bodies.map(({ hash }) => logsCall(hash)),
  )
  if (!logsHeard.ok) return logsHeard
  const blocks: Block[] = []
  for (const [i, { places, ...body }] of bodies.entries()) {
    const reply = logsHeard.value.replies[i]
    const logs = reply?.kind === 'result' ? readLogs(reply.value, body, places) : null
    if (logs === null || !logs.ok) break // left the chain meanwhile, or not to be read: news can wait
    blocks.push({ ...body, logs: logs.value })
  }
  return ok({ latest: latest.value.height, blocks })
}
