import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ok } from '../../src/worker/common/result.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { replyBytesMax, replyDepthMax, replyKeysMax } from '../../src/worker/tron/limits.ts'
import { createReplyScan } from '../../src/worker/tron/reply-scan.ts'
import { createNetwork, type Fetch, postJson } from '../../src/worker/tron/transport.ts'
import mainnetText from '../recordings/mainnet/block-of-619-transactions.txt?raw'
import { createVirtualClock } from '../support/virtual-clock.ts'

const utf8 = new TextEncoder()
/** The members of a real block of mainnet that the tests read. */
const mainnet = JSON.parse(mainnetText) as { block: { transactions: { raw_data_hex: string }[] }[] }

/**
 * What the scan of a reply keeps of a text whose bytes arrive in parts, and the size of what it
 * keeps; or the word with which it refuses the text.
 */
function scanned(text: string, partBytes = 1_000_000) {
  const scan = createReplyScan()
  const bytes = utf8.encode(text)
  for (let i = 0; i < bytes.length; i += partBytes) {
    const refused = scan.push(bytes.subarray(i, i + partBytes))
    if (refused !== null) return refused
  }
  const kept = scan.text()
  return kept === null ? 'refused' : { value: JSON.parse(kept) as unknown, size: scan.size() }
}
const list = (item: string, bytes: number) => `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)))}0]`
const megabyte = 1024 * 1024

describe('a reply', () => {
  it('is kept as it is, however its bytes arrive', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 30 }), (value, partBytes) => {
        expect(scanned(JSON.stringify(value), partBytes)).toMatchObject({ value: JSON.parse(JSON.stringify(value)) })
      }),
    )
  })

  it('of blocks is kept without the rendering and the signatures of transactions', () => {
    const text = mainnetText
    const [block] = mainnet.block
    const transactions = block?.transactions.map((one) => ({ ...one, raw_data: 0, signature: 0 }))
    expect(scanned(text, 77)).toMatchObject({ value: { block: [{ ...block, transactions }] } })
    const result = scanned(text)
    expect(typeof result === 'object' && result.size / text.length).toBeLessThan(0.6)
  })

  it('of one block that is as large as a block can be is kept: 9 MB, or 25 MB where its rendering is made large', () => {
    const [block] = mainnet.block
    const [one] = block?.transactions.slice(1) ?? [] // the second one is a TRX transfer
    // 67 for the signature, 10 for the result and the lengths of the fields
    const bytes = (one?.raw_data_hex.length ?? 0) / 2 + 67 + 10
    const transactions = Array(Math.floor(2_000_000 / bytes)).fill(one)
    const text = JSON.stringify({ block: [{ ...block, transactions }] })
    expect(text.length).toBeGreaterThan(7_000_000)
    expect(typeof scanned(text)).toBe('object')
    const abi = Array(500_000).fill({ type: 'Constructor', stateMutability: 'Nonpayable' })
    const large = JSON.stringify({ block: [{ ...block, transactions: [{ ...one, raw_data: { abi } }] }] })
    expect(large.length).toBeGreaterThan(25_000_000)
    expect(typeof scanned(large)).toBe('object')
  })
})

describe('a reply that would take too much memory is refused', () => {
  it.each<[string, string, ReturnType<typeof scanned>]>([
    ['nested arrays', `${'['.repeat(replyDepthMax + 1)}${']'.repeat(replyDepthMax + 1)}`, 'too-dense'],
    ['nested objects', `${'{"a":'.repeat(replyDepthMax + 1)}0${'}'.repeat(replyDepthMax + 1)}`, 'too-dense'],
    ['many keys', `{${Array.from({ length: replyKeysMax + 1 }, (_, i) => `"k${i}":0`).join(',')}}`, 'too-dense'],
    ['empty arrays', list('[]', megabyte), 'refused'],
    ['empty objects', list('{}', megabyte), 'refused'],
    ['numbers', list('1', megabyte), 'refused'],
    ['short texts', list('"a"', megabyte), 'refused'],
    ['a long text with characters of two bytes', `["π${'a'.repeat(megabyte)}"]`, 'refused'],
    ['a long text with escapes', `["\\u03c0${'a'.repeat(megabyte)}"]`, 'refused'],
    ['too many bytes', list('"0123456789012345678901234567890123456789"', replyBytesMax + 100), 'too-large'],
    [
      'too many bytes that are not kept',
      `{"block":[{"transactions":[{"raw_data":"${'a'.repeat(33 * megabyte)}"}]}]}`,
      'too-large',
    ],
  ])('%s', (_, text, outcome) => {
    expect(scanned(text)).toBe(outcome)
  })

  it.each<[string, string]>([
    ['depth', `${'['.repeat(replyDepthMax)}${']'.repeat(replyDepthMax)}`],
    ['keys', `{${Array.from({ length: replyKeysMax }, (_, i) => `"k${i}":0`).join(',')}}`],
    ['values of a short reply', list('1', 1_500)],
    ['marks in texts, which are no values', list(`"${'[{,:}]'.repeat(10)}"`, megabyte)],
    ['quotes and backslashes in texts', '["\\"[[[[[[[[[[[[[[[[[[\\\\","{"]'],
  ])('but not at the limit: %s', (_, text) => {
    expect(scanned(text)).toMatchObject({ value: JSON.parse(text) })
  })
})

describe('a request', () => {
  const clock = createVirtualClock(0)
  const target = { url: 'https://node.test/secret-path', keyHeader: { name: 'x-api-key', value: 'a key' } }
  const post = (fetch: Fetch) => postJson(createNetwork(fetch, clock), target, '{}', 60_000 as UnixMs, ok)

  it('sends its key only as a header, and follows no redirect', async () => {
    const sent: [string, RequestInit][] = []
    const reply = await post(async (url, init) => {
      sent.push([url, init])
      return new Response(null, { status: 302, headers: { location: 'https://elsewhere.test/' } })
    })
    expect(reply).toMatchObject({ ok: false, error: { kind: 'bad-answer', detail: 'a redirect (HTTP 302)' } })
    expect(sent).toHaveLength(1)
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': 'a key' }
    expect(sent[0]).toMatchObject(['https://node.test/secret-path', { method: 'POST', redirect: 'manual', headers }])
  })

  it('that fails has an error without the text of the network, which can contain the URL', async () => {
    const reply = await post(async (url) => {
      throw new TypeError(`fetch failed: ${url}`)
    })
    expect(reply).toEqual({ ok: false, error: { kind: 'unreachable', detail: 'unreachable: the connection failed' } })
  })

  it('whose reply cannot be read is a bad answer, whatever it is that cannot', async () => {
    const network = createNetwork(async () => new Response('{}'), clock)
    const fault = () => {
      throw new Error('the text of a node')
    }
    const reply = await postJson(network, target, '{}', 60_000 as UnixMs, fault)
    expect(reply).toEqual({ ok: false, error: { kind: 'bad-answer', detail: 'a reply that cannot be read' } })
  })

  it('waits where two large replies are being read: together they have 9 MB', async () => {
    const large = `[${'"0123456789012345678901234567890123456789",'.repeat(100_000)}0]`
    const releases: (() => void)[] = []
    let started = 0
    const fetch: Fetch = async () => {
      started += 1
      const bytes = utf8.encode(large)
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(bytes.subarray(0, megabyte))
          await new Promise<void>((release) => releases.push(release))
          controller.enqueue(bytes.subarray(megabyte))
          controller.close()
        },
      })
      return new Response(body)
    }
    const network = createNetwork(fetch, clock)
    const results = Array.from({ length: 8 }, () => postJson(network, target, '{}', 60_000 as UnixMs, ok))
    const settle = () => new Promise((resolve) => setTimeout(resolve, 20))
    await settle()
    expect([started, network.memory.free.length, network.memory.waiting.length]).toEqual([8, 0, 6])
    for (let i = 0; i < 8; i += 1) {
      await settle()
      for (const release of releases.splice(0)) release()
    }
    const read = await Promise.all(results)
    expect(read.every((one) => one.ok)).toBe(true)
    expect(network.memory.free.length).toBe(2)
  })
})
