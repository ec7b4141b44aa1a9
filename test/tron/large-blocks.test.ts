import { describe, expect, it } from 'vitest'
import type { Wire } from '../support/block-json.ts'
import { createChain } from '../support/chain-builder.ts'
import { changing, type Fault, failing } from '../support/scripted-node.ts'
import { at, createProbed, type Harness, readBlocks as read, txidAt, wordsOf } from './harness.ts'

describe('a block whose logs are too many for a reply', () => {
  const tooMany = failing('eth_getLogs', -32005, 'query returned more than 10000 results')
  const tooManyOf = (h: Harness, i: number): Fault => ({
    kind: 'changed-calls',
    change: ({ method, params: [filter] }) => {
      const isIt =
        (filter as { blockHash?: string } | undefined)?.blockHash === `0x${h.chain.at(h.chain.firstHeight + i)?.hash}`
      return method === 'eth_getLogs' && isIt ? { error: { code: -32005, message: '' } } : undefined
    },
  })

  it('is read without them: its TRX, and the calls whose receipts have them', async () => {
    const h = await createProbed()
    for (const i of [0, 1]) h.fail(i, tooManyOf(h, 1))
    const result = await read(h)
    expect(wordsOf(result)).toEqual([2, '1 and calls', 2, 2, 2])
    const [, block] = result.ok ? result.value : []
    const height = h.chain.firstHeight + 1
    expect(block?.kind === 'read' && block.callsToRead).toEqual([1, 2].map((i) => txidAt(h.chain, height, i)))
    expect(h.reports()).toEqual([])
  })

  it('is read by another node where only one has too many, which costs no further request at that one', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, tooMany)
    expect(wordsOf(await read(h))).toEqual([2, 2, 2, 2, 2])
    expect(h.counts()).toEqual([2, 2, 2 + 2]) // two requests check the third node, and two read from it
    for (const node of h.nodes) node.requests.length = 0
    expect(wordsOf(await read(h))).toEqual([2, 2, 2, 2, 2])
    expect(h.counts()).toEqual([0, 2, 2])
  })

  it('too large in bytes is asked for alone, and then it counts as too many', async () => {
    const h = await createProbed({ nodes: 1 })
    const padding = ' '.repeat(5 * 1024 * 1024)
    h.node(0).script = ({ calls }) => {
      const hash = `0x${h.chain.at(h.chain.firstHeight + 1)?.hash}`
      const asksForIt = calls.some(
        ({ params: [filter] }) => (filter as { blockHash?: string } | undefined)?.blockHash === hash,
      )
      return asksForIt ? { kind: 'body', body: `"${padding}"` } : null
    }
    expect(wordsOf(await read(h))).toEqual([2, '1 and calls', 2, 2, 2])
  })
})

describe('a block that no reply can hold', () => {
  const tooLargeWith = (h: Harness, ...those: readonly number[]): Fault =>
    changing('/wallet/getblockbylimitnext', (value) => {
      const { block = [] } = value as { block?: Wire[] }
      const hashes = those.map((i) => h.chain.at(h.chain.firstHeight + i)?.hash)
      const hasOne = block.some(({ blockID }) => hashes.some((hash) => hash === blockID))
      return hasOne ? { block, padding: 'x'.repeat(5 * 1024 * 1024) } : value
    })

  it('is a gap, at most: the blocks before it and after it are read', async () => {
    const h = await createProbed()
    for (const i of [0, 1]) h.fail(i, tooLargeWith(h, 2))
    const { firstHeight } = h.chain
    expect(wordsOf(await read(h))).toEqual([2, 2])
    expect(wordsOf(await h.settle(h.open().finalBlocks(at(firstHeight + 2), at(firstHeight + 4))))).toEqual(['no', 2])
    expect(wordsOf(await h.settle(h.open().finalBlocks(at(firstHeight + 4), at(firstHeight + 4))))).toEqual([2])
  })

  it('is a gap also where the one after it is like it', async () => {
    const chain = createChain()
    chain.addEmpty(20)
    const h = await createProbed({ chain })
    for (const i of [0, 1]) h.fail(i, tooLargeWith(h, 2, 3))
    const from = (i: number) => h.settle(h.open().finalBlocks(at(chain.firstHeight + i), at(chain.firstHeight + 15)))
    expect(wordsOf(await from(2))).toEqual(['no', 'no'])
    expect(wordsOf(await from(4))).toEqual([0, 0])
  })

  it.each<[string, Fault]>([
    ['breaks the connection', { kind: 'broken-connection' }],
    ['takes too long', { kind: 'hang' }],
    ['is an exception of the node', { kind: 'body', body: '{"Error":"class java.lang.NullPointerException : null"}' }],
  ])('is a gap also where each reply with it %s', async (_, fault) => {
    const h = await createProbed()
    const { firstHeight } = h.chain
    for (const node of h.nodes) {
      node.script = ({ service, calls: [call] }) => {
        const { startNum, endNum } = (call?.params[0] ?? {}) as { startNum: number; endNum: number }
        return service === 'api' && startNum <= firstHeight + 2 && endNum > firstHeight + 2 ? fault : null
      }
    }
    const words: unknown[] = []
    for (let tick = 0; tick < 10 && words.length < 5; tick += 1) {
      const read = await h.settle(h.open().finalBlocks(at(firstHeight + words.length), at(firstHeight + 4)))
      words.push(...(read.ok ? [wordsOf(read)].flat() : []))
      h.advance(60_000)
    }
    expect(words).toEqual([2, 2, 'no', 2, 2])
  })

  it('is no gap where no later one can be read either: then the nodes are not well', async () => {
    const h = await createProbed()
    for (const i of [0, 1]) h.fail(i, { kind: 'oversize' })
    expect(await read(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it.each([
    ['that fits into a reply', 4_000_000],
    ['that makes the reply too large', 4_700_000],
  ])('of one node only, which adds junk %s, makes no question to the others smaller', async (_, junkBytes) => {
    const chain = createChain()
    chain.addEmpty(400)
    const lengthsWith = async (fault: Fault | null) => {
      const h = await createProbed({ chain, nodes: 3, quorum: 2 })
      h.fail(0, fault)
      const lengths: number[] = []
      for (let from = chain.firstHeight; lengths.length < 4; from += lengths.at(-1) ?? 0) {
        const result = await h.settle(h.open().finalBlocks(at(from), at(chain.firstHeight + 380)))
        lengths.push(result.ok ? result.value.length : 0)
      }
      return lengths
    }
    const junk = changing('/wallet/getblockbylimitnext', (value) => ({
      ...(value as object),
      junk: 'a'.repeat(junkBytes),
    }))
    expect(await lengthsWith(junk)).toEqual(await lengthsWith(null))
  })

  it('is asked of a node after the others, if its reply was too large and they agreed on theirs', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, { kind: 'oversize' })
    expect(wordsOf(await read(h))).toEqual([2, 2, 2, 2, 2])
    expect(h.node(0).requests).toHaveLength(1)
    expect(wordsOf(await read(h))).toEqual([2, 2, 2, 2, 2])
    expect(h.node(0).requests).toHaveLength(1)
  })

  it('makes questions smaller, and small blocks make them larger again', async () => {
    const chain = createChain()
    chain.addEmpty(400)
    const h = await createProbed({ chain })
    const lengths: number[] = []
    for (let from = chain.firstHeight; lengths.length < 4; ) {
      const result = await h.settle(h.open().finalBlocks(at(from), at(chain.firstHeight + 380)))
      const length = result.ok ? result.value.length : 0
      lengths.push(length)
      from += length
    }
    expect(lengths).toEqual([12, 100, 100, 100])
    expect(h.node(0).requests.every(({ calls }) => calls.length <= 20)).toBe(true)
  })
})
