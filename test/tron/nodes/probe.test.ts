import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../../src/chain/asset.ts'
import { createChain } from '../../support/chain-builder.ts'
import { changing, type Fault, failing } from '../../support/scripted-node.ts'
import { at, busyChain, createHarness, createProbed, type Harness } from '../harness.ts'

const head = (h: Harness) => h.settle(h.pool({ quorum: 1 }).finalizedHead())
const requests = (h: Harness, i: number) => h.counts()[i] ?? 0

describe('a probe', () => {
  it('takes two requests once in an isolate: chain id, block 0 and finalized head, then receipts and logs', async () => {
    const h = createHarness({ nodes: 1 })
    await head(h)
    await head(h)
    expect(h.node(0).requests.map(({ calls }) => calls.map(({ method }) => method))).toEqual([
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
    const answers = await h.settle(Promise.all(Array.from({ length: 20 }, () => h.pool().finalizedHead())))
    expect(answers.every(({ ok }) => ok)).toBe(true)
    expect(requests(h, 0)).toBe(22)
  })

  it('that fails is not repeated by the invocations that waited for it', async () => {
    const h = createHarness({ nodes: 1 })
    h.fail(0, { kind: 'status', status: 429 })
    const answers = await h.settle(Promise.all(Array.from({ length: 20 }, () => h.pool().finalizedHead())))
    expect(answers.some(({ ok }) => ok)).toBe(false)
    expect(requests(h, 0)).toBe(1)
  })

  it.each<[string, Fault]>([
    ['another chain id', changing('eth_chainId', () => '0x94a9059e')],
    [
      'another block 0 with the right chain id',
      changing('eth_getBlockByNumber', (value, call) =>
        call.params[0] === '0x0' ? { ...(value as object), hash: `0x${'0'.repeat(56)}2b6653dc` } : value,
      ),
    ],
  ])('keeps a node with %s unused for a minute, with an alarm', async (_, fault) => {
    const h = createHarness({ nodes: 2 })
    h.fail(0, fault)
    expect((await head(h)).ok).toBe(true)
    expect(h.alarms()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
    h.fail(0, null)
    const before = requests(h, 0)
    h.advance(59_999)
    await head(h)
    expect(requests(h, 0)).toBe(before)
    h.advance(1)
    await head(h)
    expect(requests(h, 0)).toBe(before + 3)
  })

  it('identifies a private chain by the end of its block 0', async () => {
    const h = createHarness({ nodes: 1, chain: busyChain({ chainId: '0x6465766e' }) })
    expect((await head(h)).ok).toBe(true)
    const other = createHarness({ nodes: 1, chain: busyChain({ chainId: '0x6465766e' }) })
    const otherChain = createChain({ chainId: '0x6465766f' })
    other.node(0).chain = { ...other.chain, at: (height) => otherChain.at(height) }
    expect((await head(other)).ok).toBe(false)
    expect(other.alarms()).toMatchObject([{ name: 'node-lies' }])
  })

  it('is not needed to find another chain id in a later batch', async () => {
    const h = await createProbed(2)
    h.fail(
      0,
      changing('eth_chainId', () => '0xcd8690dc'),
    )
    expect((await head(h)).ok).toBe(true)
    expect(h.alarms()).toMatchObject([{ name: 'node-lies', fields: { node: 1, why: 'chain id 0xcd8690dc' } }])
  })

  it('keeps a node without finalized blocks for everything that needs none', async () => {
    const h = createHarness({ nodes: 1 })
    h.node(0).supportsFinalized = false
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

  it.each(['receipts', 'logs'])('keeps a node without %s unused for credits', async (missing) => {
    const h = createHarness({ nodes: 2 })
    if (missing === 'receipts') h.node(0).hasHistory = false
    else
      h.fail(
        0,
        changing('eth_getLogs', () => []),
      )
    expect((await head(h)).ok).toBe(true)
    expect(h.lines).toContainEqual({
      level: 'info',
      name: 'node-probed',
      fields: { node: 1, client: '4.8.1', finalized: true, history: false },
    })
    expect(requests(h, 1)).toBe(3)
  })

  it.each<[string, Fault]>([
    ['no block 0', changing('eth_getBlockByNumber', (value, { params }) => (params[0] === '0x0' ? null : value))],
    [
      'no finalized head',
      changing('eth_getBlockByNumber', (value, { params }) => (params[0] === 'finalized' ? null : value)),
    ],
    ['an error of another kind', failing('eth_getBlockByNumber', -32001, 'x')],
  ])('that finds %s leaves the node unused', async (_, fault) => {
    const h = createHarness({ nodes: 1 })
    h.fail(0, fault)
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})
