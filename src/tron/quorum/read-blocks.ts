import type { Block, Log } from '../../chain/block.ts'
import { receiptsMax } from '../../chain/limits.ts'
import { ok } from '../../common/result.ts'
import { blockCall, logsCall } from '../calls.ts'
import { raiseAlarm, type TronNode } from '../nodes/node.ts'
import { type NodeResult, nodeError } from '../nodes/node-error.ts'
import { type IndexedBlock, type ParsedBlock, parseBlock } from '../parse/block.ts'
import { type ParsedLogs, parseLogs } from '../parse/log.ts'
import { queryFinal } from '../transport/batch.ts'
import { isTooLarge, parseResult, parseResults } from '../transport/json-rpc.ts'
import { readNodeReceipts } from './receipts.ts'
import { readTokenLogs, renderTokenLogs, verifyTokenLogs } from './token-logs.ts'

/** Blocks with their logs and the indexes of their transactions. */
export type FinalBlocks = readonly (ParsedBlock & Block)[]

/** The final blocks `from`..`to` with their logs, from one node, in two requests where nothing is too large. */
export async function readBlocks(node: TronNode, from: number, to: number, firstId?: number): NodeResult<FinalBlocks> {
  const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const calls = heights.map((height) => blockCall(height, true))
  const result = await queryFinal(node, to, calls, firstId)
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
  const logs = await readLogs(node, blocks.value)
  if (!logs.ok) return logs
  return ok(blocks.value.map((block, i) => ({ ...block, logs: logs.value[i] ?? null })))
}

/**
 * The logs of final blocks: all logs where they fit into a reply, otherwise those of accepted tokens, verified by receipts.
 * Null where the node does not give these either, or where its log index can have a gap.
 */
async function readLogs(
  node: TronNode,
  blocks: readonly ParsedBlock[],
): NodeResult<readonly (readonly Log[] | null)[]> {
  const unfiltered = await readAllLogs(node, blocks)
  if (!unfiltered.ok) return unfiltered
  const hidden = await rejectHiddenLogs(node, blocks, unfiltered.value)
  if (!hidden.ok) return hidden
  const full = blocks.filter((_, i) => unfiltered.value[i] === null)
  const filtered = full.length === 0 ? ok([]) : await readTokenLogs(node, full, full.length < blocks.length)
  if (!filtered.ok) return filtered
  const lists: (readonly Log[] | null)[] = []
  for (const [i, block] of blocks.entries()) {
    const parsed = unfiltered.value[i] ?? null
    const logs = filtered.value[full.indexOf(block)] ?? null
    const verified = parsed === null && logs !== null ? await verifyTokenLogs(node, block, logs) : ok(null)
    if (!verified.ok) return verified
    lists.push(parsed?.logs ?? verified.value)
  }
  return ok(lists)
}

/** All logs of final blocks, each queried by its hash, or null for a block that has too many for one reply. */
export async function readAllLogs(
  node: TronNode,
  blocks: readonly IndexedBlock[],
): NodeResult<readonly (ParsedLogs | null)[]> {
  const height = blocks.at(-1)?.height ?? 0
  const calls = blocks.map(({ hash }) => logsCall(hash))
  const result = await queryFinal(node, height, calls)
  if (!result.ok) return result
  const lists: (ParsedLogs | null)[] = []
  for (const [i, block] of blocks.entries()) {
    const reply = result.value.replies[i]
    const isFull = reply !== undefined && isTooLarge(reply)
    const logs = isFull ? ok(null) : parseResult(reply, `logs of ${block.height}`, (value) => parseLogs(value, block))
    if (!logs.ok) return logs
    lists.push(logs.value)
  }
  return ok(lists)
}

/**
 * Fails where logs can be missing and a receipt shows that they are: a node can reply `[]` in place of logs (PROTOCOL.md, Log
 * queries). Receipts of calls of accepted tokens without logs are read, and of the transactions next to a gap in the numbers
 * of logs. Blocks of a busy network have neither, so this check seldom makes a request.
 */
async function rejectHiddenLogs(
  node: TronNode,
  blocks: readonly ParsedBlock[],
  lists: readonly (ParsedLogs | null)[],
): NodeResult<null> {
  const { tokens } = node.pool
  const suspects = blocks.flatMap((block, i) => {
    const { logs = [], gaps = [] } = lists[i] ?? {}
    if (gaps.length === 0) return []
    const shown = renderTokenLogs(tokens, logs)
    const isInGap = (index: number) => gaps.some(([first, last]) => index >= first && index <= last)
    const withLogs = new Set(logs.map(({ txid }) => txid))
    const ends = new Set(logs.length === 0 ? [] : gaps.flat())
    return block.transactions
      .filter(
        ({ txid, to }, index) =>
          ends.has(index) || (isInGap(index) && to !== null && tokens.has(to) && !withLogs.has(txid)),
      )
      .map(({ txid }) => ({ height: block.height, txid, shown: shown.get(txid) }))
  })
  const checked = suspects.slice(0, receiptsMax)
  const last = checked.at(-1)
  if (last === undefined) return ok(null)
  const txids = checked.map(({ txid }) => txid)
  const receipts = await readNodeReceipts(node, txids, last.height)
  if (!receipts.ok) return receipts
  const hidden = checked.find(({ txid, shown }) => {
    const receipt = receipts.value.get(txid)
    return receipt?.succeeded === true && renderTokenLogs(tokens, receipt.logs).get(txid) !== shown
  })
  if (hidden === undefined) return ok(null)
  const { txid, height } = hidden
  const why = 'a receipt has logs that are missing in its block'
  raiseAlarm(node.pool, `hidden logs ${node.number}`, 'node-lies', { node: node.number, why, height, txid })
  return nodeError('bad-answer', `block ${height} hides logs`)
}
