import { describe, expect, it } from 'vitest'
import { renumbered, type Wire } from '../support/block-json.ts'
import { createChain } from '../support/chain-builder.ts'
import { changing, type Fault } from '../support/scripted-node.ts'
import { addressOf, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import {
  at,
  busyChain,
  createHarness,
  createProbed,
  type Harness,
  readBlocks as read,
  them,
  token,
  trx,
  txidAt,
  us,
  wordsOf,
} from './harness.ts'
import { blocks, logs } from './protocol-faults.ts'

/** Makes a node change the block at this index of the chain. */
const blockAt = (h: Harness, i: number, change: (block: Record<string, unknown>) => unknown): Fault =>
  blocks((block) => (block.blockID === h.chain.at(h.chain.firstHeight + i)?.hash ? change(block) : block))
const failed = (block: Record<string, unknown>) => ({
  ...block,
  transactions: (block.transactions as Wire[]).map((one, i) =>
    i === 0 ? { ...one, ret: [{ contractRet: 'REVERT' }] } : one,
  ),
})
/**
 * Makes a node hide the first log of block `i`, and number the other logs of the block as if that
 * log did not exist.
 */
const withoutLogsOf = (h: Harness, i: number) =>
  changing('eth_getLogs', (value) => {
    const list = value as Wire[]
    return list[0]?.blockHash === `0x${h.chain.at(h.chain.firstHeight + i)?.hash}` ? renumbered(list.slice(1)) : list
  })

describe('final blocks', () => {
  it('have all transfers and all senders, whomever they concern, by two questions without a filter', async () => {
    const h = await createProbed()
    const { firstHeight } = h.chain
    const result = await read(h)
    expect(wordsOf(result)).toEqual([2, 2, 2, 2, 2])
    const [first, second, third, fourth] = [0, 1, 2, 3].map((i) => ({ txid: txidAt(h.chain, firstHeight, i) }))
    expect(result.ok && result.value[0]).toMatchObject({
      header: { height: firstHeight, hash: h.chain.at(firstHeight)?.hash },
      transfers: [
        { ...first, position: 0, asset: { kind: 'native' }, from: them, to: us, amount: 1n },
        { ...second, position: 0, asset: { kind: 'trc20' }, from: them, to: us, amount: 100n },
        { ...third, position: 0, asset: { kind: 'trc20' }, from: them, to: them, amount: 1_000n },
        { ...fourth, position: 0, asset: { kind: 'native' }, from: them, to: them, amount: 1n },
      ],
      sent: [first, second, third, fourth].map((one) => ({ ...one, owner: them })),
      callsToRead: null,
    })
    expect(h.counts()).toEqual([2, 2])
    expect(h.nodes.map(({ requests }) => requests.map(({ calls }) => calls.length))).toEqual([
      [1, 6],
      [1, 6],
    ])
    const calls = h.nodes.flatMap(({ requests }) => requests.flatMap((request) => request.calls))
    const logs = calls.filter(({ method }) => method === 'eth_getLogs')
    // A filter would make nodes use their index of logs, which can have gaps.
    expect(new Set(logs.flatMap(({ params }) => Object.keys(params[0] ?? {})))).toEqual(new Set(['blockHash']))
  })

  it('have no transfers of failed transactions, TRC-10 tokens, other contracts and look-alike events', async () => {
    const chain = createChain()
    const log = transferLog(usdtAddress, them, us, 5n)
    chain.add([
      { kind: 'trc10', from: them, to: us, amount: 5n },
      { kind: 'call', contract: us, from: them, value: 5n, failed: true },
      { kind: 'other', type: 11, from: them, to: us, value: 5n },
      { kind: 'token', contract: usdtAddress, from: them, to: us, amount: 5n, failed: true, keepsLogs: true },
      { kind: 'token', contract: addressOf(9), from: them, to: us, amount: 5n },
      { kind: 'token', contract: usdtAddress, from: them, to: us, amount: 0n },
      {
        kind: 'call',
        contract: usdtAddress,
        from: them,
        logs: [{ ...log, topics: [...log.topics, log.data], data: '0x' }],
      },
      { kind: 'call', contract: usdtAddress, from: them, logs: [{ ...log, data: `${log.data}00` }] },
      {
        kind: 'call',
        contract: usdtAddress,
        from: them,
        logs: [{ ...log, topics: log.topics.map((t) => t.replace('0x00', '0x01')) }],
      },
    ])
    chain.addEmpty(18)
    expect(wordsOf(await read(createHarness({ chain }), 1))).toEqual([0])
  })

  it('place a token transfer among all logs of its own transaction, also where nodes number logs differently', async () => {
    const chain = createChain()
    const other = { ...transferLog(addressOf(9), them, us, 1n), topics: [] }
    const two = [1n, 2n].map((amount) => transferLog(usdtAddress, them, us, amount))
    chain.add([token(9n), { kind: 'call', contract: usdtAddress, from: them, logs: [other, ...two] }, token(8n)])
    chain.addEmpty(18)
    const h = createHarness({ chain })
    h.fail(
      1,
      logs((list) =>
        list.map((one, i) => ({
          ...one,
          logIndex: `0x${i - list.findIndex((log) => log.transactionIndex === one.transactionIndex)}`,
        })),
      ),
    )
    const result = await read(h, 1)
    const [block] = result.ok ? result.value : []
    expect(block?.kind === 'read' && block.transfers.map(({ position, amount }) => [position, amount])).toEqual([
      [0, 9n],
      [1, 1n],
      [2, 2n],
      [0, 8n],
    ])
    expect(h.reports()).toEqual([])
  })

  it('are not those of a node that leaves out a log and keeps the numbers of the others, also where it is the only one', async () => {
    const h = await createProbed({ nodes: 1, quorum: 1 })
    h.fail(
      0,
      logs((list) => list.slice(1)),
    )
    expect(await read(h, 1)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('name the senders of transactions, failed ones too', async () => {
    const chain = createChain()
    chain.add([
      { kind: 'trx', from: us, to: them, amount: 4n },
      { kind: 'call', contract: usdtAddress, from: us, failed: true },
      { kind: 'other', type: 10, from: us, to: null, value: 0n },
      trx(1n, them),
    ])
    chain.addEmpty(18)
    const result = await read(createHarness({ chain }), 1)
    const [block] = result.ok ? result.value : []
    const senders = [us, us, null, them].map((owner, i) => ({ txid: txidAt(chain, chain.firstHeight, i), owner }))
    expect(block).toMatchObject({
      sent: senders.filter(({ owner }) => owner !== null),
      transfers: [
        { from: us, to: them },
        { from: them, to: them },
      ],
    })
  })

  it('end at the head of a node that is behind', async () => {
    const h = await createProbed()
    h.node(1).behind = 20
    expect(wordsOf(await read(h))).toEqual([2, 2, 2])
  })
})

describe('where nodes differ about a block', () => {
  it('only that block is not agreed, and the report shows what differs', async () => {
    const h = await createProbed()
    h.fail(1, blockAt(h, 2, failed))
    expect(wordsOf(await read(h))).toEqual([2, 2, 'no', 2, 2])
    const txid = txidAt(h.chain, h.chain.firstHeight + 2, 0)
    expect(h.reports()).toEqual([
      {
        level: 'report',
        name: 'nodes-disagree',
        fields: {
          subject: { height: h.chain.firstHeight + 2 },
          height: h.chain.firstHeight + 2,
          nodes: 'node 1',
          answer: `${txid} SUCCESS ${them} ${us} 3`,
          otherNode: 2,
          otherAnswer: `${txid} REVERT ${them}`,
          outcome: 'held',
        },
      },
    ])
  })

  it('a third node decides; the outvoted one is reported once, and used last', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, withoutLogsOf(h, 1))
    expect(wordsOf(await read(h))).toEqual([2, 2, 2, 2, 2])
    expect(h.reports().map(({ name, fields }) => [name, fields.subject, fields.outcome])).toEqual([
      ['nodes-disagree', { node: 1 }, 'outvoted'],
    ])
    for (const node of h.nodes) node.requests.length = 0
    expect(wordsOf(await read(h))).toEqual([2, 2, 2, 2, 2])
    expect(h.counts()).toEqual([0, 2, 2])
  })

  it.each<[string, Fault]>([
    ['refuses', { kind: 'body', body: '{"Error":"class java.lang.NullPointerException : null"}' }],
    ['makes too large', { kind: 'oversize' }],
  ])(
    'a node that %s one block decides about its neighbours, and a lie makes no more than that block a gap',
    async (_, fault) => {
      for (const missing of [0, 1, 2, 4]) {
        const h = await createProbed({ nodes: 3, quorum: 2 })
        const { firstHeight } = h.chain
        h.node(0).script = ({ service, calls: [call] }) => {
          const { startNum, endNum } = (call?.params[0] ?? {}) as { startNum: number; endNum: number }
          const isAsked = service === 'api' && startNum <= firstHeight + missing && endNum > firstHeight + missing
          return isAsked ? fault : null
        }
        h.fail(2, blocks(failed))
        const words: unknown[] = []
        for (let tick = 0; tick < 10 && words.length < 5; tick += 1) {
          const result = await h.settle(h.open().finalBlocks(at(firstHeight + words.length), at(firstHeight + 4)))
          words.push(...(result.ok ? [wordsOf(result)].flat() : []))
          h.advance(60_000)
        }
        expect(words).toEqual([0, 1, 2, 3, 4].map((i) => (i === missing ? 'no' : 2)))
      }
    },
  )

  it('a silent node is waited for once, not again for fewer blocks, while another node lies', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.node(0).script = ({ service }) => (service === 'api' ? { kind: 'hang' } : null)
    h.fail(2, blocks(failed))
    expect(wordsOf(await read(h))).toEqual(['no', 'no', 'no', 'no', 'no'])
    expect(h.counts()[0]).toBe(1)
  })

  it('what honest nodes can differ in is no disagreement: logs of failed transactions', async () => {
    const chains = [true, false].map((keepsLogs) => {
      const chain = createChain()
      chain.add([
        { kind: 'token', contract: usdtAddress, from: them, to: us, amount: 5n, failed: true, keepsLogs },
        token(7n),
      ])
      chain.addEmpty(18)
      return chain
    })
    const [first = busyChain(), second = busyChain()] = chains
    const h = createHarness({ chain: first })
    h.node(1).chain = second
    // as the block contains it, though a node's receipt can show something else
    const ret = [{ contractRet: 'OUT_OF_TIME' }]
    h.fail(
      1,
      blocks((block) => ({
        ...block,
        transactions: (block.transactions as Wire[]).map((one, i) => (i === 0 ? { ...one, ret } : one)),
      })),
    )
    expect(wordsOf(await read(h, 1))).toEqual([1])
    expect(h.reports()).toEqual([])
  })

  it('a node whose bytes are not those of a transaction lies: another copy is used', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    const lie = (block: Record<string, unknown>) => {
      const list = block.transactions as Wire[]
      return {
        ...block,
        transactions: list.map((one, i) => (i === 0 ? { ...one, raw_data_hex: list[3]?.raw_data_hex } : one)),
      }
    }
    h.fail(0, blockAt(h, 1, lie))
    expect(wordsOf(await read(h))).toEqual([2, 2, 2, 2, 2])
    expect(h.reports()[0]).toMatchObject({ name: 'node-lies', fields: { node: 1 } })
  })

  it('a node that lies about one block makes it a gap where there is no other copy, and the next one is read', async () => {
    const h = await createProbed()
    h.fail(
      1,
      blockAt(h, 0, (block) => ({ ...block, transactions: [null] })),
    )
    expect(wordsOf(await read(h))).toEqual(['no', 2])
    expect(
      wordsOf(await h.settle(h.open().finalBlocks(at(h.chain.firstHeight + 2), at(h.chain.firstHeight + 4)))),
    ).toEqual([2, 2])
  })
})

describe('blocks that one of three nodes lacks', () => {
  const none = (h: Harness, ...those: readonly number[]) =>
    changing('/wallet/getblockbylimitnext', (value) => {
      const { block = [] } = value as { block?: Wire[] }
      const hashes = those.map((i) => h.chain.at(h.chain.firstHeight + i)?.hash)
      const end = block.findIndex(({ blockID }) => hashes.some((hash) => hash === blockID))
      return end === -1 ? value : end === 0 ? {} : { block: block.slice(0, end) }
    })
  const noLogs = (h: Harness, ...those: readonly number[]): Fault => ({
    kind: 'changed-calls',
    change: ({ method, params: [first] }) => {
      const blocks = those.map((i) => h.chain.at(h.chain.firstHeight + i))
      const hash = (first as { blockHash?: string } | undefined)?.blockHash
      if (method === 'eth_getLogs') return blocks.some((one) => `0x${one?.hash}` === hash) ? { result: [] } : undefined
      const isOf = blocks.some((one) => one?.transactions.some(({ txid }) => `0x${txid}` === first))
      return method === 'eth_getTransactionReceipt' && isOf ? { result: null } : undefined
    },
  })

  it.each([
    ['no block', none],
    ['no logs and no receipts', noLogs],
  ])('are no gap: the two others give them (%s)', async (_, fault) => {
    for (const i of [0, 1, 2]) {
      const h = await createProbed({ nodes: 3, quorum: 2 })
      h.fail(i, fault(h, 1, 2))
      const words: unknown[] = []
      for (let tick = 0; tick < 3 && words.length < 5; tick += 1) {
        const result = await h.settle(
          h.open().finalBlocks(at(h.chain.firstHeight + words.length), at(h.chain.firstHeight + 4)),
        )
        words.push(...(result.ok ? [wordsOf(result)].flat() : []))
      }
      expect(words).toEqual([2, 2, 2, 2, 2])
      expect(h.reports()).toEqual([])
    }
  })
})
