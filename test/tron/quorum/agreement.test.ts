import { describe, expect, it } from 'vitest'
import { type BuiltChain, createChain, usdt, type Wire } from '../../support/chain-builder.ts'
import { changing, type Fault, type ScriptedNode } from '../../support/scripted-node.ts'
import { asked, at, busyChain, createHarness, type Harness, secrets, them, token, trx } from '../harness.ts'

type Lie = (chain: BuiltChain) => Fault

/** A list of the same logs, numbered through each block as if nothing was missing. */
const renumbered = (list: readonly Wire[]) =>
  list.map((log, i) => {
    const first = list.findIndex(({ blockNumber }) => blockNumber === log.blockNumber)
    return { ...log, logIndex: `0x${(i - first).toString(16)}` }
  })
const allLogs = (change: (list: readonly Wire[]) => readonly Wire[]): Lie => {
  return () => changing('eth_getLogs', (value) => renumbered(change(value as readonly Wire[])))
}
/** Another block at every height: what a node on a fork of its own shows, in itself without a flaw. */
const otherHistory = (chain: BuiltChain): BuiltChain => {
  const other = createChain({ salt: 'other' })
  while (other.tip().height < chain.tip().height) other.add([trx(7n), token(9n)])
  return other
}

/** Lies that no check of one node alone can find. */
const lies: readonly (readonly [what: string, lie: Lie])[] = [
  ['hides a log', allLogs((list) => list.slice(1))],
  ['hides all logs and receipts alike', () => silent],
  ['shows another amount', allLogs((list) => list.map((log) => ({ ...log, data: `0x${'0'.repeat(60)}ffff` })))],
  [
    'shows another recipient',
    allLogs((list) => list.map((log) => ({ ...log, topics: (log.topics as string[]).with(2, `0x${'9'.repeat(64)}`) }))),
  ],
  ['shows another contract', allLogs((list) => list.map((log) => ({ ...log, address: `0x${'9'.repeat(40)}` })))],
  ['hides a transaction', () => changing('eth_getBlockByNumber', withoutOne)],
  ['shows a transfer to somebody else', () => changing('eth_getBlockByNumber', toSomebodyElse)],
]

const silent: Fault = {
  kind: 'answers',
  change: (call, outcome) => {
    if (call.method === 'eth_getLogs') return { result: [] }
    if (call.method !== 'eth_getTransactionReceipt' || !('result' in outcome)) return undefined
    return { result: { ...(outcome.result as Wire), status: '0x0', logs: [] } }
  },
}

function toSomebodyElse(value: unknown): unknown {
  const block = value as { transactions: readonly unknown[] }
  const to = `0x${'9'.repeat(40)}`
  const moved = block.transactions.map((item) => (typeof item === 'string' ? item : { ...(item as Wire), to }))
  return { ...block, transactions: moved }
}

function withoutOne(value: unknown): unknown {
  const block = value as { transactions: readonly unknown[] }
  const places = (item: unknown, i: number) =>
    typeof item === 'string' ? item : { ...(item as Wire), transactionIndex: `0x${i.toString(16)}` }
  return { ...block, transactions: block.transactions.slice(0, -1).map(places) }
}

async function read(h: Harness, blocks = 3, quorum = 2) {
  const { firstHeight } = h.chain
  return h.settle(h.pool({ quorum }).finalizedBlocks(at(firstHeight), at(firstHeight + blocks - 1)))
}

async function probed(nodes: number): Promise<Harness> {
  const h = createHarness({ nodes })
  await h.settle(h.pool({ quorum: nodes }).finalizedHead())
  h.lines.length = 0
  return h
}

const nodeOf = (h: Harness, i: number): ScriptedNode => {
  const node = h.nodes[i]
  if (node === undefined) throw new Error(`no node ${i}`)
  return node
}

describe('blocks that two nodes must agree on', () => {
  it('are those of the chain, at the cost of two requests to the first node and one to the second', async () => {
    const h = await probed(2)
    const before = h.counts()
    const answer = await read(h, 5)
    expect(answer.ok && answer.value.map(({ hash }) => hash)).toEqual(
      [0, 1, 2, 3, 4].map((i) => h.chain.at(h.chain.firstHeight + i)?.hash),
    )
    expect(h.counts().map((count, i) => count - (before[i] ?? 0))).toEqual([2, 1])
    expect(h.alarms()).toEqual([])
  })

  it('may hold 17 heights: every batch has at most 20 calls, with chain id and finalized head in front', async () => {
    const h = createHarness()
    for (let i = 0; i < 20; i += 1) h.chain.add([token(1n, them)])
    const answer = await read(h, 17)
    expect(answer.ok && answer.value.length).toBe(17)
    for (const { calls } of h.nodes.flatMap((node) => node.requests.slice(2))) {
      expect(calls.length).toBeLessThanOrEqual(20)
      expect(calls.slice(0, 2).map(({ method, params }) => [method, params])).toEqual([
        ['eth_chainId', []],
        ['eth_getBlockByNumber', ['finalized', false]],
      ])
    }
  })

  it('are never asked for more than 17 at once', async () => {
    const h = await probed(2)
    expect(await read(h, 18)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('have their logs fetched without a filter: by block hash, and from the second node by range', async () => {
    const h = await probed(2)
    await read(h, 1)
    const filters = h.nodes.map(
      (node) =>
        node.requests.flatMap(({ calls }) => calls.filter(({ method }) => method === 'eth_getLogs')).at(-1)?.params,
    )
    const blockHash = `0x${h.chain.at(h.chain.firstHeight)?.hash}`
    const height = `0x${h.chain.firstHeight.toString(16)}`
    expect(filters).toEqual([[{ blockHash }], [{ fromBlock: height, toBlock: height }]])
  })

  for (const liar of [0, 1]) {
    it.each(lies)(`are held where one of two (node ${liar + 1}) %s`, async (_, lie) => {
      const h = await probed(2)
      nodeOf(h, liar).script = () => lie(h.chain)
      expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
      expect(h.alarms()).toMatchObject([
        { name: 'nodes-disagree', fields: { nodes: '1', otherNode: 2, outcome: 'held' } },
      ])
      nodeOf(h, liar).script = () => null
      expect((await read(h)).ok).toBe(true) // asked again, once they agree
    })
  }

  for (const liar of [0, 1, 2]) {
    it.each(lies)(`come from the honest two where one of three (node ${liar + 1}) %s`, async (_, lie) => {
      const h = await probed(3)
      nodeOf(h, liar).script = () => lie(h.chain)
      const answer = await read(h)
      expect(answer.ok && answer.value.map(({ logs }) => logs.length)).toEqual([2, 2, 2])
      expect(answer.ok && answer.value.map(({ transactions }) => transactions.length)).toEqual([4, 4, 4])
      const outvoted = h.alarms().map(({ fields }) => [fields.otherNode, fields.outcome])
      expect(outvoted).toEqual(liar === 2 ? [] : outvoted.map(() => [liar + 1, 'outvoted']))
      expect(outvoted.length > 0).toBe(liar !== 2) // the third is not asked where two agree
    })

    it(`come from the honest two where one of three (node ${liar + 1}) follows a history of its own`, async () => {
      const h = await probed(3)
      nodeOf(h, liar).chain = otherHistory(h.chain)
      const answer = await read(h)
      expect(answer.ok && answer.value.at(-1)?.hash).toBe(h.chain.at(h.chain.firstHeight + 2)?.hash)
    })
  }

  it('are held where one of two follows a history of its own, whoever is first', async () => {
    for (const liar of [0, 1]) {
      const h = await probed(2)
      nodeOf(h, liar).chain = otherHistory(h.chain)
      expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
      const [alarm] = h.alarms()
      const [first, second] = h.nodes.map(({ chain }) => `hash ${chain.at(h.chain.firstHeight)?.hash}`)
      expect(alarm?.fields.answer).toContain(first)
      expect(alarm?.fields.otherAnswer).toContain(second)
    }
  })

  it('are told to a person once, and again after an hour', async () => {
    const h = await probed(2)
    nodeOf(h, 1).script = () => lies[0]?.[1](h.chain) ?? null
    for (let i = 0; i < 3; i += 1) await read(h)
    expect(h.alarms().length).toBe(1)
    h.advance(3_600_001)
    await read(h)
    expect(h.alarms().length).toBe(2)
  })

  it('may differ in logs of failed transactions, which are no consensus data', async () => {
    const chain = createChain()
    const failed = {
      kind: 'token',
      contract: usdt,
      from: them,
      to: them,
      amount: 5n,
      failed: true,
      keepsLogs: true,
    } as const
    chain.add([failed, token(8n)])
    chain.addEmpty(18)
    const h = createHarness({ chain })
    await h.settle(h.pool().finalizedHead())
    nodeOf(h, 1).script = () => allLogs((list) => list.slice(1))(chain)
    const answer = await read(h, 1)
    expect(answer.ok && answer.value[0]?.logs.length).toBe(2)
    expect(h.alarms()).toEqual([])
  })

  it('need two nodes: one that answers is not enough', async () => {
    const h = await probed(2)
    nodeOf(h, 1).script = () => ({ kind: 'broken-connection' })
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('must be final for both', async () => {
    const h = await probed(2)
    nodeOf(h, 1).behind = 4
    expect(await read(h, 5)).toMatchObject({
      ok: false,
      error: { kind: 'no-answer', why: expect.stringContaining('final up to') },
    })
    nodeOf(h, 1).behind = 0
    expect((await read(h, 5)).ok).toBe(true)
  })
})

describe('the finalized head', () => {
  it('is the lower of two, which both name the same block', async () => {
    const h = await probed(2)
    nodeOf(h, 0).behind = 2
    const head = await h.settle(h.pool().finalizedHead())
    const wanted = h.chain.at(h.chain.firstHeight + 2)
    expect(head).toMatchObject({ ok: true, value: { height: wanted?.height, hash: wanted?.hash } })
  })

  it('is held where two name different blocks', async () => {
    const h = await probed(2)
    nodeOf(h, 1).chain = otherHistory(h.chain)
    expect(await h.settle(h.pool().finalizedHead())).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.alarms()).toMatchObject([{ name: 'nodes-disagree', fields: { outcome: 'held' } }])
  })

  it('can not be run ahead by one node', async () => {
    const h = await probed(2)
    nodeOf(h, 0).finalityLag = 0
    expect(await h.settle(h.pool().finalizedHead())).toMatchObject({
      ok: true,
      value: { height: h.chain.tip().height - 18 },
    })
  })

  it('can not be held back by one of three', async () => {
    const h = await probed(3)
    h.chain.addEmpty(100)
    nodeOf(h, 0).behind = 100
    expect(await h.settle(h.pool().finalizedHead())).toMatchObject({
      ok: true,
      value: { height: h.chain.tip().height - 18 },
    })
  })

  it.each([0, 1, 2])('is that of the honest two where node %i of three is on a history of its own', async (liar) => {
    const h = await probed(3)
    nodeOf(h, liar).chain = otherHistory(h.chain)
    const head = await h.settle(h.pool().finalizedHead())
    expect(head.ok && head.value.hash).toBe(h.chain.at(h.chain.tip().height - 18)?.hash)
  })

  it('is no answer where only one of two answers', async () => {
    const h = await probed(2)
    nodeOf(h, 0).script = () => ({ kind: 'status', status: 500 })
    expect(await h.settle(h.pool().finalizedHead())).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('is one node’s where one is enough', async () => {
    const h = await probed(1)
    expect((await h.settle(h.pool({ quorum: 1 }).finalizedHead())).ok).toBe(true)
  })
})

describe('receipts that two nodes must agree on', () => {
  const receipts = (h: Harness) =>
    h.settle(h.pool().receipts([asked(h.chain, h.chain.firstHeight, 0), asked(h.chain, h.chain.firstHeight, 1)]))
  const patch = (change: (receipt: Wire) => Wire): Fault =>
    changing('eth_getTransactionReceipt', (value) => change(value as Wire))
  const log = (change: (log: Wire) => Wire) =>
    patch((receipt) => ({ ...receipt, logs: (receipt.logs as Wire[]).map(change) }))
  const falsified: readonly (readonly [string, Fault])[] = [
    ['status', patch((receipt) => ({ ...receipt, status: '0x0' }))],
    ['logs', patch((receipt) => ({ ...receipt, logs: [] }))],
    ['amount', log((one) => ({ ...one, data: `0x${'f'.repeat(64)}` }))],
    ['contract', log((one) => ({ ...one, address: `0x${'9'.repeat(40)}` }))],
    ['recipient', log((one) => ({ ...one, topics: (one.topics as string[]).with(2, `0x${'9'.repeat(64)}`) }))],
  ]

  it('hold every txid asked for', async () => {
    const h = await probed(2)
    const answer = await receipts(h)
    expect(answer.ok && [...answer.value.values()].map(({ succeeded, logs }) => [succeeded, logs.length])).toEqual([
      [true, 0],
      [true, 1],
    ])
  })

  it.each(falsified)('are held where two differ in the %s', async (_, fault) => {
    const h = await probed(2)
    nodeOf(h, 0).script = () => fault
    expect(await receipts(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.alarms()).toMatchObject([{ name: 'nodes-disagree', fields: { outcome: 'held' } }])
    const [alarm] = h.alarms()
    expect(alarm?.fields.answer).not.toBe(alarm?.fields.otherAnswer)
  })

  it.each(falsified)('come from the honest two where the first of three shows another %s', async (_, fault) => {
    const h = await probed(3)
    nodeOf(h, 0).script = () => fault
    const answer = await receipts(h)
    expect(
      answer.ok && [...answer.value.values()].map(({ succeeded, logs }) => [succeeded, logs.at(0)?.contract]),
    ).toEqual([
      [true, undefined],
      [true, usdt],
    ])
    expect(h.alarms()).toMatchObject([{ fields: { otherNode: 1, outcome: 'outvoted' } }])
    const before = h.counts()[0]
    expect((await receipts(h)).ok).toBe(true)
    expect(h.counts()[0]).toBe(before) // whoever was outvoted comes last
  })

  it('do not count from a node that has none for a final transaction', async () => {
    const h = await probed(2)
    nodeOf(h, 1).script = () => changing('eth_getTransactionReceipt', () => null)
    expect(await receipts(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('are held where all of them name another block than the one asked about', async () => {
    const h = await probed(2)
    const { txid } = asked(h.chain, h.chain.firstHeight, 0)
    const block = h.chain.at(h.chain.firstHeight + 1)
    if (block === undefined) throw new Error('no block')
    expect(await h.settle(h.pool().receipts([{ txid, block }]))).toMatchObject({
      ok: false,
      error: { kind: 'disagreement' },
    })
  })
})

it('keeps URLs and keys out of everything it writes or answers', async () => {
  const h = createHarness({ nodes: 3, chain: busyChain() })
  const answers: unknown[] = []
  const echo = `https://node-1.test/${secrets.path}?key=${secrets.key}`
  const faults: readonly (Fault | null)[] = [
    { kind: 'broken-connection' },
    { kind: 'body', body: `<html>${echo}` },
    { kind: 'status', status: 500, body: echo },
    changing('web3_clientVersion', () => echo),
    { kind: 'answers', change: () => ({ error: { code: -32000, message: echo } }) },
    changing('eth_chainId', () => echo),
    silent,
    changing('eth_getBlockByNumber', withoutOne),
    null,
  ]
  for (const fault of faults) {
    for (const node of h.nodes.slice(0, 2)) node.script = () => fault
    answers.push(
      await read(h),
      await h.settle(h.pool().finalizedHead()),
      await h.settle(h.pool().transactionBytes(asked(h.chain, h.chain.firstHeight, 0).txid)),
    )
    h.advance(7_200_000)
  }
  const written = JSON.stringify([h.lines, answers.map((answer) => (answer as { error?: unknown }).error)])
  expect(h.lines.length).toBeGreaterThan(10)
  for (const secret of [secrets.path, secrets.key, 'https:', 'node-1.test']) expect(written).not.toContain(secret)
})
