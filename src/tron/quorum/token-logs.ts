import type { Address } from '../../chain/address.ts'
import type { Log, Txid } from '../../chain/block.ts'
import { receiptsMax } from '../../chain/limits.ts'
import { ok } from '../../common/result.ts'
import { contractLogsCall, rangeContractLogsCall } from '../calls.ts'
import { filteredReceiptsMax, indexTestReceiptsMax } from '../limits.ts'
import type { TronNode } from '../nodes/node.ts'
import { type NodeResult, nodeError } from '../nodes/node-error.ts'
import type { IndexedBlock, ParsedBlock } from '../parse/block.ts'
import { parseLogs } from '../parse/log.ts'
import { queryFinal } from '../transport/batch.ts'
import { isTooLarge, parseResult, type RpcReply } from '../transport/json-rpc.ts'
import { readNodeReceipts } from './receipts.ts'

// A filter by contract makes replies small. It uses a log index, which can have gaps: then logs that exist are missing
// (PROTOCOL.md, Log queries). So these logs count only where receipts or another node confirm them.

/** The calls for the logs of accepted tokens in the blocks `from`..`to`: one, or none where no token is accepted. */
export function rangeTokenLogsCalls(tokens: ReadonlySet<Address>, from: number, to: number) {
  return tokens.size === 0 ? [] : [rangeContractLogsCall(from, to, [...tokens])]
}

/**
 * The logs of accepted tokens in final blocks, by a filter, block by block; by one contract at a time where a reply is too
 * large. Null for a block that is too large even so. A node that gives none of several blocks has failed, unless it
 * `givesOthers`: the logs of other blocks.
 */
export async function readTokenLogs(
  node: TronNode,
  blocks: readonly IndexedBlock[],
  givesOthers = false,
): NodeResult<readonly (readonly Log[] | null)[]> {
  const contracts = [...node.pool.tokens]
  if (contracts.length === 0) return ok(blocks.map(() => []))
  const height = blocks.at(-1)?.height ?? 0
  const calls = blocks.map(({ hash }) => contractLogsCall(hash, contracts))
  const result = await queryFinal(node, height, calls)
  if (!result.ok) return result
  const isRefused = result.value.replies.every(isTooLarge)
  if (isRefused && blocks.length > 1 && !givesOthers) return nodeError('too-large', 'no logs of any block')
  const lists: (readonly Log[] | null)[] = []
  for (const [i, block] of blocks.entries()) {
    let replies: readonly RpcReply[] = result.value.replies.slice(i, i + 1)
    if (replies.some(isTooLarge) && contracts.length > 1) {
      const single = contracts.map((contract) => contractLogsCall(block.hash, [contract]))
      const parts = await queryFinal(node, height, single)
      if (!parts.ok) return parts
      replies = parts.value.replies
    }
    const logs: Log[] = []
    for (const reply of replies.some(isTooLarge) ? [] : replies) {
      const parsed = parseResult(reply, `logs of ${block.height}`, (value) => parseLogs(value, block))
      if (!parsed.ok) return parsed
      logs.push(...parsed.value.logs)
    }
    lists.push(replies.some(isTooLarge) ? null : logs)
  }
  return ok(lists)
}

/**
 * The logs of accepted tokens in a block, read by a filter, as receipts show them: their positions count all logs of a
 * transaction. Null where the log index can have a gap: where a call of a token has a log that is missing, or where
 * there is none of another contract either.
 */
export async function verifyTokenLogs(
  node: TronNode,
  block: ParsedBlock,
  logs: readonly Log[],
): NodeResult<readonly Log[] | null> {
  const { tokens } = node.pool
  if (tokens.size === 0) return ok([])
  const found = new Set(logs.map(({ txid }) => txid))
  if (found.size > filteredReceiptsMax) return ok(null)
  const silent = block.transactions.filter(({ txid, to }) => to !== null && tokens.has(to) && !found.has(txid))
  const txids = [...found, ...silent.slice(0, receiptsMax).map(({ txid }) => txid)]
  const receipts = txids.length === 0 ? ok(new Map()) : await readNodeReceipts(node, txids, block.height)
  if (!receipts.ok) return receipts
  const proven: Log[] = []
  for (const { txid, succeeded, logs: own } of receipts.value.values()) {
    if (succeeded || found.has(txid)) proven.push(...own.filter(({ contract }: Log) => tokens.has(contract)))
  }
  const [shown, shownByReceipts] = [renderTokenLogs(tokens, logs), renderTokenLogs(tokens, proven)]
  const isSame = txids.every((txid) => shown.get(txid) === shownByReceipts.get(txid))
  if (!isSame) return ok(null)
  const isIndexed = found.size > 0 ? ok(true) : await hasLogIndex(node, block)
  if (!isIndexed.ok) return isIndexed
  const indexOf = ({ txid }: Log) => block.indexes.get(txid) ?? 0
  return ok(isIndexed.value ? proven.sort((a, b) => indexOf(a) - indexOf(b)) : null)
}

/** Whether a filter finds a log of the block that a receipt has. The index has all contracts of a block or none. */
async function hasLogIndex(node: TronNode, { transactions, height, hash }: ParsedBlock): NodeResult<boolean> {
  const calls = transactions.filter(({ to, input }) => to !== null && input !== '0x')
  const txids = calls.slice(0, indexTestReceiptsMax).map(({ txid }) => txid)
  const receipts = txids.length === 0 ? ok(new Map()) : await readNodeReceipts(node, txids, height)
  if (!receipts.ok) return receipts
  const [log] = [...receipts.value.values()].flatMap(({ logs }): readonly Log[] => logs)
  if (log === undefined) return ok(false)
  const result = await queryFinal(node, height, [contractLogsCall(hash, [log.contract])])
  if (!result.ok) return result
  const [reply] = result.value.replies
  if (reply === undefined || isTooLarge(reply)) return ok(reply !== undefined) // too many of them are found
  return ok(reply.kind === 'result' && Array.isArray(reply.value) && reply.value.length > 0)
}

/**
 * The logs of accepted tokens: one text for each transaction that has any, without their positions, which a filtered reply
 * does not show.
 */
export function renderTokenLogs(tokens: ReadonlySet<Address>, logs: readonly Log[]): ReadonlyMap<Txid, string> {
  const texts = new Map<Txid, string[]>()
  for (const { txid, contract, topics, data } of logs) {
    if (!tokens.has(contract)) continue
    const text = `[${contract} ${topics.join(',')} ${data}]`
    const others = texts.get(txid)
    if (others === undefined) texts.set(txid, [text])
    else others.push(text)
  }
  return new Map([...texts].map(([txid, own]) => [txid, own.length === 1 ? own.join() : own.sort().join('')]))
}
