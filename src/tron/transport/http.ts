import { ok, type Result } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import type { Clock } from '../../platform/clock.ts'
import * as limits from '../limits.ts'
import { questionRequestsMax, questionRequestsMin, questionShareMax } from '../limits.ts'
import { type NodeError, type NodeResult, nodeError } from '../nodes/node-error.ts'
import { isObject } from '../parse/fields.ts'
import { decodeReply, readBody, type SpareMemory } from './read-body.ts'
import { createReplyParser, type ReplyParser } from './reply-parser.ts'

/** The network function: the platform's `fetch`, or that of a test. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What one invocation may use for its requests. */
export interface RequestLimits {
  readonly fetch: Fetch
  readonly clock: Clock
  /** The time by which every result must have arrived. */
  readonly deadline: UnixMs
  /** HTTP requests to nodes. */
  readonly requestsMax: number
  /** Whether a limit that other invocations share allows one more request, which it then counts. Absent: there is none. */
  readonly mayRequest?: () => Promise<boolean>
}

/** The limits of one invocation and what it has used of them. All of its requests share one budget. */
export interface RequestBudget extends RequestLimits {
  /** Whether no other node needs a share of the time. */
  readonly onlyNode: boolean
  requests: number
  lastId: number
  connections: number
  /** Starts the requests that wait for a connection, in order. */
  readonly waiting: (() => void)[]
  readonly replies: ReplyParser
  readonly spare: SpareMemory
}

/** A budget of which nothing is used. */
export function createRequestBudget(given: RequestLimits, onlyNode: boolean): RequestBudget {
  return {
    ...given,
    onlyNode,
    requests: 0,
    lastId: 0,
    connections: 0,
    waiting: [],
    replies: createReplyParser(),
    spare: { buffer: null },
  }
}

/** What one question may use at one node, and has used. */
export interface RequestAllowance {
  /** Requests that it may still send. */
  left: number
  /** Milliseconds of the slowest request of this attempt. */
  slowestMs: number
}

/** What one question may use at one node: it must leave requests for the other nodes. */
export function createAllowance({ requestsMax, requests, onlyNode }: RequestBudget): RequestAllowance {
  const share = Math.ceil((requestsMax - requests) * (onlyNode ? 1 : questionShareMax))
  return { left: Math.min(Math.max(share, questionRequestsMin), questionRequestsMax), slowestMs: 0 }
}

/** What is limited by the budget only: a probe, of which all questions have the result. */
export function unlimited(): RequestAllowance {
  return { left: Number.POSITIVE_INFINITY, slowestMs: 0 }
}

/** The URL of a service and its API key. Both are secrets. */
export interface HttpTarget {
  readonly url: string
  readonly key: string | null
}

// PROTOCOL.md, Rate limits and gateways
const rateLimitStatuses: ReadonlySet<number> = new Set([403, 429, 503])
const batchRefusalStatuses: ReadonlySet<number> = new Set([400, 405, 415, 422, 501])

/** The JSON value of the reply to one POST, within the budget and the allowance. It never throws. */
export async function postJson(
  budget: RequestBudget,
  target: HttpTarget,
  body: string,
  allowance: RequestAllowance,
): NodeResult<unknown> {
  if (allowance.left <= 0) return nodeError('too-costly', 'the question takes too many requests')
  allowance.left -= 1
  if (budget.connections >= limits.connectionsMax) await new Promise<void>((start) => budget.waiting.push(start))
  else budget.connections += 1
  try {
    return await postInTime(budget, target, body, allowance)
  } finally {
    const startNext = budget.waiting.shift()
    if (startNext === undefined) budget.connections -= 1
    else startNext() // it takes over this connection
  }
}

async function postInTime(
  budget: RequestBudget,
  target: HttpTarget,
  body: string,
  allowance: RequestAllowance,
): NodeResult<unknown> {
  const { clock, deadline } = budget
  const leftMs = deadline - clock.now()
  if (leftMs <= 0) return nodeError('out-of-budget', 'the time is used up')
  if (budget.requests >= budget.requestsMax) return nodeError('out-of-budget', 'the requests are used up')
  budget.requests += 1
  if (budget.mayRequest !== undefined && !(await budget.mayRequest())) {
    return nodeError('out-of-budget', 'the requests of all callers together are used up')
  }
  const shareMs = budget.onlyNode ? leftMs : Math.max(leftMs / 2, limits.requestMsMin)
  const limitMs = Math.ceil(Math.min(limits.requestMs, shareMs, leftMs))
  const abort = new AbortController()
  const startedAt = clock.now()
  const reply = await Promise.race([post(budget, target, body, abort.signal), clock.sleep(limitMs).then(() => null)])
  allowance.slowestMs = Math.max(allowance.slowestMs, clock.now() - startedAt)
  if (reply !== null) return reply
  abort.abort()
  if (clock.now() >= deadline) return nodeError('out-of-budget', 'no answer before the deadline')
  return nodeError('timed-out', `no answer in ${limitMs} ms`)
}

async function post(
  { fetch, clock, replies, spare }: RequestBudget,
  { url, key }: HttpTarget,
  body: string,
  signal: AbortSignal,
): NodeResult<unknown> {
  try {
    const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
    if (key !== null) headers['TRON-PRO-API-KEY'] = key
    // With redirects followed, another host could receive the key.
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    if (response.status < 200 || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      return nodeError('bad-answer', `a redirect (HTTP ${response.status})`)
    }
    const text = await readBody(response, spare, (bytes) => decodeReply(bytes, clock.random()))
    if (text === undefined) return nodeError('too-large', `a reply of more than ${limits.replyBytesMax} bytes`)
    if (text === null) return nodeError('bad-answer', 'a reply that would take too much memory')
    return parseReply(replies, response.status, text)
  } catch {
    return nodeError('unreachable', 'the connection failed') // the error's own text can contain the URL
  }
}

function parseReply(replies: ReplyParser, status: number, text: string): Result<unknown, NodeError> {
  if (rateLimitStatuses.has(status)) return nodeError('rate-limited', `HTTP ${status}`)
  const value = replies.parse(text)
  if (isObject(value) && 'Error' in value && !('jsonrpc' in value)) {
    return nodeError('rate-limited', `HTTP ${status} with an Error that is not JSON-RPC`)
  }
  if (status === 413) return nodeError('too-large', 'HTTP 413')
  if (batchRefusalStatuses.has(status)) return nodeError('batch-refused', `HTTP ${status}`)
  if (status !== 200) return nodeError('bad-answer', `HTTP ${status}`)
  if (text.trim() === '') return nodeError('bad-answer', 'an empty body') // PROTOCOL.md, JSON-RPC transport
  return value === undefined ? nodeError('bad-answer', 'a body that is not JSON') : ok(value)
}
