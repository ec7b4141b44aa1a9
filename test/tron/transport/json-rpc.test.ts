import { describe, expect, it } from 'vitest'
import type { UnixMs } from '../../../src/common/time.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { bytesPerValueMin, initialBufferBytes, replyBytesMax, uncheckedValues } from '../../../src/tron/limits.ts'
import { postJson, type RequestBudget } from '../../../src/tron/transport/http.ts'
import { createChain } from '../../support/chain-builder.ts'
import { them, token } from '../harness.ts'

const target = { url: 'https://node.example/jsonrpc', key: null }

/** What `post` makes of a body. */
async function read(body: BodyInit | null) {
  const line: RequestBudget = {
    fetch: () => Promise.resolve(new Response(body)),
    clock: systemClock,
    deadline: (systemClock.now() + 60_000) as UnixMs,
    requestsMax: 1,
    onlyNode: true,
    requests: 0,
    lastId: 0,
    open: 0,
    waiting: [],
  }
  return postJson(line, target, '[]')
}

/** A JSON text of so many bytes: a string in quotes. */
function textOf(bytes: number): Uint8Array<ArrayBuffer> {
  const text = new Uint8Array(bytes).fill(0x61)
  text[0] = 0x22
  text[bytes - 1] = 0x22
  return text
}

/** The same bytes in pieces: through a stream that fills the reader's memory, or one that hands out its own. */
function inPieces(text: Uint8Array<ArrayBuffer>, pieceBytes: number, kind: 'bytes' | 'chunks'): ReadableStream {
  let at = 0
  const pull = (controller: ReadableByteStreamController | ReadableStreamDefaultController<Uint8Array>) => {
    if (at < text.length) controller.enqueue(text.slice(at, at + pieceBytes))
    else controller.close()
    at += pieceBytes
  }
  return kind === 'bytes' ? new ReadableStream({ type: 'bytes', pull }) : new ReadableStream({ pull })
}

const ways = {
  'a body of the platform': (text: Uint8Array<ArrayBuffer>) => text,
  'a stream of bytes': (text: Uint8Array<ArrayBuffer>) => inPieces(text, 100_003, 'bytes'),
  'a stream of chunks': (text: Uint8Array<ArrayBuffer>) => inPieces(text, 100_003, 'chunks'),
}

describe.each(Object.entries(ways))('a reply as %s', (_, toBody) => {
  it.each([
    2,
    4096,
    initialBufferBytes - 1,
    initialBufferBytes,
    initialBufferBytes + 1,
    5 * initialBufferBytes,
    replyBytesMax,
  ])('of %i bytes is read whole', async (bytes) => {
    const reply = await read(toBody(textOf(bytes)))
    expect(reply.ok && reply.value === 'a'.repeat(bytes - 2)).toBe(true)
  })

  it('of one byte more than is read is too large', async () => {
    const reply = await read(toBody(textOf(replyBytesMax + 1)))
    expect(reply).toMatchObject({ ok: false, error: { kind: 'too-large' } })
  })

  it('keeps letters of several bytes whole, wherever it was cut', async () => {
    const words = 'π ≈ 3.14 🙂 '.repeat(20_000)
    expect(await read(toBody(Uint8Array.from(new TextEncoder().encode(JSON.stringify(words)))))).toEqual({
      ok: true,
      value: words,
    })
  })

  it('without a byte is no answer', async () => {
    expect(await read(toBody(new Uint8Array()))).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })
})

describe('a reply that would take far more memory than its bytes', () => {
  const full = replyBytesMax
  const bytesOf = (text: string) => Uint8Array.from(new TextEncoder().encode(text))

  it.each([
    ['empty arrays', `[${'[],'.repeat(full / 3 - 2)}0]`],
    ['arrays in arrays', '['.repeat(full / 2) + ']'.repeat(full / 2)],
    ['empty objects', `[${'{},'.repeat(full / 3 - 2)}0]`],
    ['numbers', `[${'0,'.repeat(full / 2 - 2)}0]`],
    ['names', `{${Array.from({ length: full / 16 }, (_, i) => `"${i.toString(36)}":0`).join(',')}}`],
  ])('is not parsed: %s', async (_, text) => {
    expect(text.length).toBeLessThanOrEqual(full)
    expect(await read(bytesOf(text))).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
  })

  it('is told from a dense one by one value', async () => {
    const ofValues = (count: number) => `[${Array(count).fill('0').join(',')}]`.padEnd(bytesPerValueMin * 2_000)
    expect(await read(bytesOf(ofValues(uncheckedValues + 2_000)))).toMatchObject({ ok: true })
    expect(await read(bytesOf(ofValues(uncheckedValues + 2_001)))).toMatchObject({
      ok: false,
      error: { kind: 'bad-answer' },
    })
  })

  it('is never what a node says of its busiest blocks', async () => {
    const chain = createChain()
    const transfers = Array.from({ length: 400 }, () => token(1n, them))
    const calls = Array.from({ length: 17 }, () => chain.add(transfers)).map(({ full: block, logs }) => [block, logs])
    expect(await read(JSON.stringify(calls))).toMatchObject({ ok: true })
  })
})

it('a reply without a body is no answer', async () => {
  expect(await read(null)).toMatchObject({ ok: false, error: { kind: 'bad-answer' } })
})

it.each(['bytes', 'chunks'] as const)(
  'a reply that breaks off in a stream of %s is a lost connection',
  async (kind) => {
    const pull = (controller: { enqueue: (chunk: Uint8Array<ArrayBuffer>) => void; error: (why: unknown) => void }) => {
      controller.enqueue(textOf(10))
      controller.error(new Error('gone: https://node.example/secret'))
    }
    const body = kind === 'bytes' ? new ReadableStream({ type: 'bytes', pull }) : new ReadableStream({ pull })
    const reply = await read(body)
    expect(reply).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
    expect(JSON.stringify(reply)).not.toContain('secret')
  },
)
