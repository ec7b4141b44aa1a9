import type { Block, Log, Txid } from '../../chain/block.ts'
import { receiptsMax } from '../../chain/limits.ts'
import { parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import { blockCall, blockReceiptsCall, logsCall } from '../calls.ts'
import { raiseAlarm, type TronNode } from '../nodes/node.ts'
import { type NodeResult, nodeError } from '../nodes/node-error.ts'
import { type IndexedBlock, type ParsedBlock, parseBlock } from '../parse/block.ts'
import { isObject, type Parsed } from '../parse/fields.ts'
import { parseLogs } from '../parse/log.ts'
import { parseReceipt } from '../parse/receipt.ts'
import { queryFinal } from '../transport/batch.ts'
import { isTooLarge, parseResult, parseResults, type RpcReply } from '../transport/json-rpc.ts'
import { readNodeReceipts } from './receipts.ts'

/** Blocks with their logs and the indexes of their transactions. */
export type FinalBlocks = readonly (ParsedBlock & Block)[]

/** The logs of some blocks, block by block. */
type LogLists = readonly (readonly Log[])[]

/** The final blocks `from`..`to` with all of their logs, from one node, in two requests. */
export async function readBlocks(node: TronNode, from: number, to: number): NodeResult<FinalBlocks> {
  const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const calls = heights.map((height) => blockCall(height, true))
  const result = await queryFinal(node, to, calls)
  if (!result.ok) return result
  const { finalized, replies } = result.value
  const blocks = parseResults(replies, heights, (height) => `block ${height}`, parseBlock)
  if (!blocks.ok) return blocks
  for (const [i, { height, hash, parentHash }] of blocks.value.entries()) {
    const isNext = i === 0 || parentHash === blocks.value[i - 1]?.hash
    if (!isNext) return nodeError('bad-answer', `block ${height} does not follow the one before it`)
    const isFinal = height !== finalized.height || hash === finalized.hash
    if (!isFinal) return nodeError('bad-answer', `block ${height} is not the finalized head of that height`)
  }
  const logs = await readBlockLogs(node, blocks.value)
  if (!logs.ok) return logs
  return rejectHiddenLogs(
    node,
    blocks.value.map((block, i) => ({ ...block, logs: logs.value[i] ?? [] })),
  )
}

/** The logs of final blocks in the order of their heights, each queried by its hash. */
async function readBlockLogs(node: TronNode, blocks: readonly IndexedBlock[]): NodeResult<LogLists> {
  const height = blocks.at(-1)?.height ?? 0
  const calls = blocks.map(({ hash }) => logsCall(hash))
  const result = await queryFinal(node, height, calls)
  if (!result.ok) return result
  const lists: (readonly Log[])[] = []
  for (const [i, block] of blocks.entries()) {
    const reply = result.value.replies[i]
    const logs =
      reply !== undefined && isTooLarge(reply)
        ? await readReceiptLogs(node, block)
        : parseResult(reply, `logs of ${block.height}`, (value) => parseLogs(value, block))
    if (!logs.ok) return logs
    lists.push(logs.value)
  }
  return ok(lists)
}

/** The logs of a block that has too many for a log query, from its receipts (PROTOCOL.md, Receipts). */
async function readReceiptLogs(node: TronNode, block: IndexedBlock): NodeResult<readonly Log[]> {
  const result = await queryFinal(node, block.height, [blockReceiptsCall(block.height)])
  if (!result.ok) return result
  return parseResult(result.value.replies[0], `receipts of ${block.height}`, (value): Parsed<readonly Log[]> => {
    if (!Array.isArray(value) || value.length !== block.indexes.size) return err('not one receipt for each transaction')
    const logs: unknown[] = []
    for (const [txid, index] of block.indexes) {
      const receipt = parseReceipt(value[index], txid as Txid) // safe: 32 bytes
      if (!receipt.ok) return receipt
      if (receipt.value.block.hash !== block.hash) return err('a receipt of another block')
      logs.push(...(value[index].logs as unknown[])) // safe: parseReceipt has checked it
    }
    return parseLogs(logs, block)
  })
}

/**
 * The logs of consecutive final blocks from the reply to one range query. Above its head a node replies `[]` (PROTOCOL.md,
 * Log queries), so the same batch must show that the blocks are final.
 */
export async function readRangeLogs(
  node: TronNode,
  blocks: readonly IndexedBlock[],
  reply: RpcReply | undefined,
): NodeResult<LogLists> {
  if (reply !== undefined && isTooLarge(reply)) return readBlockLogs(node, blocks)
  return parseResult(reply, 'logs of a range', (value) => {
    if (!Array.isArray(value)) return err('logs that are not an array')
    const byHeight = new Map<number | null, unknown[]>(blocks.map(({ height }) => [height, []]))
    for (const item of value) {
      const own = byHeight.get(isObject(item) ? parseSmallQuantity(item.blockNumber) : null)
      if (own === undefined) return err('a log of another block')
      own.push(item)
    }
    const lists: (readonly Log[])[] = []
    for (const block of blocks) {
      const logs = parseLogs(byHeight.get(block.height), block)
      if (!logs.ok) return err(`block ${block.height}: ${logs.error}`)
      lists.push(logs.value)
    }
    return ok(lists)
  })
}

/**
 * Fails where a block calls accepted tokens and has no log, but a receipt of these calls has one: a node can reply `[]` in
 * place of logs (PROTOCOL.md, Log queries). Blocks of a busy network have logs, so this check seldom makes a request.
 */
async function rejectHiddenLogs(node: TronNode, blocks: FinalBlocks): NodeResult<FinalBlocks> {
  const { tokens } = node.pool
  const withoutLogs = blocks.filter(({ logs }) => logs.length === 0)
  const tokenCalls = withoutLogs.flatMap(({ height, transactions }) =>
    transactions.filter(({ to }) => to !== null && tokens.has(to)).map(({ txid }) => ({ height, txid })),
  )
  const checked = tokenCalls.slice(0, receiptsMax)
  const last = checked.at(-1)
  if (last === undefined) return ok(blocks)
  const txids = checked.map(({ txid }) => txid)
  const receipts = await readNodeReceipts(node, txids, last.height)
  if (!receipts.ok) return receipts
  const hidden = [...receipts.value.values()].find(({ logs }) => logs.length > 0)
  if (hidden === undefined) return ok(blocks)
  const [txid, height] = [hidden.txid, hidden.block.height]
  const why = 'a receipt has logs that are missing in its block'
  raiseAlarm(node.pool, `hidden logs ${node.number}`, 'node-lies', { node: node.number, why, height, txid })
  return nodeError('bad-answer', `block ${height} hides logs`)
}
