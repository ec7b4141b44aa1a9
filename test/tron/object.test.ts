import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../src/worker/chain/block.ts'
import { readBlocksMax } from '../../src/worker/chain/chain.ts'
import { tickRequests } from '../../src/worker/tron/allowance.ts'
import { createChain } from '../support/chain-builder.ts'
import type { Fault, IncomingRequest } from '../support/scripted-node.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import {
  at,
  caller,
  createHarness,
  createProbed,
  type Harness,
  readBlocks,
  refOf,
  troublesOf,
  us,
  wordsOf,
} from './harness.ts'

const head = (h: Harness) => h.settle(h.open().finalizedHead(null))
const five = [2, 2, 2, 2, 2]

/** The queries of a tick that has only the newest blocks to read, as one piece of work. */
async function tick(h: Harness) {
  const chain = h.open({ kind: 'tick' }, 18_000)
  const read = await h.settle(chain.finalizedHead(null))
  if (!read.ok) return read
  const { height } = read.value.header
  const blocks = await h.settle(chain.finalBlocks(at(Math.max(height - 6, h.chain.firstHeight)), at(height)))
  return blocks.ok ? h.settle(chain.tail(refOf(h.chain, height), read.value.header)) : blocks
}

describe('an object that is evicted between ticks', () => {
  it('sends what it must: head, blocks and logs to each node, and blocks and logs of the tail to one', async () => {
    const chain = createChain()
    chain.addEmpty(100)
    const h = await createProbed({ chain, nodes: 2, quorum: 2 })
    for (let i = 0; i < 5; i += 1) {
      for (const node of h.nodes) node.requests.length = 0
      h.evict()
      expect((await tick(h)).ok).toBe(true)
      expect(h.counts()).toEqual([tickRequests, 3])
      h.advance(20_000)
    }
  })

  it('probes a node again after six hours, and after failures', async () => {
    const h = await createProbed({ nodes: 1 })
    h.advance(6 * 3_600_000 - 1_000)
    h.evict()
    await head(h)
    expect(h.counts()).toEqual([1])
    h.advance(1_000)
    h.evict()
    await head(h)
    expect(h.counts()[0]).toBeGreaterThan(2)
  })

  it('knows which nodes fail, are demoted, unfit, or take no batches', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, { kind: 'batch-limit', callsMax: 0, code: -32600, status: 405 })
    await readBlocks(h)
    h.node(1).hasHistory = false
    await readBlocks(h)
    for (const node of h.nodes) node.requests.length = 0
    h.evict()
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    expect(h.counts()[1]).toBe(0)
    expect(h.node(0).requests.filter(({ batch }) => batch)).toEqual([])
    h.fail(0, { kind: 'status', status: 429 })
    await head(h)
    for (const node of h.nodes) node.requests.length = 0
    h.evict()
    await head(h)
    expect(h.counts()[0]).toBe(0)
  })

  it('knows since when a node is in trouble, and that it was well again after five minutes', async () => {
    const h = await createProbed({ nodes: 1 })
    const instants = async (fault: Fault | null, ms: number) => {
      h.fail(0, fault)
      h.evict()
      for (let i = 0; i < 3; i += 1) await head(h) // three good answers end the trouble with a question
      h.advance(ms)
      return h.tron.recoveredAt()
    }
    expect(await instants({ kind: 'broken-connection' }, 120_000)).toBeNull()
    expect(await instants(null, 120_000)).toBeNull() // the node answers again, but has failed for only two minutes
    expect(await instants({ kind: 'broken-connection' }, 120_000)).toBeNull()
    expect(await instants({ kind: 'broken-connection' }, 200_000)).toBeNull()
    const at = h.now()
    expect(await instants(null, 60_000)).toBe(at)
    expect(await instants(null, 60_000)).toBe(at)
  })
})

describe('a node that is behind', () => {
  const behindOf = async (h: Harness) => {
    const read = await head(h)
    return read.ok ? read.value.behind : 'no head'
  }

  it('is named at once, by an alarm after three minutes, until it has caught up', async () => {
    const chain = createChain()
    chain.addEmpty(100)
    const h = await createProbed({ chain, nodes: 2, quorum: 2 })
    h.node(1).behind = 21
    expect(await behindOf(h)).toEqual([{ node: 'node 2', height: chain.tip().height - 18 - 21 }])
    h.advance(116_000) // with the 63 s that 21 blocks take, the node is 179 s behind
    h.evict()
    await behindOf(h)
    expect(await troublesOf(h, 'node-behind')).toEqual([])
    h.advance(1_000)
    h.evict()
    await behindOf(h)
    expect(await troublesOf(h, 'node-behind')).toMatchObject([{ node: 2, seconds: 180 }])
    for (const [behind, named] of [
      [20, 1],
      [20, 1],
      [21, 1], // an old head at each third question ends nothing
      [20, 1],
      [20, 1],
      [20, 0],
      [20, 0],
    ] as const) {
      h.node(1).behind = behind
      h.evict()
      await behindOf(h)
      expect(await troublesOf(h, 'node-behind')).toHaveLength(named)
    }
  })

  it('is not named for one old head, however long nobody asks it again, nor once its next one is new', async () => {
    const chain = createChain()
    chain.addEmpty(100)
    const h = await createProbed({ chain, nodes: 2, quorum: 2 })
    h.node(1).behind = 45 // the node is 135 s behind
    await behindOf(h)
    h.advance(60_000)
    h.evict()
    expect(await troublesOf(h, 'node-behind')).toEqual([])
    h.node(1).behind = 0
    await behindOf(h)
    h.advance(60_000)
    expect(await troublesOf(h, 'node-behind')).toEqual([])
  })

  it('is named where it gives no head, and where its head is old beside another one', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, { kind: 'status', status: 500 })
    expect(await behindOf(h)).toEqual([{ node: 'node 1', height: null }])
    h.fail(1, { kind: 'status', status: 500 })
    expect(await behindOf(h)).toBe('no head')
    h.advance(180_000)
    await behindOf(h)
    expect(await troublesOf(h, 'node-failing')).toMatchObject([
      { node: 1, question: 'heads' },
      { node: 2, question: 'heads' },
    ])
  })
})

/**
 * Makes a node refuse requests beyond `perSecond`, whatever limit the service is configured with.
 */
function allowing(h: Harness, perSecond: number): (incoming: IncomingRequest) => Fault | null {
  const times: number[] = []
  return () => {
    const now = h.now()
    if (times.filter((time) => time > now - 1_000).length >= perSecond) return { kind: 'status', status: 429 }
    times.push(now)
    return null
  }
}

describe('a node that allows fewer requests than it is configured with', () => {
  it('is slowed down to what it answers: the scan goes on', async () => {
    const chain = createChain()
    chain.addEmpty(400)
    const h = await createProbed({ chain, nodes: 2, quorum: 2, perSecond: 15 })
    h.node(1).script = allowing(h, 2)
    let [blocks, refused] = [0, 0]
    const script = h.node(1).script
    h.node(1).script = (incoming) => {
      const fault = script(incoming)
      if (fault !== null) refused += 1
      return fault
    }
    for (const end = h.now() + 600_000; h.now() < end; ) {
      const begun = h.now()
      h.evict()
      const read = await h.settle(
        h.open({ kind: 'tick' }, 18_000).finalBlocks(at(chain.firstHeight), at(chain.firstHeight + readBlocksMax - 1)),
      )
      if (read.ok) blocks += read.value.length
      h.advance(Math.max(begun + 20_000 - h.now(), 0))
    }
    expect(refused).toBeLessThan(15)
    expect(blocks).toBeGreaterThan(1_500) // half of the 3,000 that an undisturbed scan reads
  })

  const refuse = async (h: Harness) => {
    h.node(0).script = () => ({ kind: 'status', status: 429 })
    await head(h)
    h.node(0).script = () => null
  }
  /**
   * How many of 20 requests of ticks are sent within 1.5 s; ticks may use half of the allowance.
   */
  const perSecond = async (h: Harness) => {
    h.node(0).requests.length = 0
    const chain = h.open({ kind: 'tick' }, 1_500)
    await h.settle(Promise.all(Array.from({ length: 20 }, () => chain.balances([us], nativeAsset))))
    h.advance(5_000)
    return h.counts()[0]
  }

  it('gets more again, slowly', async () => {
    const h = await createProbed({ nodes: 1, perSecond: 15 })
    h.advance(5_000)
    await refuse(h)
    h.advance(40_000)
    expect(await perSecond(h)).toBe(1)
    h.advance(30_000)
    expect(await perSecond(h)).toBe(2) // half of the three a second that the service allows itself by now
    h.advance(200_000)
    expect(await perSecond(h)).toBe(7) // half of 14: the node has refused a request at 15 a second
    h.advance(600_000)
    expect(await perSecond(h)).toBe(8)
  })

  it('gets all again within the hour, also if it has refused even one request in a second', async () => {
    const h = await createProbed({ nodes: 1, perSecond: 15 })
    h.advance(5_000)
    for (const restMs of [40_000, 40_000, 300_000]) {
      await refuse(h)
      h.advance(restMs)
    }
    const after: (number | undefined)[] = []
    for (let i = 0; i < 5; i += 1) {
      after.push(await perSecond(h))
      h.advance(595_000)
    }
    expect(after).toEqual([1, 1, 2, 4, 8])
  })
})

describe('callers that ask more than nodes allow', () => {
  it('hear whose limit it is, and the rest are answered: 360 questions in bursts of 60', async () => {
    const h = await createProbed({ nodes: 2, quorum: 2, perSecond: 15 })
    for (const node of h.nodes) node.script = () => ({ kind: 'delayed', wait: () => h.sleep(150) })
    const height = at(h.chain.firstHeight)
    const ask = async (uid: number) => {
      const chain = h.open(caller(uid), 12_000)
      const txid = h.chain.at(height)?.transactions[1]?.txid
      if (txid === undefined) throw new Error('no transaction')
      const found = await chain.locate(txid)
      return found.ok ? chain.finalTransaction(txid, height) : found
    }
    const asked: ReturnType<typeof ask>[] = []
    for (let burst = 0; burst < 6; burst += 1) {
      asked.push(...Array.from({ length: 60 }, (_, i) => ask(burst * 60 + i)))
      await h.settle(h.sleep(3_000))
      const begun = h.now()
      expect((await tick(h)).ok).toBe(true)
      expect(h.now() - begun).toBeLessThan(3_000)
    }
    const results = await h.settle(Promise.all(asked))
    const kinds = Map.groupBy(results, (one) => (one.ok ? 'ok' : one.error.kind))
    expect(new Set(kinds.keys())).toEqual(new Set(['ok', 'limited']))
    expect(kinds.get('ok')?.length).toBeGreaterThan(40)
    expect(kinds.get('limited')?.[0]).toMatchObject({ error: { whose: 'nodes', seconds: expect.any(Number) } })
  })

  it('keep no tick waiting, also where a node allows one request in a second', async () => {
    const h = await createProbed({ nodes: 1, perSecond: 1 })
    const asked = Array.from({ length: 12 }, (_, uid) => h.open(caller(uid), 12_000).balances([us], nativeAsset))
    const begun = h.now()
    expect((await tick(h)).ok).toBe(true)
    expect(h.now() - begun).toBeLessThan(6_000)
    await h.settle(Promise.all(asked))
  })

  it('keep no tick waiting by slow replies', async () => {
    const h = await createProbed({ nodes: 1 })
    h.node(0).script = ({ calls }) =>
      calls.some(({ method }) => method === 'eth_getBalance') ? { kind: 'hang' } : null
    const asked = Array.from({ length: 12 }, (_, uid) => h.open(caller(uid), 12_000).balances([us], nativeAsset))
    const begun = h.now()
    expect((await tick(h)).ok).toBe(true)
    expect(h.now() - begun).toBe(0)
    await h.settle(Promise.all(asked))
  })
})

describe('a clock that steps back ten minutes', () => {
  it('changes nothing: not what may be sent, nor which nodes are used', async () => {
    const h = await createProbed({ nodes: 2, quorum: 1, perSecond: 4 })
    h.fail(0, { kind: 'status', status: 429 })
    await h.settle(h.open().balances([us], nativeAsset))
    h.fail(0, null)
    for (let i = 0; i < 6; i += 1) await h.settle(h.open().balances([us], nativeAsset))
    h.stepBack(600_000)
    for (const node of h.nodes) node.requests.length = 0
    const begun = h.now()
    for (let i = 0; i < 4; i += 1) expect((await h.settle(h.open().balances([us], nativeAsset))).ok).toBe(true)
    expect(h.now() - begun).toBeLessThan(5_000)
    expect(h.counts()[0]).toBeGreaterThan(0)
  })

  it('keeps no node that is behind from being named after three minutes', async () => {
    const chain = createChain()
    chain.addEmpty(100)
    const h = await createProbed({ chain, nodes: 2, quorum: 2 })
    h.node(1).behind = 40
    h.advance(600_000)
    await head(h)
    h.stepBack(600_000)
    await head(h)
    h.advance(181_000)
    await head(h)
    expect(await troublesOf(h, 'node-behind')).toMatchObject([{ node: 2 }])
  })
})

describe('the timers of requests', () => {
  it('end with them', async () => {
    const h = createHarness()
    await tick(h)
    expect(h.timers()).toBe(0)
  })
})

describe('hex in capitals', () => {
  it('makes no node unfit, which writes it so', async () => {
    const h = createHarness({ nodes: 1 })
    const capitals = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (_, one) =>
          typeof one === 'string' && /^0x/.test(one) ? `0x${one.slice(2).toUpperCase()}` : one,
        ),
      )
    h.fail(0, { kind: 'changed-calls', change: (_, response) => capitals(response) as typeof response })
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    expect(h.reports()).toEqual([])
    h.node(0).decimals.set(usdtAddress, 6)
    expect(await h.settle(h.open().decimals(usdtAddress))).toEqual({ ok: true, value: 6 })
  })
})
