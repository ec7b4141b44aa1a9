import type { BlockHeight, BlockRef } from '../chain/block.ts'
import type { ChainResult, MatchOwn, Tail } from '../chain/chain.ts'
import { ok } from '../common/result.ts'
import { firstAnswer } from './agreement.ts'
import { blocksOfReply, ownBlocks } from './final-blocks.ts'
import type { Session } from './node.ts'
import { type NodeBlock, readNodeBlocks } from './node-blocks.ts'

/** Blocks after `known` by one node (see `Chain`). */
export async function readNodeTail(session: Session, known: BlockRef, match: MatchOwn): ChainResult<Tail> {
  const from = (known.height + 1) as BlockHeight // safe: an integer above a height
  const found = await firstAnswer(session, 'money', async (node) => {
    const blocks = await readNodeBlocks(session, node, from, blocksOfReply(session.pool))
    const isEnd = !blocks.ok && blocks.error.kind === 'behind' // the known block is the newest one
    return isEnd ? ok<readonly NodeBlock[]>([]) : blocks
  })
  if (!found.ok) return found
  const follows = (found.value[0]?.header.parentHash ?? known.hash) === known.hash
  const latest = found.value.at(-1)?.header.height ?? known.height
  const own = await ownBlocks(follows ? found.value : [], match)
  return ok({ latest, follows, blocks: [...own.values()] })
}
