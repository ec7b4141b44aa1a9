import type { Address } from '../chain/address.ts'
import type { BlockHash, Txid } from '../chain/block.ts'
import { err, ok, type Result } from '../common/result.ts'
import { type NodeError, nodeError, readRpcError } from './node-errors.ts'
import { formatQuantity, isObject, type Parsed } from './parse/fields.ts'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The reply to one call. The error text of a node is left out, so that it is never logged. */
export type RpcReply =
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly error: NodeError }

const call = (method: string, ...params: readonly unknown[]): RpcCall => ({ method, params })

export const chainIdCall = call('eth_chainId')
/** Reads the number of the node's peers. Not every gateway passes it on. */
export const peersCall = call('net_peerCount')
/** Reads the block at a height or tag, with txids only. */
export const blockCall = (block: number | 'finalized' | 'latest') =>
  call('eth_getBlockByNumber', typeof block === 'number' ? formatQuantity(block) : block, false)
/**
 * Reads all logs of a block. A filter would depend on an index that nodes may lack (PROTOCOL.md,
 * Log queries).
 */
export const logsCall = (hash: BlockHash) => call('eth_getLogs', { blockHash: `0x${hash}` })
/** Reads a transaction, mined or not. The result is null if the node does not know it. */
export const transactionCall = (txid: Txid) => call('eth_getTransactionByHash', `0x${txid}`)
/**
 * Reads the receipt of a mined transaction: its result and its logs. The result is null if the node
 * does not have it.
 */
export const receiptCall = (txid: Txid) => call('eth_getTransactionReceipt', `0x${txid}`)
/**
 * Reads the TRX balance of an address, in sun. Nodes have balances of the latest state only
 * (PROTOCOL.md, Balances).
 */
export const balanceCall = (address: Address) => call('eth_getBalance', `0x${address}`, 'latest')
/**
 * Calls a contract without changing it. Nodes before 4.8.2 refuse all fields but `to` and `data`
 * (PROTOCOL.md, Contract calls).
 */
export const contractCall = (to: Address, data: string) => call('eth_call', { to: `0x${to}`, data }, 'latest')
/** Reads the token balance of an address, in the token's smallest units. */
export const tokenBalanceCall = (contract: Address, address: Address) =>
  contractCall(contract, `0x70a08231${address.padStart(64, '0')}`)
/**
 * Reads `decimals()` of a token contract: how many digits its amounts have after the decimal point.
 */
export const decimalsCall = (contract: Address) => contractCall(contract, '0x313ce567')

/** The request body of `calls`, with ids from `firstId` on: an array, or one object if `single`. */
export function encodeCalls(calls: readonly RpcCall[], firstId: number, single: boolean): string {
  const requests = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: firstId + i, method, params }))
  return JSON.stringify(single ? requests[0] : requests)
}

/**
 * Sorts the replies to a batch into the order of its calls by their ids, because they may come in
 * any order (PROTOCOL.md, Batches and ids). An error without an id belongs to the only call without
 * another reply.
 */
export function parseBatchReply(
  value: unknown,
  firstId: number,
  count: number,
): Result<readonly RpcReply[], NodeError> {
  if (!Array.isArray(value)) return parseRefusal(value)
  if (value.length !== count) return nodeError('bad-answer', `${value.length} replies to ${count} calls`)
  const replies = new Map<unknown, RpcReply>()
  for (const item of value) {
    const reply = parseReply(item)
    if (reply !== null) replies.set(reply.id, reply.reply)
  }
  const ordered: RpcReply[] = []
  for (let id = firstId; id < firstId + count; id += 1) {
    const key = replies.has(id) ? id : null
    const reply = replies.get(key)
    if (reply !== undefined) ordered.push(reply)
    replies.delete(key)
  }
  const isWhole = ordered.length === count
  return isWhole ? ok(ordered) : nodeError('bad-answer', 'replies that are not JSON-RPC for their calls')
}

/** Parses the reply to a call that was sent alone. An error may come without the id. */
export function parseSingleReply(value: unknown, id: number): Result<RpcReply, NodeError> {
  const reply = parseReply(value)
  const isOwn = reply !== null && (reply.id === id || reply.id === null)
  return isOwn ? ok(reply.reply) : nodeError('bad-answer', 'a reply that is not JSON-RPC for its call')
}

/**
 * Parses a reply and its id, or returns null. The id of an error may be null or the text "null";
 * both become null.
 */
function parseReply(value: unknown): { readonly id: unknown; readonly reply: RpcReply } | null {
  if (!isObject(value) || value.jsonrpc !== '2.0') return null
  const { id } = value
  const hasResult = 'result' in value
  if (hasResult === 'error' in value) return null
  if (hasResult) return typeof id === 'number' ? { id, reply: { kind: 'result', value: value.result } } : null
  const reply = parseError(value.error)
  return reply === null ? null : { id: id === 'null' ? null : id, reply }
}

function parseError(error: unknown, isBatch = false): (RpcReply & { readonly kind: 'error' }) | null {
  if (!isObject(error) || typeof error.code !== 'number' || !Number.isInteger(error.code)) return null
  const { code, message } = error
  return typeof message === 'string' ? { kind: 'error', code, error: readRpcError(code, message, isBatch) } : null
}

// With these codes a node says that it does not support the call (PROTOCOL.md, Errors of JSON-RPC).
const unsupportedCodes: ReadonlySet<number> = new Set([-32600, -32601, -32602, -32700])
const responseTooLarge = -32003

/** Stands in for a single reply that exceeds the limit of a gateway or of this service. */
export const oversizeReply: RpcReply = {
  kind: 'error',
  code: responseTooLarge,
  error: readRpcError(responseTooLarge, '', false),
}

/** Parses one error in place of the replies to a batch: the node refuses the whole batch. */
function parseRefusal(value: unknown): Result<never, NodeError> {
  const isError = isObject(value) && value.jsonrpc === '2.0' && !('result' in value)
  const refused = isError ? parseError(value.error, true) : null
  return refused === null ? nodeError('bad-answer', 'a reply to a batch that is not an array') : err(refused.error)
}

/** Whether a node does not support the method, or takes an unsupported tag for a number. */
export function isUnsupported(reply: RpcReply): boolean {
  return reply.kind === 'error' && unsupportedCodes.has(reply.code)
}

/** Whether a reply has too many results or bytes, so that a smaller query may pass. */
export function isTooLarge(reply: RpcReply | undefined): boolean {
  return reply?.kind === 'error' && reply.error.kind === 'too-large'
}

/**
 * Whether the call may pass in a smaller batch: the reply was too large. An error that one call has
 * too many results does not depend on the batch.
 */
export function fitsSmallerBatch(reply: RpcReply | undefined): boolean {
  return reply?.kind === 'error' && reply.code === responseTooLarge
}

/**
 * Parses the result in a reply. An error or null is a node error, never "nothing there". `what`
 * names the result in the log.
 */
export function parseResult<T>(
  reply: RpcReply | undefined,
  what: string,
  parse: (value: unknown) => Parsed<T>,
): Result<T, NodeError> {
  if (reply === undefined) return nodeError('bad-answer', `no ${what}`)
  if (reply.kind === 'error') return err({ ...reply.error, detail: `${what}: ${reply.error.detail}` })
  if (reply.value === null) return nodeError('behind', `null for ${what}`)
  const parsed = parse(reply.value)
  return parsed.ok ? parsed : nodeError('bad-answer', `${what}: ${parsed.error}`)
}
