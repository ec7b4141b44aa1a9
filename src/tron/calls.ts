import type { BlockHash, BlockHeight, Header, Log, Receipt, Txid } from '../chain/block.ts'
import { err, ok, type Result } from '../common/result.ts'
import { type NodeError, nodeError } from './nodes/node-error.ts'
import { type Parsed, type ParsedBlock, parseLogs, parseReceipt } from './parse/block.ts'
import { parseSafeInteger, toQuantity } from './parse/fields.ts'
import { isTooMuch, type NodePool, type NodeReplies, queryNode, type TronNode } from './transport/batch.ts'
import { isObject } from './transport/http.ts'
import type { RpcCall, RpcReply } from './transport/json-rpc.ts'

/** The block at `height`: in full, or its transactions as txids. */
export function blockCall(height: number, full: boolean): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(height), full] }
}

/** All logs of a block, without a filter: that bypasses the bloom index that nodes can lack (7.4). */
export function logsCall(hash: BlockHash): RpcCall {
  return { method: 'eth_getLogs', params: [{ blockHash: `0x${hash}` }] }
}

/** All logs of a range of blocks, both ends included, without a filter. */
export function rangeLogsCall(from: number, to: number): RpcCall {
  return { method: 'eth_getLogs', params: [{ fromBlock: toQuantity(from), toBlock: toQuantity(to) }] }
}

/** A transaction's receipt. */
export function receiptCall(txid: Txid): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [`0x${txid}`] }
}

/** The value of a reply that must be there. An error or `null` is the node's trouble, never "nothing". */
export function requireResult(reply: RpcReply | undefined, what: string): Result<unknown, NodeError> {
  if (reply === undefined) return err(nodeError('bad-answer', `no ${what}`))
  if (reply.kind === 'error') {
    const isUnknownMethod = reply.code === -32601
    return err(nodeError(isUnknownMethod ? 'unfit' : 'bad-answer', `error ${reply.code} for ${what}`))
  }
  return reply.value === null ? err(nodeError('behind', `null for ${what}`)) : ok(reply.value)
}

/** A reply's value through its parser. */
export function parseResult<T>(
  reply: RpcReply | undefined,
  what: string,
  read: (value: unknown) => Parsed<T>,
): Result<T, NodeError> {
  const value = requireResult(reply, what)
  if (!value.ok) return value
  const result = read(value.value)
  return result.ok ? result : err(nodeError('bad-answer', `${what}: ${result.error}`))
}

/** Calls about blocks up to `height`, which must be final for the node that answers (R4). */
export async function queryFinal(
  pool: NodePool,
  node: TronNode,
  height: BlockHeight,
  calls: readonly RpcCall[],
): Promise<Result<NodeReplies & { readonly finalized: Header }, NodeError>> {
  const heard = await queryNode(pool, node, 'finalized', calls)
  if (!heard.ok) return heard
  const { finalized, replies } = heard.value
  if (finalized === null) return err(nodeError('bad-answer', 'no finalized head'))
  if (finalized.height < height) return err(nodeError('behind', `final up to ${finalized.height}, not ${height}`))
  return ok({ finalized, replies })
}

/** The logs of one block. A block with too many for `eth_getLogs` (10,000) gives them in its receipts (6.2). */
export async function readBlockLogs(
  pool: NodePool,
  node: TronNode,
  block: Pick<ParsedBlock, 'height' | 'hash' | 'indexes'>,
  reply: RpcReply | undefined,
): Promise<Result<readonly Log[], NodeError>> {
  const read = (value: unknown) => parseLogs(value, block, block.indexes)
  if (reply === undefined || !isTooMuch(reply)) return parseResult(reply, `logs of ${block.height}`, read)
  const heard = await queryFinal(pool, node, block.height, [
    { method: 'eth_getBlockReceipts', params: [toQuantity(block.height)] },
  ])
  if (!heard.ok) return heard
  return parseResult(heard.value.replies[0], `receipts of ${block.height}`, (value) => readBlockReceipts(value, block))
}

/**
 * The logs of consecutive blocks, block by block, out of one range query. `[]` for a range above a node's head is a
 * success (7.4), so the same batch must have shown that the blocks are final there. A range with too many logs is asked
 * for again block by block.
 */
export async function readRangeLogs(
  pool: NodePool,
  node: TronNode,
  blocks: readonly Pick<ParsedBlock, 'height' | 'hash' | 'indexes'>[],
  reply: RpcReply | undefined,
): Promise<Result<readonly (readonly Log[])[], NodeError>> {
  if (reply !== undefined && isTooMuch(reply)) return logsOneByOne(pool, node, blocks)
  const values = parseResult(reply, 'logs of a range', (value) =>
    Array.isArray(value) ? ok(value as readonly unknown[]) : err('logs that are no array'),
  )
  if (!values.ok) return values
  const byHeight = new Map<number, unknown[]>(blocks.map(({ height }) => [height, []]))
  for (const value of values.value) {
    const height = isObject(value) ? parseSafeInteger(value.blockNumber) : null
    const own = height === null ? undefined : byHeight.get(height)
    if (own === undefined) return err(nodeError('bad-answer', 'a log of another block'))
    own.push(value)
  }
  const logs: (readonly Log[])[] = []
  for (const block of blocks) {
    const read = parseLogs(byHeight.get(block.height), block, block.indexes)
    if (!read.ok) return err(nodeError('bad-answer', `logs of ${block.height}: ${read.error}`))
    logs.push(read.value)
  }
  return ok(logs)
}

async function logsOneByOne(
  pool: NodePool,
  node: TronNode,
  blocks: readonly Pick<ParsedBlock, 'height' | 'hash' | 'indexes'>[],
): Promise<Result<readonly (readonly Log[])[], NodeError>> {
  const last = blocks.at(-1)
  if (last === undefined) return ok([])
  const heard = await queryFinal(
    pool,
    node,
    last.height,
    blocks.map(({ hash }) => logsCall(hash)),
  )
  if (!heard.ok) return heard
  const logs: (readonly Log[])[] = []
  for (const [i, block] of blocks.entries()) {
    const own = await readBlockLogs(pool, node, block, heard.value.replies[i])
    if (!own.ok) return own
    logs.push(own.value)
  }
  return ok(logs)
}

function readBlockReceipts(
  value: unknown,
  block: Pick<ParsedBlock, 'height' | 'hash' | 'indexes'>,
): Parsed<readonly Log[]> {
  if (!Array.isArray(value) || value.length !== block.indexes.size) return err('not one receipt for each transaction')
  const wire: unknown[] = []
  for (const [txid, place] of block.indexes) {
    const receipt = parseReceipt(value[place], txid as Txid) // safe: 32 bytes, read from the block
    if (!receipt.ok) return receipt
    if (receipt.value.block.hash !== block.hash) return err('a receipt that names another block')
    wire.push(...(value[place].logs as unknown[])) // safe: readReceipt has read them
  }
  return parseLogs(wire, block, block.indexes)
}

/** The receipts of transactions in blocks up to `height`, from one node. */
export async function readNodeReceipts(
  pool: NodePool,
  node: TronNode,
  txids: readonly Txid[],
  height: BlockHeight,
): Promise<Result<ReadonlyMap<Txid, Receipt>, NodeError>> {
  const heard = await queryFinal(pool, node, height, txids.map(receiptCall))
  if (!heard.ok) return heard
  const receipts = new Map<Txid, Receipt>()
  for (const [i, txid] of txids.entries()) {
    const reply = heard.value.replies[i]
    // A null for a transaction in a final block is a node that cannot tell, not one that is behind (6.1).
    if (reply?.kind === 'result' && reply.value === null) return err(nodeError('bad-answer', 'null for a receipt'))
    const receipt = parseResult(reply, 'a receipt', (value) => parseReceipt(value, txid))
    if (!receipt.ok) return receipt
    receipts.set(txid, receipt.value)
  }
  return ok(receipts)
}
