import type { BlockHash, BlockHeight, Header, Log, Receipt, Txid } from '../chain/block.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Call, Reply } from './transport/json-rpc.ts'
import { ask, type Heard, isTooMuch, type Pool, type PoolNode } from './transport/batch.ts'
import { type Body, type Read, readLogs, readReceipt } from './parse/block.ts'
import { isObject } from './transport/http.ts'
import { type Trouble, trouble } from './nodes/node-error.ts'
import { parseSmall, toQuantity } from './parse/fields.ts'

/** The block at `height`: in full, or its transactions as txids. */
export function blockCall(height: number, full: boolean): Call {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(height), full] }
}

/** All logs of a block, without a filter: that bypasses the bloom index that nodes can lack (7.4). */
export function logsCall(hash: BlockHash): Call {
  return { method: 'eth_getLogs', params: [{ blockHash: `0x${hash}` }] }
}

/** All logs of a range of blocks, both ends included, without a filter. */
export function rangeLogsCall(from: number, to: number): Call {
  return { method: 'eth_getLogs', params: [{ fromBlock: toQuantity(from), toBlock: toQuantity(to) }] }
}

/** A transaction's receipt. */
export function receiptCall(txid: Txid): Call {
  return { method: 'eth_getTransactionReceipt', params: [`0x${txid}`] }
}

/** The value of a reply that must be there. An error or `null` is the node's trouble, never "nothing". */
export function given(reply: Reply | undefined, what: string): Result<unknown, Trouble> {
  if (reply === undefined) return err(trouble('bad-answer', `no ${what}`))
  if (reply.kind === 'error') {
    const isUnknownMethod = reply.code === -32601
    return err(trouble(isUnknownMethod ? 'unfit' : 'bad-answer', `error ${reply.code} for ${what}`))
  }
  return reply.value === null ? err(trouble('behind', `null for ${what}`)) : ok(reply.value)
}

/** A reply's value through its parser. */
export function parsed<T>(
  reply: Reply | undefined,
  what: string,
  read: (value: unknown) => Read<T>,
): Result<T, Trouble> {
  const value = given(reply, what)
  if (!value.ok) return value
  const result = read(value.value)
  return result.ok ? result : err(trouble('bad-answer', `${what}: ${result.error}`))
}

/** Calls about blocks up to `height`, which must be final for the node that answers (R4). */
export async function askFinal(
  pool: Pool,
  node: PoolNode,
  height: BlockHeight,
  calls: readonly Call[],
): Promise<Result<Heard & { readonly finalized: Header }, Trouble>> {
  const heard = await ask(pool, node, 'finalized', calls)
  if (!heard.ok) return heard
  const { finalized, replies } = heard.value
  if (finalized === null) return err(trouble('bad-answer', 'no finalized head'))
  if (finalized.height < height) return err(trouble('behind', `final up to ${finalized.height}, not ${height}`))
  return ok({ finalized, replies })
}

/** The logs of one block. A block with too many for `eth_getLogs` (10,000) gives them in its receipts (6.2). */
export async function logsOf(
  pool: Pool,
  node: PoolNode,
  block: Pick<Body, 'height' | 'hash' | 'places'>,
  reply: Reply | undefined,
): Promise<Result<readonly Log[], Trouble>> {
  const read = (value: unknown) => readLogs(value, block, block.places)
  if (reply === undefined || !isTooMuch(reply)) return parsed(reply, `logs of ${block.height}`, read)
  const heard = await askFinal(pool, node, block.height, [
    { method: 'eth_getBlockReceipts', params: [toQuantity(block.height)] },
  ])
  if (!heard.ok) return heard
  return parsed(heard.value.replies[0], `receipts of ${block.height}`, (value) => readBlockReceipts(value, block))
}

/**
 * The logs of consecutive blocks, block by block, out of one range query. `[]` for a range above a node's head is a
 * success (7.4), so the same batch must have shown that the blocks are final there. A range with too many logs is asked
 * for again block by block.
 */
export async function logsOfRange(
  pool: Pool,
  node: PoolNode,
  blocks: readonly Pick<Body, 'height' | 'hash' | 'places'>[],
  reply: Reply | undefined,
): Promise<Result<readonly (readonly Log[])[], Trouble>> {
  if (reply !== undefined && isTooMuch(reply)) return logsOneByOne(pool, node, blocks)
  const values = parsed(reply, 'logs of a range', (value) =>
    Array.isArray(value) ? ok(value as readonly unknown[]) : err('logs that are no array'),
  )
  if (!values.ok) return values
  const byHeight = new Map<number, unknown[]>(blocks.map(({ height }) => [height, []]))
  for (const value of values.value) {
    const height = isObject(value) ? parseSmall(value.blockNumber) : null
    const own = height === null ? undefined : byHeight.get(height)
    if (own === undefined) return err(trouble('bad-answer', 'a log of another block'))
    own.push(value)
  }
  const logs: (readonly Log[])[] = []
  for (const block of blocks) {
    const read = readLogs(byHeight.get(block.height), block, block.places)
    if (!read.ok) return err(trouble('bad-answer', `logs of ${block.height}: ${read.error}`))
    logs.push(read.value)
  }
  return ok(logs)
}

async function logsOneByOne(
  pool: Pool,
  node: PoolNode,
  blocks: readonly Pick<Body, 'height' | 'hash' | 'places'>[],
): Promise<Result<readonly (readonly Log[])[], Trouble>> {
  const last = blocks.at(-1)
  if (last === undefined) return ok([])
  const heard = await askFinal(
    pool,
    node,
    last.height,
    blocks.map(({ hash }) => logsCall(hash)),
  )
  if (!heard.ok) return heard
  const logs: (readonly Log[])[] = []
  for (const [i, block] of blocks.entries()) {
    const own = await logsOf(pool, node, block, heard.value.replies[i])
    if (!own.ok) return own
    logs.push(own.value)
  }
  return ok(logs)
}

function readBlockReceipts(value: unknown, block: Pick<Body, 'height' | 'hash' | 'places'>): Read<readonly Log[]> {
  if (!Array.isArray(value) || value.length !== block.places.size) return err('not one receipt for each transaction')
  const wire: unknown[] = []
  for (const [txid, place] of block.places) {
    const receipt = readReceipt(value[place], txid as Txid) // safe: 32 bytes, read from the block
    if (!receipt.ok) return receipt
    if (receipt.value.block.hash !== block.hash) return err('a receipt that names another block')
    wire.push(...(value[place].logs as unknown[])) // safe: readReceipt has read them
  }
  return readLogs(wire, block, block.places)
}

/** The receipts of transactions in blocks up to `height`, from one node. */
export async function receiptsFrom(
  pool: Pool,
  node: PoolNode,
  txids: readonly Txid[],
  height: BlockHeight,
): Promise<Result<ReadonlyMap<Txid, Receipt>, Trouble>> {
  const heard = await askFinal(pool, node, height, txids.map(receiptCall))
  if (!heard.ok) return heard
  const receipts = new Map<Txid, Receipt>()
  for (const [i, txid] of txids.entries()) {
    const reply = heard.value.replies[i]
    // A null for a transaction in a final block is a node that cannot tell, not one that is behind (6.1).
    if (reply?.kind === 'result' && reply.value === null) return err(trouble('bad-answer', 'null for a receipt'))
    const receipt = parsed(reply, 'a receipt', (value) => readReceipt(value, txid))
    if (!receipt.ok) return receipt
    receipts.set(txid, receipt.value)
  }
  return ok(receipts)
}
