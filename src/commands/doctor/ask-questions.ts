import type { BlockHash, BlockHeight, Header } from '../../worker/chain/block.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { askOne, parseFinalized } from '../../worker/tron/ask.ts'
import { blockCall, logsCall, parseResult } from '../../worker/tron/json-rpc.ts'
import type { Session, TronNode } from '../../worker/tron/node.ts'
import { readApiBlocks } from '../../worker/tron/node-blocks.ts'
import { type NodeError, type NodeResult, nodeError } from '../../worker/tron/node-errors.ts'
import { type ParsedBlock, parseBriefBlock } from '../../worker/tron/parse/block.ts'

/** The requests of the scan to each node, in the order in which the doctor sends them. */
export const questionTexts = {
  finalized: 'the block `finalized`',
  logs: 'the logs of a block by its hash, without a filter',
  blocks: 'getblockbylimitnext of the HTTP API',
} as const

type Question = keyof typeof questionTexts

/**
 * What one node answered and refused. A request that was not sent, because the node has shown no
 * block to ask about, is in neither list.
 */
export interface QuestionAnswers {
  /**
   * Why the node's JSON-RPC does not even give the newest block, or null. Then no other request is
   * sent to it.
   */
  readonly rpcFault: NodeError | null
  readonly answered: readonly Question[]
  readonly refused: readonly { readonly question: Question; readonly error: NodeError }[]
  /** The newest and the newest final block; null if the node has not shown both. */
  readonly heads: { readonly latest: Header; readonly finalized: Header } | null
}

/**
 * The height of the block that is requested if JSON-RPC shows no block. Every node with complete
 * history has this block.
 */
const firstBlock = 1 as BlockHeight // safe: 1 is a height
/** A block this far below the newest one is final. */
const finalBlocks = 30

/**
 * Sends a node the requests of `questionTexts`, each alone, so that the doctor can say which of
 * them a provider refuses.
 */
export async function askQuestions(session: Session, node: TronNode): Promise<QuestionAnswers> {
  const latest = await askOne(session, node, blockCall('latest'), (reply) =>
    parseResult(reply, 'newest block', parseBriefBlock),
  )
  const results: [Question, Result<unknown, NodeError>][] = []
  let finalized: Result<Header, NodeError> | null = null
  if (latest.ok) {
    finalized = await askOne(session, node, blockCall('finalized'), parseFinalized)
    results.push(['finalized', finalized])
    const { hash } = finalized.ok ? finalized.value : latest.value
    results.push(['logs', await readLogs(session, node, hash)])
  }
  const height = finalized?.ok ? finalized.value.height : latest.ok ? latest.value.height - finalBlocks : firstBlock
  const from = Math.max(height, firstBlock) as BlockHeight // safe: at least 1
  results.push(['blocks', await readOneBlock(session, node, from)])
  return {
    rpcFault: latest.ok ? null : latest.error,
    answered: results.flatMap(([question, { ok }]) => (ok ? [question] : [])),
    refused: results.flatMap(([question, one]) => (one.ok ? [] : [{ question, error: one.error }])),
    heads: latest.ok && finalized?.ok ? { latest: latest.value, finalized: finalized.value } : null,
  }
}

async function readOneBlock(session: Session, node: TronNode, height: BlockHeight): NodeResult<ParsedBlock> {
  const read = await readApiBlocks(session, node, height, 1)
  if (!read.ok) return read
  const [block] = read.value
  return block === undefined ? nodeError('behind', `no block ${height}`) : ok(block)
}

/**
 * Asks for the logs of a block. Returns only their number, because the doctor just checks that a
 * list came.
 */
function readLogs(session: Session, node: TronNode, hash: BlockHash) {
  return askOne(session, node, logsCall(hash), (reply) =>
    parseResult(reply, 'its list of logs', (value) => (Array.isArray(value) ? ok(value.length) : err('no list'))),
  )
}
