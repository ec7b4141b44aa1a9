import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../../src/ledger/asset.ts'
import { createChain } from '../../support/chain-builder.ts'
import type { Fault } from '../../support/scripted-node.ts'
import { changing, failing } from '../../support/scripted-node.ts'
import { at, busyChain, createHarness, type Harness } from '../harness.ts'

const head = (h: Harness, quorum = 1) => h.settle(h.pool({ quorum }).finalizedHead())
const script = (h: Harness, i: number, fault: Fault | null) => {
  const node = h.nodes[i]
  if (node !== undefined) node.script = () => fault
}
/** A harness whose nodes are probed already. */
async function probed(nodes: number): Promise<Harness> {
  const h = createHarness({ nodes })
  await head(h, nodes)
  return h
}
const requests = (h: Harness, i: number) => h.counts()[i] ?? 0

describe('a node that limits the rate', () => {
  it.each<[string, Fault]>([
    ['HTTP 403', { kind: 'status', status: 403 }],
    ['HTTP 429', { kind: 'status', status: 429 }],
    ['HTTP 503', { kind: 'status', status: 503 }],
    ['a body with Error', { kind: 'body', body: '{"Error":"lack of computing resources"}' }],
  ])('is left alone for at least 30 s, by all invocations, after %s', async (_, fault) => {
    const h = await probed(2)
    script(h, 0, fault)
    expect((await head(h)).ok).toBe(true) // the other one answers
    script(h, 0, null)
    const before = requests(h, 0)
    h.advance(29_999)
    await head(h)
    expect(requests(h, 0)).toBe(before)
    h.advance(16_000) // 30 s and up to half of that as jitter
    await head(h)
    expect(requests(h, 0)).toBe(before + 1)
  })

  it('is left alone longer each time', async () => {
    const h = await probed(2)
    script(h, 0, { kind: 'status', status: 429 })
    await head(h)
    h.advance(46_000)
    await head(h)
    const before = requests(h, 0)
    h.advance(46_000)
    await head(h)
    expect(requests(h, 0)).toBe(before)
  })

  it('is left alone with its HTTP API as well: one key pays for both', async () => {
    const h = await probed(1)
    script(h, 0, { kind: 'status', status: 429 })
    await head(h)
    script(h, 0, null)
    const txid = h.chain.tip().transactions[0]?.txid
    if (txid === undefined) throw new Error('no transaction')
    expect((await h.settle(h.pool().transactionBytes(txid))).ok).toBe(false)
    expect(h.nodes[0]?.requests.filter(({ service }) => service === 'api')).toEqual([])
  })
})

describe('a node that fails', () => {
  it('is asked once more within the deadline after a short rest', async () => {
    const h = await probed(1)
    let isFirst = true
    const [node] = h.nodes
    if (node === undefined) throw new Error('no node')
    node.script = () => {
      const fault: Fault | null = isFirst ? { kind: 'broken-connection' } : null
      isFirst = false
      return fault
    }
    const startedAt = h.now()
    expect((await head(h)).ok).toBe(true)
    expect(h.now() - startedAt).toBeGreaterThanOrEqual(125)
    expect(h.now() - startedAt).toBeLessThanOrEqual(250)
  })

  it('makes way for the next one within one deadline when it does not answer at all', async () => {
    const h = await probed(3)
    script(h, 0, { kind: 'hang' })
    script(h, 1, { kind: 'hang' })
    const startedAt = h.now()
    expect((await head(h)).ok).toBe(true)
    expect(h.now() - startedAt).toBeLessThan(10_000)
  })

  it('is left alone for a minute after five failures in a row, and then begins with a probe', async () => {
    const h = await probed(2)
    script(h, 0, { kind: 'status', status: 500 })
    for (let i = 0; i < 5; i += 1) {
      await head(h)
      h.advance(10_000)
    }
    expect(h.memory.nodes.values().next().value?.facts).toBeNull()
    const before = requests(h, 0)
    h.advance(40_000)
    await head(h)
    expect(requests(h, 0)).toBe(before)
    script(h, 0, null)
    h.advance(60_000)
    await head(h)
    expect(requests(h, 0)).toBe(before + 3) // two of the probe and the question
  })

  it('opens the breaker again for longer where the trial fails', async () => {
    const h = await probed(2)
    script(h, 0, { kind: 'status', status: 500 })
    for (let i = 0; i < 5; i += 1) {
      await head(h)
      h.advance(10_000)
    }
    h.advance(90_000)
    await head(h)
    const before = requests(h, 0)
    h.advance(100_000)
    await head(h)
    expect(requests(h, 0)).toBe(before)
  })

  it('leaves "out of budget", not "no answer", where it used up the time', async () => {
    const h = await probed(1)
    script(h, 0, { kind: 'hang' })
    const startedAt = h.now()
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'out-of-budget' } })
    expect(h.now() - startedAt).toBeLessThanOrEqual(10_000)
  })
})

describe('a probe', () => {
  it('takes two requests once per isolate: chain id, block 0, finalized, then receipts against logs', async () => {
    const h = createHarness({ nodes: 1 })
    await head(h)
    await head(h)
    const sent = h.nodes[0]?.requests.map(({ calls }) => calls.map(({ method }) => method))
    expect(sent).toEqual([
      ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockByNumber', 'web3_clientVersion'],
      ['eth_chainId', 'eth_getLogs', ...Array(4).fill('eth_getTransactionReceipt')],
      ['eth_chainId', 'eth_getBlockByNumber'],
      ['eth_chainId', 'eth_getBlockByNumber'],
    ])
    expect(h.lines).toMatchObject([
      { name: 'node-probed', fields: { node: 1, client: '4.8.1', finalized: true, history: true } },
    ])
  })

  it('is made once by invocations that run at the same time', async () => {
    const h = createHarness({ nodes: 1 })
    const answers = await h.settle(Promise.all(Array.from({ length: 20 }, () => h.pool({ quorum: 1 }).finalizedHead())))
    expect(answers.every(({ ok }) => ok)).toBe(true)
    expect(requests(h, 0)).toBe(22)
  })

  it('that fails is not repeated by everybody who waited for it', async () => {
    const h = createHarness({ nodes: 1 })
    script(h, 0, { kind: 'status', status: 429 })
    const answers = await h.settle(Promise.all(Array.from({ length: 20 }, () => h.pool({ quorum: 1 }).finalizedHead())))
    expect(answers.some(({ ok }) => ok)).toBe(false)
    expect(requests(h, 0)).toBe(1)
  })

  it.each([
    ['another chain id', changing('eth_chainId', () => '0x94a9059e')],
    [
      'another block 0 under the right chain id',
      changing('eth_getBlockByNumber', (value, call) =>
        call.params[0] === '0x0' ? { ...(value as object), hash: `0x${'0'.repeat(56)}2b6653dc` } : value,
      ),
    ],
  ])('bars a node with %s for an hour, with an alarm', async (_, fault) => {
    const h = createHarness({ nodes: 2 })
    script(h, 0, fault)
    expect((await head(h)).ok).toBe(true)
    expect(h.alarms()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
    script(h, 0, null)
    const before = requests(h, 0)
    h.advance(3_599_000)
    await head(h)
    expect(requests(h, 0)).toBe(before)
    h.advance(10_000)
    await head(h)
    expect(requests(h, 0)).toBe(before + 3)
  })

  it('knows a private chain by the end of its block 0', async () => {
    const h = createHarness({ nodes: 1, chain: busyChain({ chainId: '0x6465766e' }) })
    expect((await head(h)).ok).toBe(true)
    const other = createHarness({ nodes: 1, chain: busyChain({ chainId: '0x6465766e' }) })
    const [node] = other.nodes
    if (node !== undefined)
      node.chain = { ...other.chain, at: (height) => createChain({ chainId: '0x6465766f' }).at(height) }
    expect((await head(other)).ok).toBe(false)
    expect(other.alarms()).toMatchObject([{ name: 'node-lies' }])
  })

  it('finds a node of another chain in any later batch as well', async () => {
    const h = await probed(2)
    script(
      h,
      0,
      changing('eth_chainId', () => '0xcd8690dc'),
    )
    expect((await head(h)).ok).toBe(true)
    expect(h.alarms()).toMatchObject([{ name: 'node-lies', fields: { node: 1, why: 'chain id 0xcd8690dc' } }])
  })

  it('keeps a node without finalized for what needs none', async () => {
    const h = createHarness({ nodes: 1 })
    const [node] = h.nodes
    if (node === undefined) throw new Error('no node')
    node.knowsFinalized = false
    const { firstHeight } = h.chain
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'no-answer', why: 'node 1: no finalized blocks' } })
    expect((await h.settle(h.pool().finalizedBlocks(at(firstHeight), at(firstHeight)))).ok).toBe(false)
    const txid = h.chain.at(firstHeight)?.transactions[0]?.txid
    if (txid === undefined) throw new Error('no transaction')
    expect(await h.settle(h.pool().locateTransaction(txid))).toMatchObject({ ok: true, value: { kind: 'mined' } })
    expect((await h.settle(h.pool().transactionBytes(txid))).ok).toBe(true)
    expect((await h.settle(h.pool().balances([], nativeAsset))).ok).toBe(true)
    expect((await h.settle(h.pool().unconfirmedBlocks(at(firstHeight)))).ok).toBe(true)
  })

  it.each(['keepsHistory', 'logs'])('does not use a node without transaction history for money (%s)', async (how) => {
    const h = createHarness({ nodes: 2 })
    const [node] = h.nodes
    if (node === undefined) throw new Error('no node')
    if (how === 'logs') node.script = () => changing('eth_getLogs', () => [])
    else node.keepsHistory = false
    expect((await head(h)).ok).toBe(true)
    expect(h.lines).toContainEqual({
      level: 'info',
      name: 'node-probed',
      fields: { node: 1, client: '4.8.1', finalized: true, history: false },
    })
    expect(requests(h, 1)).toBe(3)
  })

  it.each([
    ['no block 0', changing('eth_getBlockByNumber', (value, call) => (call.params[0] === '0x0' ? null : value))],
    [
      'no finalized head',
      changing('eth_getBlockByNumber', (value, call) => (call.params[0] === 'finalized' ? null : value)),
    ],
    ['an unmapped error', failing('eth_getBlockByNumber', -32001, 'x')],
  ])('that finds %s leaves the node unused', async (_, fault) => {
    const h = createHarness({ nodes: 1 })
    script(h, 0, fault)
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})
