import { ok, type Result } from '../../common/result.ts'
import { type NodeError, nodeError } from '../nodes/node-error.ts'
import { isObject, type Parsed, type Parser } from '../parse/fields.ts'

/** One JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The reply to one call. The node's own text of an error is left out, so that it is never logged. */
export type RpcReply =
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: number }

/** The request body of `calls` with ids from `firstId` on: an array, or one object where `single`. */
export function encodeCalls(calls: readonly RpcCall[], firstId: number, single: boolean): string {
  const requests = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: firstId + i, method, params }))
  return JSON.stringify(single ? requests[0] : requests)
}

/**
 * The replies to a batch in the order of its calls, which can come in any order: their ids decide (PROTOCOL.md, Batches and
 * ids). An error without an id belongs to the only call that has no other reply.
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
  return ordered.length === count
    ? ok(ordered)
    : nodeError('bad-answer', 'replies that are not JSON-RPC for their calls')
}

/** The reply to a call that was sent alone. */
export function parseSingleReply(value: unknown, id: number): Result<RpcReply, NodeError> {
  const reply = parseReply(value)
  const isOwn = reply !== null && (reply.id === id || reply.id === null)
  return isOwn ? ok(reply.reply) : nodeError('bad-answer', 'a reply that is not JSON-RPC for its call')
}

/** A reply and its id, or null. The id of an error can be null or the text "null", which is null here. */
function parseReply(value: unknown): { readonly id: unknown; readonly reply: RpcReply } | null {
  if (!isObject(value) || value.jsonrpc !== '2.0') return null
  const { id } = value
  const hasResult = 'result' in value
  if (hasResult === 'error' in value) return null
  if (hasResult) return typeof id === 'number' ? { id, reply: { kind: 'result', value: value.result } } : null
  const reply = parseError(value.error)
  return reply === null ? null : { id: id === 'null' ? null : id, reply }
}

function parseError(error: unknown) {
  if (!isObject(error) || typeof error.code !== 'number' || !Number.isInteger(error.code)) return null
  return typeof error.message === 'string' ? ({ kind: 'error', code: error.code } as const) : null
}

// The codes below: PROTOCOL.md, Errors.
const unsupportedCodes: ReadonlySet<number> = new Set([-32600, -32601, -32602, -32700])
const tooManyResults = -32005
const responseTooLarge = -32003

/** In place of a reply that alone exceeds what a gateway or this service lets through. */
export const oversizeReply: RpcReply = { kind: 'error', code: responseTooLarge }

/** One error in place of the replies to a batch: the node refuses the whole batch. */
function parseRefusal(value: unknown): Result<never, NodeError> {
  const error = isObject(value) && value.jsonrpc === '2.0' && !('result' in value) ? parseError(value.error) : null
  if (error === null) return nodeError('bad-answer', 'a reply to a batch that is not an array')
  const detail = `error ${error.code} for the batch`
  if (error.code === responseTooLarge) return nodeError('too-large', detail)
  return nodeError(isUnsupported(error) || error.code === tooManyResults ? 'batch-refused' : 'bad-answer', detail)
}

/** Whether a node does not support the method, or parses a tag that it does not support as a number. */
export function isUnsupported(reply: RpcReply): boolean {
  return reply.kind === 'error' && unsupportedCodes.has(reply.code)
}

/** Whether a reply has too many results or bytes, so that a query for less can pass. */
export function isTooLarge(reply: RpcReply): boolean {
  return reply.kind === 'error' && (reply.code === tooManyResults || reply.code === responseTooLarge)
}

/** Whether the same call can pass in a smaller batch. That a log query has too many results does not depend on the batch. */
export function fitsSmallerBatch(call: RpcCall | undefined, reply: RpcReply | undefined): boolean {
  if (reply?.kind !== 'error') return false
  return reply.code === responseTooLarge || (reply.code === tooManyResults && call?.method !== 'eth_getLogs')
}

/** The parsed result of a reply. An error or null is a node error, never "nothing there". `what` names it in the log. */
export function parseResult<T>(reply: RpcReply | undefined, what: string, parse: Parser<T>): Result<T, NodeError> {
  if (reply === undefined) return nodeError('bad-answer', `no ${what}`)
  if (isTooLarge(reply)) return nodeError('too-large', `${what} is too large`)
  if (reply.kind === 'error') {
    return nodeError(reply.code === -32601 ? 'unfit' : 'bad-answer', `error ${reply.code} for ${what}`)
  }
  if (reply.value === null) return nodeError('behind', `null for ${what}`)
  const parsed = parse(reply.value)
  return parsed.ok ? parsed : nodeError('bad-answer', `${what}: ${parsed.error}`)
}

/** The parsed results of the replies to one call for each item, or the first node error. */
export function parseResults<T, U>(
  replies: readonly RpcReply[],
  items: readonly T[],
  what: (item: T) => string,
  parse: (value: unknown, item: T) => Parsed<U>,
): Result<readonly U[], NodeError> {
  const results: U[] = []
  for (const [i, item] of items.entries()) {
    const result = parseResult(replies[i], what(item), (value) => parse(value, item))
    if (!result.ok) return result
    results.push(result.value)
  }
  return ok(results)
}
