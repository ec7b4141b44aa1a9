import { describe, expect, it } from 'vitest'
import type { Wire } from '../../support/block-json.ts'
import { createChain } from '../../support/chain-builder.ts'
import { changing } from '../../support/scripted-node.ts'
import { transferLog, usdtAddress } from '../../support/transaction-spec.ts'
import { at, createProbed, type Harness, them, token } from '../harness.ts'
import { byzantineReplies, hiddenLog, otherHistory } from './byzantine-replies.ts'

/** The first blocks of the chain. */
async function read(h: Harness, blocks = 3) {
  const { firstHeight } = h.chain
  return h.settle(h.pool().finalizedBlocks(at(firstHeight), at(firstHeight + blocks - 1)))
}

/** A node that changes fields of every transaction of blocks. */
const everyTransaction = (patch: Wire) =>
  changing('eth_getBlockByNumber', (value, call) => {
    const block = value as { transactions: readonly Wire[] }
    if (call.params[1] !== true) return block
    return { ...block, transactions: block.transactions.map((item) => ({ ...item, ...patch })) }
  })

describe('final blocks', () => {
  it('take two requests to one node and one to another', async () => {
    const h = await createProbed(2)
    const before = h.counts()
    const answer = await read(h, 5)
    expect(answer.ok && answer.value.map(({ hash }) => hash)).toEqual(
      [0, 1, 2, 3, 4].map((i) => h.chain.at(h.chain.firstHeight + i)?.hash),
    )
    expect(h.counts().map((count, i) => count - (before[i] ?? 0))).toEqual([2, 1])
    expect(h.alarms()).toEqual([])
  })

  it('are up to 17, in batches of at most 20 calls that begin with chain id and finalized head', async () => {
    const h = await createProbed(2)
    for (let i = 0; i < 20; i += 1) h.chain.add([token(1n, them)])
    for (const node of h.nodes) node.requests.length = 0
    const answer = await read(h, 17)
    expect(answer.ok && answer.value.length).toBe(17)
    for (const { calls } of h.nodes.flatMap((node) => node.requests)) {
      expect(calls.length).toBeLessThanOrEqual(20)
      expect(calls.slice(0, 2).map(({ method, params }) => [method, params])).toEqual([
        ['eth_chainId', []],
        ['eth_getBlockByNumber', ['finalized', false]],
      ])
    }
  })

  it('are refused where more than 17 are requested', async () => {
    const h = await createProbed(2)
    const before = h.counts()
    expect(await read(h, 18)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
    expect(h.counts()).toEqual(before)
  })

  it('may differ in the logs of failed transactions', async () => {
    const chain = createChain()
    const failed = { kind: 'token', contract: usdtAddress, from: them, to: them, amount: 5n } as const
    chain.add([{ ...failed, failed: true, keepsLogs: true }, token(8n)])
    chain.addEmpty(18)
    const h = await createProbed(2, chain)
    h.fail(1, hiddenLog)
    const answer = await read(h, 1)
    expect(answer.ok && answer.value[0]?.logs?.length).toBe(2)
    expect(h.alarms()).toEqual([])
  })

  it('need as many nodes as the quorum', async () => {
    const h = await createProbed(2)
    h.fail(1, { kind: 'broken-connection' })
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('must be final for both nodes', async () => {
    const h = await createProbed(2)
    h.node(1).behind = 4
    const why = expect.stringContaining('final up to')
    expect(await read(h, 5)).toMatchObject({ ok: false, error: { kind: 'no-answer', why } })
    h.node(1).behind = 0
    expect((await read(h, 5)).ok).toBe(true)
  })

  it('are no answer where the value of a transaction is not a quantity', async () => {
    const h = await createProbed(2)
    for (const node of h.nodes) node.script = () => everyTransaction({ value: '0xzz' })
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('may differ in the energy of transactions: a node without history shows none', async () => {
    const h = await createProbed(2)
    h.fail(1, everyTransaction({ gas: '0x0' }))
    expect((await read(h)).ok).toBe(true)
    expect(h.alarms()).toEqual([])
  })
})

describe.each([0, 1])('of two nodes, index %i dishonest', (dishonest) => {
  it.each(byzantineReplies)('which %s: the result is a disagreement until they agree', async (_, fault) => {
    const h = await createProbed(2)
    h.fail(dishonest, fault)
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.alarms()).toMatchObject([
      { name: 'nodes-disagree', fields: { nodes: '1', otherNode: 2, outcome: 'held' } },
    ])
    h.fail(dishonest, null)
    expect((await read(h)).ok).toBe(true)
  })

  it('with other blocks: the alarm has the hashes of both', async () => {
    const h = await createProbed(2)
    h.node(dishonest).chain = otherHistory(h.chain)
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    const [alarm] = h.alarms()
    const [first, second] = h.nodes.map(({ chain }) => `hash ${chain.at(h.chain.firstHeight)?.hash}`)
    expect(alarm?.fields.answer).toContain(first)
    expect(alarm?.fields.otherAnswer).toContain(second)
  })
})

describe.each([0, 1, 2])('of three nodes, index %i dishonest', (dishonest) => {
  it.each(byzantineReplies)('which %s: the blocks are from the honest two', async (_, fault) => {
    const h = await createProbed(3)
    h.fail(dishonest, fault)
    const answer = await read(h)
    expect(answer.ok && answer.value.map(({ logs }) => logs?.length)).toEqual([2, 2, 2])
    expect(answer.ok && answer.value.map(({ transactions }) => transactions.length)).toEqual([4, 4, 4])
    const outvoted = h.alarms().map(({ fields }) => [fields.otherNode, fields.outcome])
    expect(outvoted).toEqual(outvoted.map(() => [dishonest + 1, 'outvoted']))
    expect(outvoted.length > 0).toBe(dishonest !== 2) // the third node is not queried where two agree
  })

  it('with other blocks: the blocks are from the honest two', async () => {
    const h = await createProbed(3)
    h.node(dishonest).chain = otherHistory(h.chain)
    const answer = await read(h)
    expect(answer.ok && answer.value.at(-1)?.hash).toBe(h.chain.at(h.chain.firstHeight + 2)?.hash)
  })
})

describe('the alarm about a disagreement has what differs', () => {
  const texts = async (h: Harness) => {
    expect(await read(h, 1)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    const [alarm] = h.alarms()
    return [String(alarm?.fields.answer), String(alarm?.fields.otherAnswer)]
  }

  it.each<[string, Wire, string]>([
    ['the call data', { input: '0xa9059cbb' }, 'call data'],
    ['the value', { value: '0x7b' }, 'value 0x7b'],
    ['the sender', { from: `0x${'9'.repeat(40)}` }, `from ${'9'.repeat(40)}`],
    ['the recipient', { to: null }, 'to none'],
  ])('in %s of a transaction', async (_, patch, other) => {
    const h = await createProbed(2)
    h.fail(1, everyTransaction(patch))
    const [text, otherText] = await texts(h)
    expect(text).not.toContain(other)
    expect(otherText).toContain(other)
  })

  it('in the last of many logs of a transaction', async () => {
    const chain = createChain()
    const many = Array.from({ length: 20 }, (_, i) => transferLog(usdtAddress, them, them, BigInt(i + 1)))
    chain.add([{ kind: 'call', contract: usdtAddress, from: them, logs: many }])
    chain.addEmpty(18)
    const h = await createProbed(2, chain)
    const last = (list: readonly Wire[]) => list.with(-1, { ...list.at(-1), data: `0x${'0'.repeat(61)}abc` })
    h.fail(1, {
      kind: 'changed-calls',
      change: ({ method }, response) => {
        if (!('result' in response)) return undefined
        const receipt = response.result as Wire
        if (method === 'eth_getLogs') return { result: last(response.result as readonly Wire[]) }
        if (method !== 'eth_getTransactionReceipt') return undefined
        return { result: { ...receipt, logs: last(receipt.logs as readonly Wire[]) } }
      },
    })
    const [text, otherText] = await texts(h)
    expect(text).toContain('00014]')
    expect(otherText).toContain('00abc]')
  })
})

describe('the alarm about a disagreement', () => {
  it('is raised once while it lasts, and again after an hour without it', async () => {
    const h = await createProbed(2)
    h.fail(1, hiddenLog)
    for (let i = 0; i < 10; i += 1) {
      await read(h)
      h.advance(1_200_000)
    }
    expect(h.alarms().length).toBe(1)
    h.advance(3_600_000)
    await read(h)
    expect(h.alarms().length).toBe(2)
  })

  it('is one alarm about a node that is outvoted, whatever it differs in', async () => {
    const h = await createProbed(3)
    h.fail(0, hiddenLog)
    await read(h, 1)
    h.fail(0, null)
    h.node(0).chain = otherHistory(h.chain)
    h.advance(700_000) // as long as it is demoted
    await read(h)
    expect(h.alarms().map(({ fields }) => [fields.otherNode, fields.outcome])).toEqual([[1, 'outvoted']])
  })
})
