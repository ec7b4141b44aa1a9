import type { BlockHash, BlockHeight, Header } from '../../worker/chain/block.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { askOne, parseFinalized } from '../../worker/tron/ask.ts'
import { blockCall, logsCall, parseResult } from '../../worker/tron/json-rpc.ts'
import type { Session, TronNode } from '../../worker/tron/node.ts'
import { readApiBlocks } from '../../worker/tron/node-blocks.ts'
import { type NodeError, type NodeResult, nodeError } from '../../worker/tron/node-errors.ts'
import { type ParsedBlock, parseBriefBlock } from '../../worker/tron/parse/block.ts'

/** What the scan asks of each node, in the order in which the doctor asks. */
export const questionTexts = {
  finalized: 'the block `finalized`',
  logs: 'the logs of a block by its hash, without a filter',
  blocks: 'getblockbylimitnext of the HTTP API',
} as const

type Question = keyof typeof questionTexts

/** The answers of one node. A question that is not asked, since no block is known, is in neither list. */
export interface QuestionAnswers {
  /** Why its JSON-RPC gives not even the newest block, or null. Nothing else is asked of it then. */
  readonly rpcFault: NodeError | null
  readonly answered: readonly Question[]
  readonly refused: readonly { readonly question: Question; readonly error: NodeError }[]
  /** Null where one of them is not known. */
  readonly heads: { readonly latest: Header; readonly finalized: Header } | null
}

/** The block that is asked for if the JSON-RPC shows none: each node with a whole history has it. */
const firstBlock = 1 as BlockHeight // safe: a height
/** Blocks from the newest one to one that is final. */
const finalBlocks = 30

/** Asks a node the three questions, each on its own, so that a provider that refuses one is known by it. */
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
  const from = Math.max(height, firstBlock) as BlockHeight // safe: a height
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

/** How many logs the block has. */
function readLogs(session: Session, node: TronNode, hash: BlockHash) {
  return askOne(session, node, logsCall(hash), (reply) =>
    parseResult(reply, 'its list of logs', (value) => (Array.isArray(value) ? ok(value.length) : err('no list'))),
  )
}
