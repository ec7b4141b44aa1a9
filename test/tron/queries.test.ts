import { describe, expect, it } from 'vitest'
import { nativeAsset, trc20Asset } from '../../src/ledger/asset.ts'
import { chainFactsOf } from '../../src/tron/client.ts'
import { unconfirmedBatchBlocks, unconfirmedBatchesMax } from '../../src/tron/limits.ts'
import { addressOf, usdt, type Wire } from '../support/chain-builder.ts'
import { changing, type Fault, failing, type ScriptedNode } from '../support/scripted-node.ts'
import { at, createHarness, type Harness, secrets, trx, us } from './harness.ts'

const nodeOf = (h: Harness, i: number): ScriptedNode => {
  const node = h.nodes[i]
  if (node === undefined) throw new Error(`no node ${i}`)
  return node
}
const transactionOf = (h: Harness, height = h.chain.firstHeight) => {
  const [transaction] = h.chain.at(height)?.transactions ?? []
  if (transaction === undefined) throw new Error('no transaction')
  return transaction
}

describe('balances', () => {
  const many = Array.from({ length: 20 }, (_, i) => addressOf(100 + i))

  it('of 20 addresses come from one request, chain id included, on an isolate that knows nothing yet', async () => {
    const h = createHarness()
    for (const [i, address] of many.entries()) nodeOf(h, 0).balances.set(address, BigInt(i))
    const pool = h.pool()
    expect(await h.settle(pool.balances(many, nativeAsset))).toEqual({ ok: true, value: many.map((_, i) => BigInt(i)) })
    expect(h.counts()).toEqual([1, 0])
    const [request] = nodeOf(h, 0).requests
    expect(request?.calls.length).toBe(21)
    expect(request?.calls[1]?.params).toEqual([`0x${many[0]}`, 'latest'])
    expect(request?.key).toBe(secrets.key)
  })

  it('of a token send to and data alone, at latest', async () => {
    const h = createHarness()
    nodeOf(h, 0).decimals.set(usdt, 6)
    nodeOf(h, 0).balances.set(`${usdt} ${us}`, 2n ** 255n)
    expect(await h.settle(h.pool().balances([us], trc20Asset(usdt)))).toEqual({ ok: true, value: [2n ** 255n] })
    expect(nodeOf(h, 0).requests[0]?.calls[1]?.params).toEqual([
      { to: `0x${usdt}`, data: `0x70a08231${'0'.repeat(24)}${us}` },
      'latest',
    ])
  })

  it.each<[string, Fault]>([
    ['"0x"', changing('eth_call', () => '0x')],
    ['31 bytes', changing('eth_call', () => `0x${'0'.repeat(62)}`)],
    ['33 bytes', changing('eth_call', () => `0x${'0'.repeat(66)}`)],
    ['a number', changing('eth_call', () => 5)],
    ['null', changing('eth_call', () => null)],
    ['no contract', failing('eth_call', -32600, 'Smart contract is not exist.')],
    ['a revert', failing('eth_call', -32000, 'REVERT opcode executed')],
    ['a node without constant calls', failing('eth_call', -32600, 'this node does not support constant')],
    ['another chain', changing('eth_chainId', () => '0xcd8690dc')],
  ])('of a token are no answer from a node that says %s, and come from the next', async (_, fault) => {
    const h = createHarness()
    for (const node of h.nodes) node.decimals.set(usdt, 6)
    nodeOf(h, 0).script = () => fault
    expect(await h.settle(h.pool().balances([us], trc20Asset(usdt)))).toEqual({ ok: true, value: [0n] })
    nodeOf(h, 1).script = () => fault
    h.advance(3_000)
    expect((await h.settle(h.pool().balances([us], trc20Asset(usdt)))).ok).toBe(false)
  })

  it.each(['0x', null, 7, '7', '0x1g', `0x${'f'.repeat(65)}`])(
    'of TRX are no answer where the node says %j',
    async (said) => {
      const h = createHarness({ nodes: 1 })
      nodeOf(h, 0).script = () => changing('eth_getBalance', () => said)
      expect(await h.settle(h.pool().balances([us], nativeAsset))).toMatchObject({
        ok: false,
        error: { kind: 'no-answer' },
      })
    },
  )

  it('of no address need no request, and of more than 20 are refused', async () => {
    const h = createHarness()
    expect(await h.settle(h.pool().balances([], nativeAsset))).toEqual({ ok: true, value: [] })
    expect((await h.settle(h.pool().balances([...many, us], nativeAsset))).ok).toBe(false)
    expect(h.counts()).toEqual([0, 0])
  })

  it('come in parts from a gateway that takes 20 calls at most', async () => {
    const h = createHarness({ nodes: 1 })
    nodeOf(h, 0).script = () => ({ kind: 'batch-limit', callsMax: 20, code: -32005 })
    expect(await h.settle(h.pool().balances(many, nativeAsset))).toEqual({ ok: true, value: many.map(() => 0n) })
    expect(h.counts()).toEqual([3])
  })
})

describe('decimals', () => {
  it('are what two nodes say', async () => {
    const h = createHarness()
    for (const node of h.nodes) node.decimals.set(usdt, 6)
    expect(await h.settle(h.pool().decimals(usdt))).toEqual({ ok: true, value: 6 })
  })

  it('are held where two differ', async () => {
    const h = createHarness()
    for (const [i, node] of h.nodes.entries()) node.decimals.set(usdt, 6 + i)
    expect(await h.settle(h.pool().decimals(usdt))).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.alarms()).toMatchObject([{ name: 'nodes-disagree', fields: { answer: '6', otherAnswer: '7' } }])
  })

  it('are no answer where they are more than a uint8 holds', async () => {
    const h = createHarness({ nodes: 1 })
    nodeOf(h, 0).decimals.set(usdt, 256)
    expect(await h.settle(h.pool().decimals(usdt))).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})

describe('raw data', () => {
  it('is asked for with the key, at the API of the first node that has one', async () => {
    const h = createHarness()
    const { txid, rawData } = transactionOf(h)
    expect(await h.settle(h.pool().transactionBytes(txid))).toEqual({ ok: true, value: rawData })
    expect(nodeOf(h, 0).requests).toMatchObject([
      { service: 'api', key: secrets.key, calls: [{ params: [{ value: txid }] }] },
    ])
  })

  it('is null where no node has an API', async () => {
    const h = createHarness({ api: false })
    expect(await h.settle(h.pool().transactionBytes(transactionOf(h).txid))).toEqual({ ok: true, value: null })
    expect(chainFactsOf({ nodes: [{ rpc: 'https://n.test', api: null, key: null }], quorum: 1 })).toEqual({
      hasApi: false,
      quorum: 1,
    })
    expect(
      chainFactsOf({ nodes: [{ rpc: 'https://n.test', api: 'https://n.test', key: null }], quorum: 1 }).hasApi,
    ).toBe(true)
  })

  it.each<[string, Fault]>([
    ['nothing', { kind: 'body', body: '{}' }],
    ['bytes that do not hash to the txid', changing('api', (value) => ({ ...(value as Wire), raw_data_hex: 'ab' }))],
    ['no bytes', changing('api', (value) => ({ ...(value as Wire), raw_data_hex: undefined }))],
    ['half a byte', changing('api', (value) => ({ ...(value as Wire), raw_data_hex: 'abc' }))],
    ['an empty body', { kind: 'body', body: '' }],
    ['an array', { kind: 'body', body: '[]' }],
    ['null', { kind: 'body', body: 'null' }],
    ['HTML', { kind: 'body', body: '<html>' }],
    ['HTTP 500', { kind: 'status', status: 500 }],
    ['HTTP 429', { kind: 'status', status: 429 }],
    ['a redirect', { kind: 'redirect' }],
    ['nothing in time', { kind: 'hang' }],
  ])('comes from the next node where the first answers %s', async (_, fault) => {
    const h = createHarness()
    nodeOf(h, 0).script = () => fault
    const { txid, rawData } = transactionOf(h)
    expect(await h.settle(h.pool().transactionBytes(txid))).toEqual({ ok: true, value: rawData })
    nodeOf(h, 1).script = () => fault
    h.advance(3_000)
    expect((await h.settle(h.pool().transactionBytes(txid))).ok).toBe(false)
  })

  it('does not spoil a node’s standing for everything else', async () => {
    const h = createHarness({ nodes: 1 })
    nodeOf(h, 0).script = ({ service }) => (service === 'api' ? { kind: 'status', status: 500 } : null)
    for (let i = 0; i < 4; i += 1) await h.settle(h.pool().transactionBytes(transactionOf(h).txid))
    expect((await h.settle(h.pool().finalizedHead())).ok).toBe(true)
  })
})

describe('locate', () => {
  it('says in which block a transaction is', async () => {
    const h = createHarness()
    const { txid } = transactionOf(h)
    const block = h.chain.at(h.chain.firstHeight)
    expect(await h.settle(h.pool().locateTransaction(txid))).toMatchObject({
      ok: true,
      value: {
        kind: 'mined',
        block: { height: block?.height, hash: block?.hash },
        transaction: { txid, to: us, value: '0x1' },
      },
    })
  })

  it('knows an unmined transaction by its "0x" fields', async () => {
    const h = createHarness()
    const { txid, wire } = transactionOf(h, h.chain.add([trx(99n)]).height)
    for (const node of h.nodes) {
      node.behind = 1
      node.unmined.set(txid, { ...wire, blockHash: '0x', blockNumber: '0x', transactionIndex: '0x', gasPrice: '0x' })
    }
    expect(await h.settle(h.pool().locateTransaction(txid))).toEqual({ ok: true, value: { kind: 'unmined' } })
  })

  it('believes a block over a node that lags', async () => {
    const h = createHarness()
    const { txid } = transactionOf(h, h.chain.add([trx(99n)]).height)
    nodeOf(h, 0).behind = 1
    expect(await h.settle(h.pool().locateTransaction(txid))).toMatchObject({ ok: true, value: { kind: 'mined' } })
  })

  it('says unknown only where every node answered and none knows it', async () => {
    const h = createHarness()
    const { txid } = transactionOf(h, h.chain.add([trx(99n)]).height)
    for (const node of h.nodes) node.behind = 1
    expect(await h.settle(h.pool().locateTransaction(txid))).toEqual({ ok: true, value: { kind: 'unknown' } })
    nodeOf(h, 1).script = () => ({ kind: 'status', status: 500 })
    expect(await h.settle(h.pool().locateTransaction(txid))).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it.each<[string, (value: Wire) => unknown]>([
    ['another transaction', (value) => ({ ...value, hash: `0x${'9'.repeat(64)}` })],
    ['a block without a height', (value) => ({ ...value, blockNumber: '0x' })],
    ['a block hash of another height', (value) => ({ ...value, blockNumber: '0x7' })],
    ['text', () => 'x'],
  ])('is no answer where the only node shows %s', async (_, change) => {
    const h = createHarness({ nodes: 1 })
    nodeOf(h, 0).script = () => changing('eth_getTransactionByHash', (value) => change(value as Wire))
    expect(await h.settle(h.pool().locateTransaction(transactionOf(h).txid))).toMatchObject({
      ok: false,
      error: { kind: 'no-answer' },
    })
  })
})

describe('the tail', () => {
  const tail = (h: Harness, after: number) => h.settle(h.pool().unconfirmedBlocks(at(after)))

  it('is what follows, with logs, by one node’s word in two requests', async () => {
    const h = createHarness()
    const latest = h.chain.tip().height
    const answer = await tail(h, latest - 10)
    expect(answer.ok && [answer.value.latest, answer.value.blocks.map(({ height }) => height)]).toEqual([
      latest,
      Array.from({ length: 10 }, (_, i) => latest - 9 + i),
    ])
    expect(answer.ok && answer.value.blocks.every(({ logs }) => logs.length === 1)).toBe(true)
    expect(h.counts()).toEqual([4, 0]) // two of them are the probe's
  })

  it('has at most two rotations of blocks', async () => {
    const h = createHarness()
    h.chain.addEmpty(2 * unconfirmedBatchBlocks)
    const answer = await tail(h, h.chain.firstHeight)
    expect(answer.ok && answer.value.blocks.length).toBe(unconfirmedBatchBlocks * unconfirmedBatchesMax)
  })

  it('is empty at the head', async () => {
    const h = createHarness()
    const answer = await tail(h, h.chain.tip().height)
    expect(answer.ok && answer.value.blocks).toEqual([])
  })

  it('ends at the first block that does not follow or can not be read', async () => {
    const h = createHarness()
    const after = h.chain.tip().height - 5
    nodeOf(h, 0).script = () =>
      changing('eth_getBlockByNumber', (value, call) =>
        call.params[0] === `0x${(after + 3).toString(16)}`
          ? { ...(value as Wire), parentHash: `0x${(after + 2).toString(16).padStart(16, '0')}${'0'.repeat(48)}` }
          : value,
      )
    const answer = await tail(h, after)
    expect(answer.ok && answer.value.blocks.map(({ height }) => height)).toEqual([after + 1, after + 2])
  })

  it('ends before a block that left the chain meanwhile', async () => {
    const h = createHarness()
    const after = h.chain.tip().height - 5
    const gone = h.chain.at(after + 2)?.hash
    nodeOf(h, 0).script = () => ({
      kind: 'answers',
      change: (call) =>
        call.method === 'eth_getLogs' && (call.params[0] as { blockHash: string }).blockHash === `0x${gone}`
          ? { error: { code: -32602, message: 'invalid blockHash' } }
          : undefined,
    })
    const answer = await tail(h, after)
    expect(answer.ok && answer.value.blocks.map(({ height }) => height)).toEqual([after + 1])
  })
})
