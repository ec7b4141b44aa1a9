import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../src/worker/chain/block.ts'
import { createChain } from '../support/chain-builder.ts'
import { changing, type Fault, failing, type IncomingRequest } from '../support/scripted-node.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import {
  at,
  busyChain,
  caller,
  createHarness,
  createProbed,
  type Harness,
  headOf,
  readBlocks,
  refOf,
  secrets,
  trx,
  us,
  wordsOf,
} from './harness.ts'

const balance = (h: Harness) => h.settle(h.open().balances([us], nativeAsset))
const five = [2, 2, 2, 2, 2]
/** Makes only one service of a node fail: JSON-RPC or the HTTP API. */
const of = (service: IncomingRequest['service'], fault: Fault) => (incoming: IncomingRequest) => {
  return incoming.service === service ? fault : null
}
const limited: Fault = { kind: 'status', status: 429 }

describe('a service of a node that fails', () => {
  it('rests, longer after each further failure, and is used again once it is well', async () => {
    const h = await createProbed({ nodes: 2, quorum: 1 })
    h.fail(0, { kind: 'broken-connection' })
    await balance(h)
    expect(h.counts()).toEqual([2, 1]) // the first node is asked twice before the second one
    await balance(h)
    expect(h.counts()).toEqual([2, 2])
    h.advance(3_000)
    await balance(h)
    expect(h.counts()).toEqual([3, 3])
    h.advance(3_000) // after the second failure the node is left alone for twice as long
    await balance(h)
    expect(h.counts()).toEqual([3, 4])
    h.fail(0, null)
    h.advance(3_000)
    await balance(h)
    await balance(h)
    expect(h.counts()).toEqual([5, 4])
  })

  it('is tried anyway where too few nodes are left without it', async () => {
    const h = await createProbed()
    h.fail(1, { kind: 'broken-connection' })
    for (let i = 0; i < 6; i += 1) expect((await readBlocks(h)).ok).toBe(false)
    h.fail(1, null) // the node answers again before the time ends in which the service leaves it alone
    // fewer blocks at once, because a large block could have made the node fail
    expect(wordsOf(await readBlocks(h))).toEqual([2])
    expect(wordsOf(await readBlocks(h))).toEqual([2, 2])
  })

  it('leaves the other service as it was: a 503 of the HTTP API does not rest JSON-RPC', async () => {
    const h = await createProbed({ nodes: 2, quorum: 1 })
    h.node(0).script = of('api', { kind: 'status', status: 503 })
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    expect(h.counts()).toEqual([1, 2 + 2]) // two requests check the second node, and two read from it
    await balance(h)
    expect(h.counts()).toEqual([2, 4])
  })
})

describe('a slow node', () => {
  it.each([
    ['that answers after two seconds', 2_001, 'node-slow'],
    ['that does not answer in time', 6_000, 'node-error', '{}'],
    ['whose slow answers cannot be read', 2_001, 'node-error', '{}'],
  ])(
    '%s is named, and for ten minutes all others are asked before it',
    async (_, ms, name, body: string | null = null) => {
      const h = await createProbed({ nodes: 2, quorum: 1 })
      const { respond } = h.node(0)
      h.node(0).respond = async (path, init) => {
        await h.sleep(ms)
        return body === null ? respond(path, init) : new Response(body)
      }
      await balance(h)
      expect(h.lines).toContainEqual(expect.objectContaining({ name, fields: expect.objectContaining({ node: 1 }) }))
      h.node(0).respond = respond
      const first = () => {
        for (const node of h.nodes) node.requests.length = 0
        return balance(h).then(() => h.counts())
      }
      h.advance(500_000) // the time has ended in which requests leave the failing service alone
      expect(await first()).toEqual([0, 1])
      h.advance(100_000)
      expect(await first()).toEqual([1, 0])
    },
  )
})

describe('a node that is slow again each time', () => {
  it('is asked after all others for twice as long, up to six hours, until it was quick for ten minutes', async () => {
    const h = await createProbed({ nodes: 2, quorum: 1 })
    /**
     * Lets time pass until the service asks the first node before the others again; returns how
     * many minutes that took.
     */
    const minutes = async () => {
      for (let all = 0; ; all += 5) {
        for (const node of h.nodes) node.requests.length = 0
        await balance(h)
        if (h.counts()[0] === 1) return all
        h.advance(300_000)
      }
    }
    const slow = () => ({ kind: 'delayed', wait: () => h.sleep(2_100) }) as const
    h.node(0).script = slow
    await balance(h)
    const waits = []
    for (let i = 0; i < 8; i += 1) waits.push(await minutes())
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 360, 360])
    h.node(0).script = () => null
    expect(await minutes()).toBe(360)
    for (let i = 0; i < 4; i += 1) {
      expect(await minutes()).toBe(0)
      h.advance(300_000)
    }
    h.node(0).script = slow
    expect([await minutes(), await minutes()]).toEqual([0, 10])
  })
})

describe('a rate limit', () => {
  it('leaves the service alone for 30 s, and for longer each time, though no other node is left', async () => {
    const h = await createProbed({ nodes: 1 })
    h.fail(0, limited)
    await balance(h)
    h.advance(29_000)
    await balance(h)
    expect(h.counts()).toEqual([1])
    h.advance(30_000)
    await balance(h)
    expect(h.counts()).toEqual([2])
  })

  it('of requests at the same time counts once', async () => {
    const h = await createProbed({ nodes: 2, quorum: 1 })
    h.fail(0, limited)
    const chain = h.open()
    await h.settle(Promise.all([1, 2, 3, 4].map(() => chain.balances([us], nativeAsset))))
    expect(h.counts()).toEqual([4, 4])
    h.fail(0, null)
    h.advance(46_000) // longer than a service is left alone after one 429: 30 s and up to half of that
    await balance(h)
    expect(h.counts()).toEqual([5, 4])
  })
})

describe('a node that once answers with the id of another chain', () => {
  it('is reported, left alone for a minute, and then used again', async () => {
    const h = await createProbed({ nodes: 1 })
    h.fail(
      0,
      changing('eth_chainId', () => '0xcd8690dc'),
    )
    expect((await balance(h)).ok).toBe(false)
    expect(h.reports()).toMatchObject([
      { name: 'node-lies', fields: { node: 1, subject: { node: 1, why: 'wrong-chain' } } },
    ])
    h.fail(0, null)
    h.advance(59_000)
    expect((await balance(h)).ok).toBe(false)
    expect(h.counts()).toEqual([1])
    h.advance(2_000)
    expect((await balance(h)).ok).toBe(true)
  })

  it('is known from another chain with the same id by the hash of block 0', async () => {
    const other = createChain({ chainId: '0x1e6653dc' })
    other.addEmpty(30)
    const h = createHarness({ nodes: 1, chain: other, chainId: '0x2b6653dc' })
    h.fail(
      0,
      changing('eth_chainId', () => '0x2b6653dc'),
    )
    expect(wordsOf(await readBlocks(h))).toMatchObject({ kind: 'no-answer' })
    expect(h.reports()).toMatchObject([{ name: 'node-lies', fields: { why: expect.stringContaining('block 0') } }])
  })
})

describe('a probe', () => {
  it('that a caller began takes nothing from a tick: its time and its share are not those of the tick', async () => {
    const h = createHarness({ nodes: 1 })
    h.node(0).script = ({ number }) => (number === 1 ? { kind: 'hang' } : null)
    const [asked, read] = await h.settle(
      Promise.all([h.open(caller(1), 900).decimals(usdtAddress), h.open().finalizedHead(null)]),
    )
    expect(asked).toMatchObject({ ok: false, error: { kind: 'out-of-time' } })
    expect(read.ok).toBe(true)
  })
})

describe('a node without transaction history', () => {
  it('is found by a probe: it has no receipts of a final block', async () => {
    const h = createHarness()
    h.node(1).hasHistory = false
    expect(wordsOf(await readBlocks(h))).toMatchObject({ kind: 'no-answer', why: expect.stringContaining('history') })
    expect(h.reports()).toMatchObject([
      { name: 'node-unfit', fields: { node: 2, why: expect.stringContaining('history') } },
    ])
  })

  it('whose history is switched off later is found by its receipts, and is no disagreement', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.node(0).hasHistory = false
    expect(wordsOf(await readBlocks(h))).toEqual(five)
    expect(h.reports()).toMatchObject([
      { name: 'node-unfit', fields: { node: 1, why: expect.stringContaining('history') } },
    ])
    for (const node of h.nodes) node.requests.length = 0
    await readBlocks(h)
    expect(h.counts()[0]).toBe(0)
  })

  it.each<[string, Fault]>([
    ['an error', failing('eth_getTransactionReceipt', -32000, 'internal error')],
    ['what is no receipt', changing('eth_getTransactionReceipt', () => ({}))],
  ])('proves nothing by %s in place of a receipt', async (_, fault) => {
    const h = await createProbed({ nodes: 1 })
    h.node(0).hasHistory = false
    h.fail(0, fault)
    expect(wordsOf(await readBlocks(h))).toMatchObject({ kind: 'no-answer' })
  })

  it('passes over no block by its answer alone where a receipt has logs that the block lacks', async () => {
    const h = await createProbed({ nodes: 1 })
    h.fail(
      0,
      changing('eth_getLogs', (logs, { params: [filter] }) => {
        const isFirst = (filter as { blockHash: string }).blockHash === `0x${h.chain.at(h.chain.firstHeight)?.hash}`
        return isFirst ? [] : logs
      }),
    )
    expect(wordsOf(await readBlocks(h))).toEqual(['no', 2])
  })

  it('is not suspected where a receipt is that of a block of another chain', async () => {
    const chain = busyChain()
    chain.add([{ kind: 'call', contract: us, from: us }])
    const [of, tip] = [chain.at(chain.firstHeight), chain.tip()]
    const h = await createProbed({ chain, nodes: 1 })
    h.fail(
      0,
      changing('eth_getTransactionReceipt', (receipt) => ({
        ...(receipt as object),
        blockHash: `0x${of?.hash}`,
        blockNumber: `0x${of?.height.toString(16)}`,
        logs: [],
      })),
    )
    const read = await h.settle(h.open().finalBlocks(at(tip.height), at(tip.height)))
    expect(wordsOf(read)).toEqual([0])
  })

  it('is not suspected where the newest block has left the chain', async () => {
    const chain = busyChain()
    chain.add([{ kind: 'call', contract: us, from: us }])
    const h = await createProbed({ chain, nodes: 1 })
    h.fail(
      0,
      changing('eth_getTransactionReceipt', () => null),
    )
    await h.settle(h.open().tail(refOf(chain, chain.tip().height - 1), headOf(h)))
    expect(h.reports()).toEqual([])
    expect(wordsOf(await readBlocks(h))).toEqual(five)
  })

  it('is used again a minute after its history is back', async () => {
    const h = createHarness({ nodes: 1 })
    h.node(0).hasHistory = false
    expect((await readBlocks(h)).ok).toBe(false)
    h.node(0).hasHistory = true
    expect((await readBlocks(h)).ok).toBe(false)
    h.advance(60_000)
    expect(wordsOf(await readBlocks(h))).toEqual(five)
  })

  it('is not suspected where a call has no log', async () => {
    const chain = createChain()
    chain.add([{ kind: 'call', contract: us, from: us }, trx(1n)])
    chain.addEmpty(18)
    const h = await createProbed({ chain, nodes: 1 })
    expect(wordsOf(await readBlocks(h, 1))).toEqual([1])
    expect(h.counts()).toEqual([3])
  })
})

describe('what is logged and reported', () => {
  it('never contains a URL, a key or a text of a node', async () => {
    const h = createHarness({ nodes: 2, quorum: 2 })
    const text = `https://node-1.test/${secrets.path} ${secrets.key}`
    const faults: readonly Fault[] = [
      { kind: 'broken-connection' },
      { kind: 'body', body: JSON.stringify({ Error: text }) },
      { kind: 'body', body: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32001, message: text } }) },
      { kind: 'status', status: 500, body: text },
      changing('eth_chainId', () => text),
      changing('eth_getLogs', () => [{ [text]: text }]),
      changing('/wallet/getblockbylimitnext', () => ({ block: [{ blockID: text }] })),
    ]
    const failures: unknown[] = []
    for (const fault of faults) {
      h.fail(0, fault)
      failures.push(await readBlocks(h), await balance(h))
      h.advance(300_000)
    }
    const everything = JSON.stringify([h.lines, failures], (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
    expect(h.lines.length).toBeGreaterThan(faults.length)
    expect([secrets.path, secrets.key, 'node-1.test'].filter((secret) => everything.includes(secret))).toEqual([])
  })
})
