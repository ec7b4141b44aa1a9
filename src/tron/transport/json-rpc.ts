import { err, ok, type Result } from '../../common/result.ts'
import { type NodeError, nodeError } from '../nodes/node-error.ts'
import { isObject } from './http.ts'

/** One JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a node said to one call. The text of an error is kept to tell errors apart, never to be logged. */
export type RpcReply =
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }

/** The request body of `calls`, numbered from `firstId`: an array, or the bare call where `single`. */
export function encodeCalls(calls: readonly RpcCall[], firstId: number, single: boolean): string {
  const envelopes = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: firstId + i, method, params }))
  return JSON.stringify(single ? envelopes[0] : envelopes)
}

/**
 * The replies to a batch, in the order asked. Both place and id must match: java-tron answers in the order of the
 * request (8.1), so anything else is somebody else's answer. One error object for all of it is a refused batch.
 */
export function parseBatchReply(
  value: unknown,
  firstId: number,
  count: number,
): Result<readonly RpcReply[], NodeError> {
  if (!Array.isArray(value)) return err(refusal(value))
  if (value.length !== count) return err(nodeError('bad-answer', `${value.length} answers to ${count} calls`))
  const replies: RpcReply[] = []
  for (let i = 0; i < count; i += 1) {
    const reply = readReply(value[i], firstId + i)
    if (reply === null) return err(nodeError('bad-answer', `answer ${i + 1} of ${count} is not JSON-RPC for that call`))
    replies.push(reply)
  }
  return ok(replies)
}

/** The reply to a call that was sent alone. */
export function parseSingleReply(value: unknown, id: number): Result<RpcReply, NodeError> {
  const reply = readReply(value, id)
  return reply === null ? err(nodeError('bad-answer', 'not JSON-RPC for that call')) : ok(reply)
}

function readReply(value: unknown, id: number): RpcReply | null {
  if (!isObject(value) || value.jsonrpc !== '2.0') return null
  const hasResult = 'result' in value
  if (hasResult === 'error' in value) return null
  if (hasResult) return value.id === id ? { kind: 'result', value: value.result } : null
  // An error's id can be null or the string "null" (8.3); its place then says which call it answers.
  return value.id === id || value.id === 'null' || value.id === null ? readError(value.error) : null
}

function readError(error: unknown): RpcReply | null {
  if (!isObject(error) || typeof error.code !== 'number' || !Number.isInteger(error.code)) return null
  return typeof error.message === 'string' ? { kind: 'error', code: error.code, message: error.message } : null
}

/** Codes with which a whole batch is turned down: its form, its length, or the length of its answer (8.1, 8.3). */
const refusalCodes: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32005])

function refusal(value: unknown): NodeError {
  const error = isObject(value) && value.jsonrpc === '2.0' && !('result' in value) ? readError(value.error) : null
  if (error === null || error.kind !== 'error') return nodeError('bad-answer', 'no array for a batch')
  if (error.code === -32003) return nodeError('too-large', 'error -32003 for the batch')
  return nodeError(refusalCodes.has(error.code) ? 'batch-refused' : 'bad-answer', `error ${error.code} for the batch`)
}
