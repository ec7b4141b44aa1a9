import { parseJson } from '../common/parse-json.ts'
import type { Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import * as limits from './limits.ts'
import { type NodeError, type NodeResult, nodeError } from './node-error.ts'
import { createReplyScan } from './reply-scan.ts'

/** The network function: the platform's `fetch`, or that of a test. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What all requests of an object share: its connections, and its memory for large replies. */
export interface Network {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly connections: Shared<null>
  readonly memory: Shared<Uint8Array<ArrayBuffer>>
}

/** Things that few can have at a time; the others wait in order. */
interface Shared<T> {
  readonly free: (T | (() => T))[]
  readonly waiting: ((thing: T) => void)[]
}

/** A network of which nothing is used. Its memory is used again: what is left to the garbage stays for long. */
export function createNetwork(fetch: Fetch, clock: Clock): Network {
  const connections: Shared<null> = { free: Array(limits.connectionsMax).fill(null), waiting: [] }
  const create = () => new Uint8Array(limits.replyBytesMax)
  return { fetch, clock, connections, memory: { free: Array(limits.largeRepliesMax).fill(create), waiting: [] } }
}

async function take<T>({ free, waiting }: Shared<T>): Promise<T> {
  const first = free.pop() // the one that was used last
  if (first === undefined) return new Promise((start) => waiting.push(start))
  return first instanceof Function ? first() : first
}

function giveBack<T>({ free, waiting }: Shared<T>, thing: T): void {
  const next = waiting.shift()
  if (next === undefined) free.push(thing)
  else next(thing)
}

/** The URL of a service and its API key. Both are secrets. */
export interface HttpTarget {
  readonly url: string
  readonly key: string | null
}

/** What a value of a reply is read as. It runs while no other large reply is parsed. `bytes` is the length of the reply. */
export type ReadReply<T> = (value: unknown, bytes: number) => Result<T, NodeError>

/** What `read` makes of the JSON value in the reply to one POST. It never throws, and no error has text of the node. */
export async function postJson<T>(
  network: Network,
  target: HttpTarget,
  body: string,
  deadline: UnixMs,
  read: ReadReply<T>,
): NodeResult<T> {
  const { clock, connections } = network
  const connection = await take(connections)
  try {
    const leftMs = deadline - clock.now()
    if (leftMs <= 0) return nodeError('out-of-time', 'the time is used up')
    const limitMs = Math.ceil(Math.min(limits.requestMs, Math.max(leftMs / 2, limits.requestMsMin), leftMs))
    const abort = new AbortController()
    const late = clock.sleep(limitMs).then(() => null)
    const reply = await Promise.race([post(network, target, body, abort.signal, read), late])
    if (reply !== null) return reply
    abort.abort()
    if (clock.now() >= deadline) return nodeError('out-of-time', 'no answer before the deadline')
    return nodeError('timed-out', `no answer in ${limitMs} ms`)
  } finally {
    giveBack(connections, connection)
  }
}

async function post<T>(
  network: Network,
  target: HttpTarget,
  body: string,
  signal: AbortSignal,
  read: ReadReply<T>,
): NodeResult<T> {
  const large: Large = { memory: null }
  try {
    const received = await receive(network, target, body, signal, large).catch(() => null) // its text can contain the URL
    if (received === null) return nodeError('unreachable', 'the connection failed')
    if ('error' in received) return received
    const value = parseReply(received.status, received.text)
    return 'error' in value ? value : read(value.value, received.bytes)
  } finally {
    if (large.memory !== null) giveBack(network.memory, large.memory)
  }
}

/** The memory that a large reply has. */
interface Large {
  memory: Uint8Array<ArrayBuffer> | null
}
type Failed = ReturnType<typeof nodeError>
type Received = { readonly status: number; readonly text: string; readonly bytes: number }

async function receive(
  network: Network,
  { url, key }: HttpTarget,
  body: string,
  signal: AbortSignal,
  large: Large,
): Promise<Received | Failed> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (key !== null) headers['TRON-PRO-API-KEY'] = key
  // With redirects followed, another host could receive the key.
  const response = await network.fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
  if (response.status < 200 || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel()
    return nodeError('bad-answer', `a redirect (HTTP ${response.status})`)
  }
  const scan = createReplyScan(network.clock.random())
  for await (const bytes of chunksOf(response.body)) {
    const refused = scan.push(bytes)
    if (refused === 'too-large') return nodeError('too-large', `a reply of more than ${limits.replyBytesMax} bytes`)
    if (refused === 'too-dense') return nodeError('too-large', 'a reply that would take too much memory')
    if (large.memory !== null || scan.size() <= limits.smallReplyBytes) continue
    large.memory = await take(network.memory)
    scan.moveTo(large.memory)
  }
  const text = scan.text()
  if (text === null) return nodeError('too-large', 'a reply that would take too much memory')
  return { status: response.status, text, bytes: scan.size() }
}

/** The bytes of a body. workerd's default chunks of 4 KiB take four times as long as parsing (November 2026). */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = createByteReader(body)
  if (reader === null) return yield* body
  try {
    for (let buffer = new Uint8Array(limits.smallReplyBytes); ; ) {
      const { done, value } = await reader.readAtLeast(buffer.byteLength, buffer)
      if (value === undefined) throw new Error('the body was cancelled')
      yield value
      if (done) return
      buffer = new Uint8Array(value.buffer) // the read has taken the memory away and gives it back
    }
  } finally {
    await reader.cancel()
  }
}

function createByteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  if (!('readAtLeast' in ReadableStreamBYOBReader.prototype)) return null // not workerd
  try {
    return body.getReader({ mode: 'byob' })
  } catch {
    return null // not a stream of bytes
  }
}

// PROTOCOL.md, Rate limits and gateways
const rateLimitStatuses: ReadonlySet<number> = new Set([403, 429, 503])
const batchRefusalStatuses: ReadonlySet<number> = new Set([400, 405, 415, 422, 501])

function parseReply(status: number, text: string): Failed | { readonly value: unknown } {
  if (rateLimitStatuses.has(status)) return nodeError('rate-limited', `HTTP ${status}`)
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && 'Error' in value && !('jsonrpc' in value)) {
    return nodeError('rate-limited', `HTTP ${status} with an Error that is not JSON-RPC`)
  }
  if (status === 413) return nodeError('too-large', 'HTTP 413')
  if (batchRefusalStatuses.has(status)) return nodeError('batch-refused', `HTTP ${status}`)
  if (status !== 200) return nodeError('bad-answer', `HTTP ${status}`)
  if (text.trim() === '') return nodeError('bad-answer', 'an empty body') // PROTOCOL.md, JSON-RPC transport
  return value === undefined ? nodeError('bad-answer', 'a body that is not JSON') : { value }
}
