import { describe, expect, it } from 'vitest'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import type { Chain } from '../../src/worker/chain/chain.ts'
import { renumbered, type Wire } from '../support/block-json.ts'
import { createChain } from '../support/chain-builder.ts'
import { changing, type Fault, failing } from '../support/scripted-node.ts'
import { addressOf, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  at,
  busyChain,
  createHarness,
  createProbed,
  type Harness,
  refOf,
  them,
  token,
  trx,
  txidAt,
  us,
} from './harness.ts'

const read = <T>(h: Harness, ask: (chain: Chain) => Promise<T>) => h.settle(ask(h.open()))

describe('token transfers from receipts', () => {
  const asked = ({ chain }: Harness, count = 2) => {
    const txids = Array.from({ length: count }, (_, i) => txidAt(chain, chain.firstHeight, i + 1))
    return [refOf(chain, chain.firstHeight), txids] as const
  }
  const tooLarge = (txid: string): Fault => ({
    kind: 'changed-calls',
    change: ({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] === `0x${txid}`
        ? { error: { code: -32003, message: '' } }
        : undefined,
  })

  it('are those of the logs, by one request at each of the quorum', async () => {
    const h = await createProbed()
    const result = await read(h, (chain) => chain.receiptTransfers(...asked(h)))
    expect(result).toMatchObject({
      ok: true,
      value: {
        unreadable: [],
        transfers: [
          { position: 0, to: us, amount: 100n },
          { position: 0, to: them, amount: 1_000n },
        ],
      },
    })
    expect(h.counts()).toEqual([1, 1])
  })

  it('of a receipt that is too large at the nodes are unreadable, and the others are read', async () => {
    const h = await createProbed()
    for (const i of [0, 1]) h.fail(i, tooLarge(txidAt(h.chain, h.chain.firstHeight, 2)))
    const result = await read(h, (chain) => chain.receiptTransfers(...asked(h)))
    const unreadable = [txidAt(h.chain, h.chain.firstHeight, 2)]
    expect(result).toMatchObject({ ok: true, value: { unreadable, transfers: [{ amount: 100n }] } })
  })

  it('of a receipt that only one node finds too large are read by another one, and never given up', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, tooLarge(txidAt(h.chain, h.chain.firstHeight, 1)))
    expect(await read(h, (chain) => chain.receiptTransfers(...asked(h)))).toMatchObject({
      ok: true,
      value: { unreadable: [] },
    })
    const two = await createProbed()
    two.fail(0, tooLarge(txidAt(two.chain, two.chain.firstHeight, 1)))
    expect(await read(two, (chain) => chain.receiptTransfers(...asked(two)))).toMatchObject({
      ok: false,
      error: { kind: 'disagreement' },
    })
  })

  it('are in halves where a batch of receipts is too large', async () => {
    const h = await createProbed({ nodes: 1 })
    h.node(0).script = ({ calls }) => (calls.length > 2 ? { kind: 'status', status: 413 } : null)
    expect(await read(h, (chain) => chain.receiptTransfers(...asked(h)))).toMatchObject({
      ok: true,
      value: { unreadable: [] },
    })
    expect(h.counts()).toEqual([3])
  })

  it('are as many as nodes give in their time: fewer at once if a node is slow to give each, and more again later', async () => {
    const chain = createChain()
    const txids = Array.from({ length: 18 }, (_, i) => i)
    chain.add(txids.map((i) => token(BigInt(i + 1))))
    chain.addEmpty(18)
    const h = await createProbed({ chain })
    let msOfEach = 400
    for (const node of h.nodes) {
      node.script = ({ calls }) => {
        const count = calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length
        return { kind: 'delayed', wait: () => h.sleep(count * msOfEach) }
      }
    }
    const all = txids.map((i) => txidAt(chain, chain.firstHeight, i))
    const counts: number[] = []
    const readOnce = async () => {
      const result = await read(h, (one) => one.receiptTransfers(refOf(chain, chain.firstHeight), all))
      counts.push(result.ok ? result.value.count : 0)
      h.advance(60_000)
    }
    await readOnce()
    h.evict()
    await readOnce()
    expect(counts).toEqual([9, 9])
    msOfEach = 10
    for (let i = 0; i < 4; i += 1) await readOnce()
    expect(counts.at(-1)).toBe(18)
    expect(h.reports()).toEqual([])
  })

  it('of a node that shows another amount are a disagreement', async () => {
    const h = await createProbed()
    const more = (value: unknown) => {
      const receipt = value as { logs: Wire[] }
      return { ...receipt, logs: receipt.logs.map((log) => ({ ...log, data: `0x${'f'.repeat(64)}` })) }
    }
    h.fail(1, changing('eth_getTransactionReceipt', more))
    expect(await read(h, (chain) => chain.receiptTransfers(...asked(h, 1)))).toMatchObject({
      ok: false,
      error: { kind: 'disagreement' },
    })
    expect(h.reports()).toMatchObject([{ name: 'nodes-disagree', fields: { otherNode: 2 } }])
  })

  it('of a node whose history is switched off are those of the next node: it is unfit, and nothing is unreadable', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.node(0).hasHistory = false
    const result = await read(h, (chain) => chain.receiptTransfers(...asked(h)))
    const transfers = [{ amount: 100n }, { amount: 1_000n }]
    expect(result).toMatchObject({ ok: true, value: { unreadable: [], transfers } })
    expect(h.reports()).toMatchObject([{ name: 'node-unfit', fields: { node: 1 } }])
  })

  it('12,000 zero-value logs of one accepted token in a block do not keep a deposit in it from being credited', async () => {
    const chain = createChain()
    const zero = transferLog(usdtAddress, them, addressOf(5), 0n)
    chain.add([
      { kind: 'call', contract: addressOf(9), from: them, logs: Array(6_000).fill(zero) },
      { kind: 'call', contract: addressOf(9), from: them, logs: Array(6_000).fill(zero) },
      { kind: 'token', contract: usdtAddress, from: them, to: us, amount: 70n },
      trx(3n),
    ])
    chain.addEmpty(18)
    const h = createHarness({ chain })
    const blocks = await read(h, (one) => one.finalBlocks(at(chain.firstHeight), at(chain.firstHeight)))
    const [block] = blocks.ok ? blocks.value : []
    if (block?.kind !== 'read' || block.callsToRead === null) throw new Error('the logs fit into a reply')
    expect(block.transfers).toMatchObject([{ amount: 3n }])
    const receipts = await read(h, (one) => one.receiptTransfers(block.header, block.callsToRead ?? []))
    expect(receipts).toMatchObject({ ok: true, value: { unreadable: expect.any(Array), transfers: [{ amount: 70n }] } })
  })
})

describe('where a transaction is', () => {
  it('is its block, also before it is final; unmined; or unknown, where all nodes say so', async () => {
    const h = await createProbed()
    const [mined, unmined, unknown] = [txidAt(h.chain, h.chain.tip().height, 0), 'ab'.repeat(32), 'cd'.repeat(32)]
    h.node(1).unmined.add(unmined)
    const locate = (txid: string) => read(h, (chain) => chain.locate(txid as typeof mined))
    expect(await locate(mined)).toEqual({ ok: true, value: { kind: 'mined', height: h.chain.tip().height } })
    expect(await locate(unmined)).toEqual({ ok: true, value: { kind: 'unmined' } })
    expect(await locate(unknown)).toEqual({ ok: true, value: { kind: 'unknown' } })
    h.fail(1, { kind: 'broken-connection' })
    expect(await locate(unknown)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it.each([
    ['0x', '0x'],
    [null, null],
    ['0x', null],
    [null, '0x'],
  ])('is unmined with block hash %s and number %s, and no node rests for that', async (blockHash, blockNumber) => {
    const h = await createProbed()
    const txid = 'ab'.repeat(32)
    const pending = changing('eth_getTransactionByHash', () => ({ hash: `0x${txid}`, blockHash, blockNumber }))
    for (const i of [0, 1]) h.fail(i, pending)
    const location = await read(h, (chain) => chain.locate(txid as ReturnType<typeof txidAt>))
    expect(location).toEqual({ ok: true, value: { kind: 'unmined' } })
    expect(h.lines.filter(({ name }) => name === 'node-error')).toEqual([])
  })
})

describe('one final transaction', () => {
  const at0 = (h: Harness, i: number) => {
    const height = h.chain.firstHeight
    return read(h, (chain) => chain.finalTransaction(txidAt(h.chain, height, i), at(height)))
  }

  it('has its type, its parties, its transfers and its logs', async () => {
    const h = await createProbed()
    expect(await at0(h, 0)).toMatchObject({
      ok: true,
      value: { succeeded: true, contractType: 1, owner: them, target: us, transfers: [{ amount: 1n }], logs: [] },
    })
    expect(await at0(h, 1)).toMatchObject({
      ok: true,
      value: {
        contractType: 31,
        owner: them,
        target: usdtAddress,
        transfers: [{ amount: 100n }],
        logs: [{ position: 0 }],
      },
    })
  })

  it('is null where its block does not have it', async () => {
    const h = await createProbed()
    const txid = txidAt(h.chain, h.chain.firstHeight + 1, 0)
    expect(await read(h, (chain) => chain.finalTransaction(txid, at(h.chain.firstHeight)))).toEqual({
      ok: true,
      value: null,
    })
  })

  it('of a block with too many logs is read by its receipt', async () => {
    const h = await createProbed()
    for (const i of [0, 1]) h.fail(i, failing('eth_getLogs', -32005, ''))
    expect(await at0(h, 1)).toMatchObject({
      ok: true,
      value: { transfers: [{ amount: 100n }], logs: [{ position: 0 }] },
    })
  })

  it('that nodes show differently is a disagreement', async () => {
    const h = await createProbed()
    h.fail(
      1,
      changing('eth_getLogs', (value) => renumbered((value as Wire[]).slice(1))),
    )
    expect(await at0(h, 1)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
  })
})

describe('accounts', () => {
  it('hold something where any node of the quorum says so, so that no single one can hide it', async () => {
    const h = createHarness({ chain: busyChain() })
    h.node(1).balances.set(addressOf(7), 1n)
    const addresses = [addressOf(6), addressOf(7), addressOf(8)]
    expect(await read(h, (chain) => chain.holder(addresses, { kind: 'native' }))).toEqual({ ok: true, value: 1 })
    expect(await read(h, (chain) => chain.holder([addressOf(8)], { kind: 'native' }))).toEqual({
      ok: true,
      value: null,
    })
    h.fail(1, { kind: 'broken-connection' })
    expect(await read(h, (chain) => chain.holder([addressOf(8)], { kind: 'native' }))).toMatchObject({ ok: false })
  })

  it('exist where any of quorum HTTP APIs shows it, so a node that has not caught up hides none', async () => {
    const h = createHarness()
    const ask = () => read(h, (chain) => chain.activated(us))
    expect(await ask()).toEqual({ ok: true, value: false })
    h.node(1).activated.add(formatBase58(us))
    expect(await ask()).toEqual({ ok: true, value: true })
    h.fail(1, { kind: 'broken-connection' })
    expect(await ask()).toMatchObject({ ok: false })
  })

  it('exist or do not; another account is no answer', async () => {
    const h = createHarness({ nodes: 1 })
    const ask = () => read(h, (chain) => chain.activated(us))
    expect(await ask()).toEqual({ ok: true, value: false })
    h.fail(
      0,
      changing('/wallet/getaccount', (_, { params: [body] }) => ({ address: (body as { address: string }).address })),
    )
    expect(await ask()).toEqual({ ok: true, value: true })
    h.fail(
      0,
      changing('/wallet/getaccount', () => ({ address: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb' })),
    )
    expect(await ask()).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})

describe('the decimals of a token', () => {
  it('are those that quorum nodes agree on', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    for (const [i, node] of h.nodes.entries()) node.decimals.set(usdtAddress, i === 0 ? 18 : 6)
    expect(await read(h, (chain) => chain.decimals(usdtAddress))).toEqual({ ok: true, value: 6 })
    h.node(1).decimals.set(usdtAddress, 7)
    expect(await read(h, (chain) => chain.decimals(usdtAddress))).toMatchObject({
      ok: false,
      error: { kind: 'disagreement' },
    })
    expect(await read(h, (chain) => chain.decimals(addressOf(9)))).toMatchObject({
      ok: false,
      error: { kind: 'no-answer' },
    })
  })
})
