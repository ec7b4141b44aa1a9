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

/** The replies to a batch. Both the order and the ids must be those of the calls (PROTOCOL.md, Batches and ids). */
export function parseBatchReply(
  value: unknown,
  firstId: number,
  count: number,
): Result<readonly RpcReply[], NodeError> {
  if (!Array.isArray(value)) return parseRefusal(value)
  if (value.length !== count) return nodeError('bad-answer', `${value.length} replies to ${count} calls`)
  const replies = value.map((item, i) => parseReply(item, firstId + i)).filter((reply) => reply !== null)
  return replies.length === count ? ok(replies) : nodeError('bad-answer', 'a reply that is not JSON-RPC for its call')
}

/** The reply to a call that was sent alone. */
export function parseSingleReply(value: unknown, id: number): Result<RpcReply, NodeError> {
  const reply = parseReply(value, id)
  return reply === null ? nodeError('bad-answer', 'a reply that is not JSON-RPC for its call') : ok(reply)
}

function parseReply(value: unknown, id: number): RpcReply | null {
  if (!isObject(value) || value.jsonrpc !== '2.0') return null
  const hasResult = 'result' in value
  if (hasResult === 'error' in value) return null
  if (hasResult) return value.id === id ? { kind: 'result', value: value.result } : null
  // The id of an error can be null or the text "null" (PROTOCOL.md, Errors). Then its place identifies the call.
  return value.id === id || value.id === 'null' || value.id === null ? parseError(value.error) : null
}

function parseError(error: unknown) {
  if (!isObject(error) || typeof error.code !== 'number' || !Number.isInteger(error.code)) return null
  return typeof error.message === 'string' ? ({ kind: 'error', code: error.code } as const) : null
}

// The codes below: PROTOCOL.md, Errors.
const unsupportedCodes: ReadonlySet<number> = new Set([-32600, -32601, -32602, -32700])
const tooManyResults = -32005
const responseTooLarge = -32003

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

/** Whether a reply has too many results or bytes, so that fewer calls can pass. */
export function isTooLarge(reply: RpcReply): boolean {
  return reply.kind === 'error' && (reply.code === tooManyResults || reply.code === responseTooLarge)
}

/** The parsed result of a reply. An error or null is a node error, never "nothing there". `what` names it in the log. */
export function parseResult<T>(reply: RpcReply | undefined, what: string, parse: Parser<T>): Result<T, NodeError> {
  if (reply === undefined) return nodeError('bad-answer', `no ${what}`)
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
