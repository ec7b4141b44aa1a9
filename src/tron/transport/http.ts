import { err, ok, type Result } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import type { Clock } from '../../platform/clock.ts'
import {
  bytesPerValueMin,
  connectionsMax,
  initialBufferBytes,
  replyBytesMax,
  requestMs,
  requestMsMin,
  uncheckedValues,
} from '../limits.ts'
import { type NodeError, nodeError } from '../nodes/node-error.ts'

/** The network function: the platform's `fetch`, or a test's. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What every request of one invocation shares: its time, its number of requests, its connections. */
export interface RequestBudget {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly deadline: UnixMs
  readonly requestsMax: number
  /** Whether there is no other node to leave time for. */
  readonly onlyNode: boolean
  requests: number
  lastId: number
  open: number
  readonly waiting: (() => void)[]
}

/** Where a request goes and the key it carries. Both are secrets. */
export interface Endpoint {
  readonly url: string
  readonly key: string | null
}

/** Statuses of a node that limits the rate (fact sheet 8.4). */
const rateLimitStatuses: ReadonlySet<number> = new Set([403, 429, 503])
/** Statuses with which gateways turn an array down (8.5). For a single call they mean nothing smaller can help. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 405, 415, 422, 501])

/** One POST: the JSON value of the body of an HTTP 200, or why there is none. Never throws. */
export async function postJson(
  line: RequestBudget,
  target: Endpoint,
  body: string,
): Promise<Result<unknown, NodeError>> {
  if (line.open >= connectionsMax) await new Promise<void>((resume) => line.waiting.push(resume))
  else line.open += 1
  try {
    return await limited(line, target, body)
  } finally {
    const next = line.waiting.shift() // the next in line takes over this connection, so `open` stays
    if (next === undefined) line.open -= 1
    else next()
  }
}

async function limited(line: RequestBudget, target: Endpoint, body: string): Promise<Result<unknown, NodeError>> {
  const left = line.deadline - line.clock.now()
  if (left <= 0) return err(nodeError('out-of-budget', 'the time is used up'))
  if (line.requests >= line.requestsMax) return err(nodeError('out-of-budget', 'the requests are used up'))
  line.requests += 1
  const share = line.onlyNode ? left : Math.max(left / 2, requestMsMin)
  const limitMs = Math.ceil(Math.min(requestMs, share, left))
  const abort = new AbortController()
  const outcome = await Promise.race([
    exchange(line.fetch, target, body, abort.signal),
    line.clock.sleep(limitMs).then(() => null),
  ])
  if (outcome !== null) return outcome
  abort.abort()
  if (line.clock.now() >= line.deadline) return err(nodeError('out-of-budget', 'no answer before the deadline'))
  return err(nodeError('timed-out', `no answer in ${limitMs} ms`))
}

async function exchange(
  fetch: Fetch,
  target: Endpoint,
  body: string,
  signal: AbortSignal,
): Promise<Result<unknown, NodeError>> {
  try {
    const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
    if (target.key !== null) headers['TRON-PRO-API-KEY'] = target.key
    // A redirect that is followed would carry the key to wherever it points.
    const response = await fetch(target.url, { method: 'POST', headers, body, redirect: 'manual', signal })
    if (response.status < 200 || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      return err(nodeError('bad-answer', `a redirect (HTTP ${response.status})`))
    }
    const bytes = await readBytes(response)
    if (bytes === null) return err(nodeError('too-large', `a reply of more than ${replyBytesMax} bytes`))
    if (isTooDense(bytes)) return err(nodeError('bad-answer', 'more values than a node would write in so few bytes'))
    return judge(response.status, new TextDecoder().decode(bytes))
  } catch {
    return err(nodeError('unreachable', 'the connection failed')) // the error's own text can hold the URL
  }
}

/** The whole body, or null as soon as it proves to be longer than allowed. */
async function readBytes({ body }: Response): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array()
  const reader = byteReaderOf(body)
  return reader === null ? readChunks(body.getReader()) : fillBuffer(reader)
}

const isStructure = new Uint8Array(256)
for (const mark of '[{,') isStructure[mark.charCodeAt(0)] = 1

/** Whether parsing would take far more memory than the bytes do. Each value of JSON but the first has a mark before it. */
function isTooDense(bytes: Uint8Array): boolean {
  let marks = 0
  for (let i = 0; i < bytes.length; i += 1) marks += isStructure[bytes[i] ?? 0] ?? 0 // for…of takes many times as long
  return marks > uncheckedValues + bytes.byteLength / bytesPerValueMin
}

/**
 * Reads into one buffer that grows. By itself workerd hands out 4 KiB at a time, and a full block then costs four times
 * as much to read as to parse (measured November 2026).
 */
async function fillBuffer(reader: ReadableStreamBYOBReader): Promise<Uint8Array | null> {
  let bytes = new Uint8Array(initialBufferBytes)
  let size = 0
  for (;;) {
    // The memory goes away with the view and comes back with what was read; filling the view to its end takes one call.
    const { done, value } = await reader.readAtLeast(bytes.byteLength - size, bytes.subarray(size))
    if (value === undefined) throw new Error('the body was cancelled')
    bytes = new Uint8Array(value.buffer)
    size += value.byteLength
    if (done) return bytes.subarray(0, size)
    if (size > replyBytesMax) break
    if (size === bytes.byteLength) bytes = enlarged(bytes, Math.min(2 * size, replyBytesMax + 1))
  }
  await reader.cancel()
  return null
}

function enlarged(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length)
  larger.set(bytes)
  return larger
}

function byteReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  if (!('readAtLeast' in ReadableStreamBYOBReader.prototype)) return null // not workerd
  try {
    return body.getReader({ mode: 'byob' })
  } catch {
    return null // no stream of bytes: a test's
  }
}

/** As `fillBuffer`, from a stream that hands out what it likes. */
async function readChunks(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    chunks.push(value)
    if (size > replyBytesMax) {
      await reader.cancel()
      return null
    }
  }
  const all = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.byteLength
  }
  return all
}

function judge(status: number, text: string): Result<unknown, NodeError> {
  if (rateLimitStatuses.has(status)) return err(nodeError('rate-limited', `HTTP ${status}`))
  const value = parseJson(text)
  if (isObject(value) && 'Error' in value && !('jsonrpc' in value)) {
    return err(nodeError('rate-limited', `HTTP ${status} with an Error that is no JSON-RPC`)) // 8.2, 8.4
  }
  if (status === 413) return err(nodeError('too-large', 'HTTP 413'))
  if (refusalStatuses.has(status)) return err(nodeError('batch-refused', `HTTP ${status}`))
  if (status !== 200) return err(nodeError('bad-answer', `HTTP ${status}`))
  if (text.trim() === '') return err(nodeError('bad-answer', 'an empty body')) // 8.2: exceptions outside a method call
  return value === undefined ? err(nodeError('bad-answer', 'no JSON')) : ok(value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // JSON has no `undefined`, so this is no value of it
  }
}

/** Whether `value` is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
