import { describe, expect, it } from 'vitest'
import type { Fault } from '../../support/scripted-node.ts'
import { createProbed, type Harness } from '../harness.ts'

const head = (h: Harness) => h.settle(h.pool({ quorum: 1 }).finalizedHead())
const requests = (h: Harness) => h.counts()[0] ?? 0
const serverError: Fault = { kind: 'status', status: 500 }
const tooManyRequests: Fault = { kind: 'status', status: 429 }

describe('a node that limits the rate', () => {
  it.each<[string, Fault]>([
    ['HTTP 403', { kind: 'status', status: 403 }],
    ['HTTP 429', tooManyRequests],
    ['HTTP 503', { kind: 'status', status: 503 }],
    ['a body with Error', { kind: 'body', body: '{"Error":"lack of computing resources"}' }],
  ])('rests for at least 30 s in all invocations after %s', async (_, fault) => {
    const h = await createProbed(2)
    h.fail(0, fault)
    expect((await head(h)).ok).toBe(true) // from the other node
    h.fail(0, null)
    const before = requests(h)
    h.advance(29_999)
    await head(h)
    expect(requests(h)).toBe(before)
    h.advance(16_000) // 30 s and up to half of it as jitter
    await head(h)
    expect(requests(h)).toBe(before + 1)
  })

  it('rests longer each time', async () => {
    const h = await createProbed(2)
    h.fail(0, tooManyRequests)
    await head(h)
    h.advance(46_000)
    await head(h)
    const before = requests(h)
    h.advance(46_000)
    await head(h)
    expect(requests(h)).toBe(before)
  })

  it('rests with its HTTP API, which has the same key', async () => {
    const h = await createProbed(1)
    h.fail(0, tooManyRequests)
    await head(h)
    h.fail(0, null)
    const txid = h.chain.tip().transactions[0]?.txid
    if (txid === undefined) throw new Error('no transaction')
    expect((await h.settle(h.pool().transactionBytes(txid))).ok).toBe(false)
    expect(h.node(0).requests.filter(({ service }) => service === 'api')).toEqual([])
  })
})

describe('a node that fails', () => {
  it('gets a second request before the deadline, after a short rest', async () => {
    const h = await createProbed(1)
    let isFirst = true
    h.node(0).script = () => {
      const fault: Fault | null = isFirst ? { kind: 'broken-connection' } : null
      isFirst = false
      return fault
    }
    const startedAt = h.now()
    expect((await head(h)).ok).toBe(true)
    expect(h.now() - startedAt).toBeGreaterThanOrEqual(125)
    expect(h.now() - startedAt).toBeLessThanOrEqual(250)
  })

  it('leaves time for the next node where it does not reply', async () => {
    const h = await createProbed(3)
    h.fail(0, { kind: 'hang' })
    h.fail(1, { kind: 'hang' })
    const startedAt = h.now()
    expect((await head(h)).ok).toBe(true)
    expect(h.now() - startedAt).toBeLessThan(10_000)
  })

  it('rests for at least a minute after five failures in a row, and then is probed', async () => {
    const h = await createProbed(2)
    h.fail(0, serverError)
    for (let i = 0; i < 5; i += 1) {
      await head(h)
      h.advance(10_000)
    }
    expect(h.health.nodes.values().next().value?.facts).toBeNull()
    const before = requests(h)
    h.advance(40_000)
    await head(h)
    expect(requests(h)).toBe(before)
    h.fail(0, null)
    h.advance(60_000)
    await head(h)
    expect(requests(h)).toBe(before + 3) // two of the probe, and the query
  })

  it('rests longer where the trial after that rest fails', async () => {
    const h = await createProbed(2)
    h.fail(0, serverError)
    for (let i = 0; i < 5; i += 1) {
      await head(h)
      h.advance(10_000)
    }
    h.advance(90_000)
    await head(h)
    const before = requests(h)
    h.advance(100_000)
    await head(h)
    expect(requests(h)).toBe(before)
  })

  it('results in out-of-budget, not no-answer, where it took all of the time', async () => {
    const h = await createProbed(1)
    h.fail(0, { kind: 'hang' })
    const startedAt = h.now()
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'out-of-budget' } })
    expect(h.now() - startedAt).toBeLessThanOrEqual(10_000)
  })
})
