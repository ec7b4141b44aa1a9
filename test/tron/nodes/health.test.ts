import { describe, expect, it } from 'vitest'
import { connectionsMax, lostTimeRests, requestMs, slowMs, slowNodeMs } from '../../../src/tron/limits.ts'
import { createNodeHealthStore, healthOf, recordError } from '../../../src/tron/nodes/health.ts'
import type { NodeErrorKind } from '../../../src/tron/nodes/node-error.ts'
import type { Fault } from '../../support/scripted-node.ts'
import { at, createProbed, type Harness } from '../harness.ts'
import { createVirtualTime } from '../virtual-time.ts'

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

  it('rests once for queries that ran at the same time', async () => {
    const rests = async (concurrent: number) => {
      const h = await createProbed(2)
      h.fail(0, tooManyRequests)
      await h.settle(Promise.all(Array.from({ length: concurrent }, () => h.pool({ quorum: 1 }).finalizedHead())))
      return h.health.nodes.values().next().value?.rpc
    }
    expect((await rests(6))?.rateLimits).toBe(1)
    expect((await rests(6))?.restUntil).toBe((await rests(1))?.restUntil)
  })
})

describe('errors of one service of a node', () => {
  const bytes = (h: Harness) => {
    const txid = h.chain.tip().transactions[0]?.txid
    if (txid === undefined) throw new Error('no transaction')
    return h.settle(h.pool({ quorum: 1 }).transactionBytes(txid))
  }

  it.each<[string, Fault]>([
    ['HTTP 503', { kind: 'status', status: 503 }],
    ['HTTP 429', tooManyRequests],
    ['HTTP 500', serverError],
  ])('does not rest the other one: %s', async (_, fault) => {
    const h = await createProbed(1)
    h.node(0).script = ({ service }) => (service === 'api' ? fault : null)
    expect((await bytes(h)).ok).toBe(false)
    expect((await head(h)).ok).toBe(true)
    h.node(0).script = ({ service }) => (service === 'rpc' ? fault : null)
    h.advance(60_000)
    expect((await head(h)).ok).toBe(false)
    expect((await bytes(h)).ok).toBe(true)
  })
})

describe('a slow node', () => {
  /** A node whose first reply takes so long. */
  async function createSlow(ms: number): Promise<Harness> {
    const h = await createProbed(2)
    h.fail(0, { kind: 'delayed', wait: async () => h.advance(ms) })
    await head(h)
    h.fail(0, null)
    return h
  }

  it('is used after all others for ten minutes', async () => {
    const h = await createSlow(slowMs + 1)
    const before = requests(h)
    await head(h)
    h.advance(slowNodeMs - 1_000)
    await head(h)
    expect(requests(h)).toBe(before)
    h.advance(1_000)
    await head(h)
    expect(requests(h)).toBe(before + 1)
  })

  it('is one whose request took longer than the limit', async () => {
    const h = await createSlow(slowMs)
    const before = requests(h)
    await head(h)
    expect(requests(h)).toBe(before + 1)
  })
})

describe('resting nodes', () => {
  /** Node 1 of so many has been down for long, so that it rests for minutes. */
  async function createRested(nodes: number): Promise<Harness> {
    const h = await createProbed(nodes)
    h.fail(0, serverError)
    for (let i = 0; i < 9; i += 1) {
      await headOf(h, nodes)
      h.advance(60_000)
    }
    expect((h.health.nodes.values().next().value?.rpc.restUntil ?? 0) - h.now()).toBeGreaterThan(120_000)
    return h
  }
  const headOf = (h: Harness, quorum: number) => h.settle(h.pool({ quorum }).finalizedHead())

  it.each([1, 2, 3])('are tried anyway in each invocation, where all of %i nodes are needed', async (nodes) => {
    const h = await createRested(nodes)
    expect((await headOf(h, nodes)).ok).toBe(false)
    h.fail(0, null)
    expect((await headOf(h, nodes)).ok).toBe(true)
    const { firstHeight } = h.chain
    const blocks = await h.settle(h.pool({ quorum: nodes }).finalizedBlocks(at(firstHeight), at(firstHeight)))
    expect(blocks.ok).toBe(true)
  })

  it('are left alone where enough others are available', async () => {
    const h = await createRested(3)
    const before = requests(h)
    expect((await headOf(h, 2)).ok).toBe(true)
    const { firstHeight } = h.chain
    expect((await h.settle(h.pool({ quorum: 2 }).finalizedBlocks(at(firstHeight), at(firstHeight)))).ok).toBe(true)
    expect(requests(h)).toBe(before)
  })

  it('are tried once in an invocation', async () => {
    const h = await createRested(2)
    const before = requests(h)
    const chain = h.pool({ quorum: 2 })
    for (let i = 0; i < 3; i += 1) expect((await h.settle(chain.finalizedHead())).ok).toBe(false)
    expect(requests(h)).toBe(before + 1)
  })

  it('are used as before once they answer', async () => {
    const h = await createRested(2)
    h.fail(0, null)
    expect((await headOf(h, 2)).ok).toBe(true)
    const before = requests(h)
    expect((await headOf(h, 1)).ok).toBe(true)
    expect(requests(h)).toBe(before + 1)
  })

  it('are not tried within 30 s of a rate limit', async () => {
    const h = await createProbed(1)
    h.fail(0, tooManyRequests)
    await head(h)
    h.fail(0, null)
    h.advance(29_999)
    expect((await head(h)).ok).toBe(false)
    h.advance(1)
    expect((await head(h)).ok).toBe(true)
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

  it('rests for four times as long as it took to fail', async () => {
    const h = await createProbed(2)
    h.fail(0, { kind: 'hang' })
    await head(h) // half of the 10 s, then from the other node
    h.fail(0, null)
    const before = requests(h)
    h.advance(4 * 5_000 - 1)
    await head(h)
    expect(requests(h)).toBe(before)
    h.advance(1)
    await head(h)
    expect(requests(h)).toBe(before + 1)
  })

  it('takes its time only once in an invocation where the others are enough', async () => {
    const h = await createProbed(3)
    h.fail(0, { kind: 'hang' })
    const chain = h.pool({ quorum: 2, deadlineMs: 16_000 })
    const startedAt = h.now()
    for (let i = 0; i < 6; i += 1) {
      expect((await h.settle(chain.finalizedHead())).ok).toBe(true)
      h.advance(500)
    }
    expect(h.now() - startedAt).toBeLessThan(requestMs + 6 * 500 + 100)
  })

  it('is tried again at once where the others are too few', async () => {
    const h = await createProbed(2)
    let isFirst = true
    h.node(0).script = () => {
      const fault: Fault | null = isFirst ? { kind: 'hang' } : null
      isFirst = false
      return fault
    }
    const startedAt = h.now()
    expect((await h.settle(h.pool({ quorum: 2, deadlineMs: 16_000 }).finalizedHead())).ok).toBe(true)
    expect(h.now() - startedAt).toBeLessThan(6_500)
  })

  it('is not blamed for the time in which the connections were taken by another one', async () => {
    const h = await createProbed(2)
    h.fail(0, { kind: 'hang' })
    h.fail(1, serverError)
    const chain = h.pool({ quorum: 1, deadlineMs: 16_000 })
    await h.settle(Promise.all(Array.from({ length: 2 * connectionsMax }, () => chain.finalizedHead())))
    const [first, second] = [...h.health.nodes.values()].map(({ rpc }) => rpc.restUntil - h.now())
    expect(first).toBeGreaterThan(10_000)
    expect(second).toBeLessThan(1_000)
  })

  it.each<[NodeErrorKind, boolean]>([
    ['timed-out', true],
    ['unreachable', true],
    ['bad-answer', true],
    ['too-large', false],
    ['too-costly', false],
  ])('that was slow and %s rests for long: %s', (kind, isLong) => {
    const { clock } = createVirtualTime()
    const health = healthOf(createNodeHealthStore(), 1, { rpc: '', api: null, key: null }, '0x1')
    recordError(health, health.rpc, kind, { restsBefore: 0, slowestMs: slowMs + 1 }, clock)
    expect(health.rpc.restUntil - clock.now() >= slowMs * lostTimeRests).toBe(isLong)
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
