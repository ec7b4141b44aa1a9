import { describe, expect, it } from 'vitest'
import type { UnixMs } from '../../../src/common/time.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import {
  bytesPerValueMin,
  initialBufferBytes,
  plainBytesMin,
  replyBytesMax,
  replyDepthMax,
  replyKeysMax,
  uncheckedValuesMax,
} from '../../../src/tron/limits.ts'
import { createRequestBudget, postJson } from '../../../src/tron/transport/http.ts'
import { createChain } from '../../support/chain-builder.ts'
import { them, token } from '../harness.ts'

/** Makes requests of one invocation whose responses have these bodies, one after the other. */
function createReader(...bodies: (BodyInit | null)[]) {
  const fetch = () => Promise.resolve(new Response(bodies.shift()))
  const deadline = (systemClock.now() + 60_000) as UnixMs // milliseconds since 1970
  const budget = createRequestBudget({ fetch, clock: systemClock, deadline, requestsMax: bodies.length }, true)
  return () => postJson(budget, { url: 'https://node.example/jsonrpc', key: null }, '[]', { left: 1, slowestMs: 0 })
}

/** The result of a request whose response has this body. */
const read = (body: BodyInit | null) => createReader(body)()

const bytesOf = (text: string) => Uint8Array.from(new TextEncoder().encode(text))

/** A JSON string of so many bytes, quotes included. */
const textOf = (bytes: number) => bytesOf(`"${'a'.repeat(bytes - 2)}"`)

/** A stream of the bytes in pieces: one that fills the reader's buffer, or one with buffers of its own. */
function inPieces(text: Uint8Array<ArrayBuffer>, pieceBytes: number, kind: 'bytes' | 'chunks'): ReadableStream {
  let at = 0
  const pull = (controller: ReadableByteStreamController | ReadableStreamDefaultController<Uint8Array>) => {
    if (at < text.length) controller.enqueue(text.slice(at, at + pieceBytes))
    else controller.close()
    at += pieceBytes
  }
  return kind === 'bytes' ? new ReadableStream({ type: 'bytes', pull }) : new ReadableStream({ pull })
}

const bodies = {
  'a body of the platform': (text: Uint8Array<ArrayBuffer>) => text,
  'a stream of bytes': (text: Uint8Array<ArrayBuffer>) => inPieces(text, 100_003, 'bytes'),
  'a stream of chunks': (text: Uint8Array<ArrayBuffer>) => inPieces(text, 100_003, 'chunks'),
}

describe.each(Object.entries(bodies))('a reply as %s', (_, toBody) => {
  it.each([
    2,
    4096,
    initialBufferBytes - 1,
    initialBufferBytes,
    initialBufferBytes + 1,
    5 * initialBufferBytes,
    replyBytesMax,
  ])('of %i bytes is read completely', async (bytes) => {
    const reply = await read(toBody(textOf(bytes)))
    expect(reply.ok && reply.value === 'a'.repeat(bytes - 2)).toBe(true)
  })

  it('has nothing of another one of the same invocation, before it or at the same time', async () => {
    const sizes = [5, 3, 0.5, 4, 1, 0.1, 2].map((part) => part * initialBufferBytes)
    const texts = sizes.map((bytes, i) => bytesOf(JSON.stringify(String(i).repeat(bytes))))
    const expected = texts.map((text) => ({ ok: true, value: JSON.parse(new TextDecoder().decode(text)) }))
    const next = createReader(...texts.map((text) => toBody(text)))
    const inTurn = []
    for (const _ of texts) inTurn.push(await next())
    expect(inTurn).toEqual(expected)
    const atOnce = createReader(...texts.map((text) => toBody(text)))
    expect(await Promise.all(texts.map(atOnce))).toEqual(expected)
  })

  it('that exceeds the limit by one byte is too large', async () => {
    const reply = await read(toBody(textOf(replyBytesMax + 1)))
    expect(reply).toMatchObject({ ok: false, error: { kind: 'too-large' } })
  })

  it('keeps characters of several bytes that are split between pieces', async () => {
    const words = 'π ≈ 3.14 🙂 '.repeat(20_000)
    expect(await read(toBody(bytesOf(JSON.stringify(words))))).toEqual({ ok: true, value: words })
  })

  it('without a byte is not an answer', async () => {
    expect(await read(toBody(new Uint8Array()))).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })
})

/** Members with different keys, of so many bytes or less. */
const membersOf = (bytes: number) => Array.from({ length: bytes / 16 }, (_, i) => `"${i.toString(36)}":0`).join(',')

describe('a reply that would take far more memory than its bytes', () => {
  const full = replyBytesMax

  it.each([
    ['empty arrays', `[${'[],'.repeat(full / 3 - 2)}0]`],
    ['nested arrays', '['.repeat(full / 2) + ']'.repeat(full / 2)],
    ['empty objects', `[${'{},'.repeat(full / 3 - 2)}0]`],
    ['numbers', `[${'0,'.repeat(full / 2 - 2)}0]`],
    ['empty arrays after a long text', `["${'a'.repeat(full / 2)}",${'[],'.repeat(full / 6 - 3)}0]`],
    ['short members after a long text', `{"t":"${'a'.repeat(full / 2)}",${membersOf(full / 2)}}`],
    ['short members', `{${membersOf(full)}}`],
  ])('is not parsed: %s', async (_, text) => {
    expect(text.length).toBeLessThanOrEqual(full)
    expect(await read(bytesOf(text))).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })

  it('has one value more than its length allows', async () => {
    const ofValues = (count: number) => `[${Array(count).fill('0').join(',')}]`.padEnd(bytesPerValueMin * 2_000)
    expect(await read(bytesOf(ofValues(uncheckedValuesMax + 2_000)))).toMatchObject({ ok: true })
    expect(await read(bytesOf(ofValues(uncheckedValuesMax + 2_001)))).toMatchObject({
      ok: false,
      error: { kind: 'bad-answer' },
    })
  })

  it.each([
    ['arrays', replyDepthMax, '['.repeat(replyDepthMax), ']'.repeat(replyDepthMax)],
    ['objects', replyDepthMax, '{"a":'.repeat(replyDepthMax), '}'.repeat(replyDepthMax)],
    ['arrays after strings with brackets', replyDepthMax, '["]]",'.repeat(replyDepthMax), ']'.repeat(replyDepthMax)],
    ['arrays after an escaped quote', replyDepthMax, '["\\"]]",'.repeat(replyDepthMax), ']'.repeat(replyDepthMax)],
  ])('has one level more than may be nested: %s', async (_, _depth, before, after) => {
    expect(await read(`${before}0${after}`)).toMatchObject({ ok: true })
    expect(await read(`[${before}0${after}]`)).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })

  it.each<[string, (i: number) => string]>([
    ['of one object', (i) => `"k${i}":0`],
    ['of nested objects', (i) => `"n${i}":{"m${i}":0}`],
    ['before blanks', (i) => `"k${i}" \t\r\n:0`],
    ['with escaped quotes', (i) => `"\\"${i}":0`],
  ])('has one key more than different keys are read: %s', async (_, member) => {
    const keysOf = (text: string) => text.split(':').length - 1
    const count = replyKeysMax / keysOf(member(0))
    const members = Array.from({ length: count }, (_one, i) => member(i))
    expect(await read(`{${members.join(',')}}`)).toMatchObject({ ok: true })
    expect(await read(`{${members.join(',')},"more":0}`)).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })

  it.each([
    ['a character of two bytes', 'π'],
    ['an escaped character', '\\u03c0'],
  ])('has %s where it is long', async (_, odd) => {
    const ofBytes = (bytes: number) => `["${odd}"]`.padEnd(bytes - (new TextEncoder().encode(odd).length - odd.length))
    expect(await read(ofBytes(plainBytesMin))).toMatchObject({ ok: true })
    expect(await read(ofBytes(plainBytesMin + 1))).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })

  it('has a byte that is no character where it is long', async () => {
    const ofBytes = (bytes: number) => Uint8Array.from(bytesOf('["?"]'.padEnd(bytes))).fill(0xff, 2, 3)
    expect(await read(ofBytes(plainBytesMin))).toMatchObject({ ok: true })
    expect(await read(ofBytes(plainBytesMin + 1))).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })

  it('may repeat the same keys', async () => {
    const log = JSON.stringify({ address: `0x${'a'.repeat(40)}`, topics: [], data: `0x${'b'.repeat(64)}` })
    expect(await read(`[${Array(20_000).fill(log).join(',')}]`)).toMatchObject({ ok: true })
  })

  it('is never the reply about logs without topics and data, the densest that nodes write', async () => {
    const chain = createChain()
    const empty = { contract: them, topics: [], data: '0x' }
    const { logs } = chain.add([{ kind: 'call', contract: them, from: them, logs: Array(24_000).fill(empty) }])
    const text = JSON.stringify(logs)
    expect(text.length).toBeLessThan(replyBytesMax)
    expect(await read(text)).toMatchObject({ ok: true })
  })

  it('is never the reply about the largest block', async () => {
    const chain = createChain()
    const { full: block } = chain.add(Array.from({ length: 7_000 }, () => token(1n, them)))
    expect(await read(JSON.stringify([block]))).toMatchObject({ ok: true })
  })

  it('is never the reply about busy blocks, or about their logs', async () => {
    const chain = createChain()
    const transfers = Array.from({ length: 400 }, () => token(1n, them))
    const blocks = Array.from({ length: 17 }, () => chain.add(transfers))
    expect(await read(JSON.stringify(blocks.map(({ full: block }) => block)))).toMatchObject({ ok: true })
    expect(await read(JSON.stringify(blocks.map(({ logs }) => logs)))).toMatchObject({ ok: true })
  })
})

it('a reply without a body is not an answer', async () => {
  expect(await read(null)).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
})

it.each(['bytes', 'chunks'] as const)('a stream of %s that breaks off is a lost connection', async (kind) => {
  const pull = (controller: { enqueue: (chunk: Uint8Array<ArrayBuffer>) => void; error: (why: unknown) => void }) => {
    controller.enqueue(textOf(10))
    controller.error(new Error('gone: https://node.example/secret'))
  }
  const body = kind === 'bytes' ? new ReadableStream({ type: 'bytes', pull }) : new ReadableStream({ pull })
  const reply = await read(body)
  expect(reply).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
  expect(JSON.stringify(reply)).not.toContain('secret')
})
