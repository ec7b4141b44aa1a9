import { parseIntegersExactly } from '../common/amount.ts'
import { err, ok, parseJson, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import * as limits from './limits.ts'
import { type NodeError, type NodeResult, nodeError, readHttpError } from './node-errors.ts'
import { createReplyScan } from './reply-scan.ts'

/** The network function: the platform's `fetch`, or a test's. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * What all requests of a Durable Object share: the network function, the clock, and memory for
 * large replies.
 */
export interface Network {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly memory: Shared<Uint8Array<ArrayBuffer>>
}

/**
 * A limited number of things of one kind. A taker who finds none free waits until one is given
 * back; the first to wait gets it first.
 */
interface Shared<T> {
  readonly free: (T | (() => T))[]
  readonly waiting: ((thing: T) => void)[]
}

/**
 * Makes a `Network`. Its memory for large replies is used again and again, because the garbage
 * collector frees such memory late.
 */
export function createNetwork(fetch: Fetch, clock: Clock): Network {
  const create = () => new Uint8Array(limits.replyBytesMax)
  return { fetch, clock, memory: { free: Array(limits.largeRepliesMax).fill(create), waiting: [] } }
}

async function take<T>({ free, waiting }: Shared<T>): Promise<T> {
  const first = free.pop() // the memory that was given back last, or a function that makes memory which was never used
  if (first === undefined) return new Promise((start) => waiting.push(start))
  return first instanceof Function ? first() : first
}

function giveBack<T>({ free, waiting }: Shared<T>, thing: T): void {
  const next = waiting.shift()
  if (next === undefined) free.push(thing)
  else next(thing)
}

/**
 * The URL of a node's service, and the header with the API key; null if there is none. Both are
 * secret.
 */
export interface HttpTarget {
  readonly url: string
  readonly keyHeader: { readonly name: string; readonly value: string } | null
}

/**
 * Parses the JSON value of a reply. It runs while no other large reply is parsed. `bytes` is the
 * length of the reply.
 */
export type ReadReply<T> = (value: unknown, bytes: number) => Result<T, NodeError>

/**
 * Sends one POST, and returns the result of `read` for the JSON value in the reply. It never
 * throws, and its errors contain no text of the node.
 */
export async function postJson<T>(
  network: Network,
  target: HttpTarget,
  body: string,
  deadline: UnixMs,
  read: ReadReply<T>,
): NodeResult<T> {
  const { clock } = network
  const limitMs = Math.ceil(Math.min(limits.requestMs, deadline - clock.now()))
  if (limitMs <= 0) return nodeError('out-of-time', 'the time is used up')
  const end = new AbortController()
  try {
    const late = clock.sleep(limitMs, end.signal).then(() => null)
    const reply = await Promise.race([post(network, target, body, end.signal, read), late])
    if (reply !== null) return reply
    if (clock.now() >= deadline) return nodeError('out-of-time', 'no answer before the deadline')
    return nodeError('timed-out', `no answer in ${limitMs} ms`)
  } finally {
    // ends the request, if it runs, and the timer; without a reason, because the default reason is
    // an exception with a stack
    end.abort(null)
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
    // the text of the exception may contain the URL
    const received = await receive(network, target, body, signal, large).catch(() => null)
    if (received === null) return nodeError('unreachable', 'unreachable: the connection failed')
    if (!received.ok) return received
    const { status, text, bytes } = received.value
    return readSafely(() => {
      const value = bytes > limits.smallReplyBytes ? parseJson(text) : parseSmall(text)
      const error = readHttpError(status, text, value, body.startsWith('['))
      return error === null ? read(value, bytes) : err(error)
    })
  } finally {
    if (large.memory !== null) giveBack(network.memory, large.memory)
  }
}

/**
 * Parses a small reply; undefined if it is not JSON. Amounts of sun are numbers there, and integers
 * above 2^53 − 1 come as bigints. Large replies are blocks, whose amounts are read from their
 * bytes: exact numbers would take several times the memory.
 */
function parseSmall(text: string): unknown {
  try {
    return parseIntegersExactly(text)
  } catch {
    return undefined
  }
}

/**
 * Turns an exception while a reply is read into the node's failure `bad-answer`, so that no reply
 * of a node can end the caller's work.
 */
function readSafely<T>(read: () => Result<T, NodeError>): Result<T, NodeError> {
  try {
    return read()
  } catch {
    return nodeError('bad-answer', 'a reply that cannot be read') // the text of the exception may come from the node
  }
}

/** The memory that a large reply has taken; null while the reply is small. */
interface Large {
  memory: Uint8Array<ArrayBuffer> | null
}

async function receive(
  network: Network,
  { url, keyHeader }: HttpTarget,
  body: string,
  signal: AbortSignal,
  large: Large,
): NodeResult<{ readonly status: number; readonly text: string; readonly bytes: number }> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (keyHeader !== null) headers[keyHeader.name] = keyHeader.value
  // If redirects were followed, another host could receive the key.
  const response = await network.fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
  if (response.status < 200 || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel()
    return nodeError('bad-answer', `a redirect (HTTP ${response.status})`)
  }
  const scan = createReplyScan()
  const isTooDense = nodeError('too-large', 'a reply that would take too much memory')
  for await (const bytes of chunksOf(response.body)) {
    const refused = scan.push(bytes)
    if (refused === 'too-large') return nodeError('too-large', `a reply of more than ${limits.replyBytesMax} bytes`)
    if (refused === 'too-dense') return isTooDense
    if (large.memory !== null || scan.size() <= limits.smallReplyBytes) continue
    large.memory = await take(network.memory)
    scan.moveTo(large.memory)
  }
  const text = scan.text()
  if (text === null) return isTooDense
  return ok({ status: response.status, text, bytes: scan.size() })
}

/**
 * Reads the bytes of a body in large chunks. In workerd's default chunks of 4 KiB, reading takes
 * four times as long as parsing (November 2026).
 */
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
      buffer = new Uint8Array(value.buffer) // the read has taken the buffer's memory, and returns it with the value
    }
  } finally {
    await reader.cancel()
  }
}

function createByteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  if (!('readAtLeast' in ReadableStreamBYOBReader.prototype)) return null // this runtime is not workerd
  try {
    return body.getReader({ mode: 'byob' })
  } catch {
    return null // not a stream of bytes
  }
}
