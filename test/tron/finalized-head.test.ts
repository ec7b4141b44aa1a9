import { describe, expect, it } from 'vitest'
import { ok } from '../../src/worker/common/result.ts'
import type { Wire } from '../support/block-json.ts'
import { createChain } from '../support/chain-builder.ts'
import { changing, type Fault } from '../support/scripted-node.ts'
import { at, createHarness, createProbed, type Harness } from './harness.ts'

const readHead = (h: Harness, stored: { height: number; time: number } | null = null) =>
  h.settle(h.open().finalizedHead(stored && { height: at(stored.height), time: stored.time }))
/** Like `readHead`, but returns only the header. */
const head = async (...asked: Parameters<typeof readHead>) => {
  const read = await readHead(...asked)
  return read.ok ? ok(read.value.header) : read
}
const finalOf = (h: Harness) => h.chain.tip().height - 18

/** Makes a node claim a finalized block with this height, and this time in seconds since 1970. */
const claiming = (height: number, seconds?: number): Fault =>
  changing('eth_getBlockByNumber', (value, { params: [tag] }) => {
    if (tag !== 'finalized') return value
    const hash = (n: number) => `0x${n.toString(16).padStart(16, '0')}${'ee'.repeat(24)}`
    const time = seconds === undefined ? {} : { timestamp: `0x${seconds.toString(16)}` }
    return {
      ...(value as Wire),
      number: `0x${height.toString(16)}`,
      hash: hash(height),
      parentHash: hash(height - 1),
      ...time,
    }
  })

describe('the finalized head', () => {
  it('is that of quorum nodes with the same hash, and takes one request at each', async () => {
    const h = await createProbed()
    expect(await head(h)).toMatchObject({ ok: true, value: { height: finalOf(h), hash: h.chain.at(finalOf(h))?.hash } })
    expect(h.counts()).toEqual([1, 1])
  })

  it('is the lower of two that differ by one, whose hash the other one has as its parent: no further request', async () => {
    const h = await createProbed()
    h.node(1).behind = 1
    expect(await head(h)).toMatchObject({ ok: true, value: { height: finalOf(h) - 1 } })
    expect(h.counts()).toEqual([1, 1])
  })

  it('is not asked of a further node because one of them was slow', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.node(0).script = () => ({ kind: 'delayed', wait: () => h.sleep(2_500) })
    expect((await head(h)).ok).toBe(true)
    expect(h.counts()).toEqual([1, 1, 0])
  })

  it('that is too large for a reply is a bad answer: no block is', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, { kind: 'oversize' })
    expect((await head(h)).ok).toBe(true)
    for (const node of h.nodes) node.requests.length = 0
    expect((await head(h)).ok).toBe(true)
    expect(h.counts()).toEqual([0, 1, 1])
  })

  it('of a node that is far behind does not hold the others back', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.node(0).behind = 4
    expect(await head(h)).toMatchObject({ ok: true, value: { height: finalOf(h) } })
    for (const node of h.nodes) node.requests.length = 0
    await head(h)
    expect(h.counts()).toEqual([0, 1, 1])
  })

  it('far above those of a quorum is invented: its node is named and asked last, and no other one counts as behind', async () => {
    const chain = createChain()
    chain.addEmpty(60)
    const h = await createProbed({ chain, nodes: 3, quorum: 2 })
    h.fail(0, claiming(finalOf(h) + 30))
    const stored = { height: finalOf(h) - 7, time: h.chain.at(finalOf(h) - 7)?.timeMs ?? 0 }
    expect(await readHead(h, stored)).toMatchObject({ ok: true, value: { header: { height: finalOf(h) }, behind: [] } })
    expect(h.reports()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
    for (const node of h.nodes) node.requests.length = 0
    await readHead(h, stored)
    expect(h.counts()).toEqual([0, 1, 1])
  })

  it('far above those of two nodes that are behind is no lie', async () => {
    const chain = createChain()
    chain.addEmpty(100)
    const h = await createProbed({ chain, nodes: 3, quorum: 2 })
    for (const node of h.nodes.slice(1)) node.behind = 40
    expect(await readHead(h)).toMatchObject({ ok: true, value: { behind: [{ node: 'node 2' }, { node: 'node 3' }] } })
    expect(h.reports()).toEqual([])
  })

  it('with two hashes at one height is a disagreement', async () => {
    const h = await createProbed()
    h.fail(1, claiming(finalOf(h)))
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.reports()).toMatchObject([{ name: 'nodes-disagree' }])
  })

  it('ahead of the clock by more than a minute is a lie of the node', async () => {
    const h = await createProbed({ nodes: 3, quorum: 2 })
    h.fail(0, claiming(finalOf(h) + 1, Math.floor(h.now() / 1000) + 120))
    expect(await head(h)).toMatchObject({ ok: true, value: { height: finalOf(h) } })
    expect(h.reports()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
  })

  it('with more blocks above the stored head than there were slots of 3 s is a lie, also of the only node', async () => {
    const h = await createProbed({ nodes: 1 })
    const stored = { height: finalOf(h) - 100, time: h.now() - 300_000 }
    h.fail(0, claiming(4_000_000_000_000))
    expect(await head(h, stored)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
    expect(h.reports()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
    h.fail(0, null)
    h.advance(60_000)
    expect(await head(h, stored)).toMatchObject({ ok: true, value: { height: finalOf(h) } })
  })

  it.each([
    [100, 300, true], // 5 minutes without final blocks, which then come all at once
    [1_200, 3_600, true], // 1 hour without final blocks, which then come all at once
    [120, 300, true], // 100 blocks fit into the time; 20 more are allowed, because clocks differ
    [121, 300, false],
    [21, 0, false],
    [20, 0, true],
  ])('of %d blocks above a stored head of %d s ago is accepted: %s', async (blocks, seconds, isAccepted) => {
    const h = await createProbed({ nodes: 1 })
    const read = await head(h, { height: finalOf(h) - blocks, time: h.now() - seconds * 1000 })
    expect(read.ok).toBe(isAccepted)
  })

  it('is compared with the stored head after a correction too, where the time of that is asked', async () => {
    const h = await createProbed({ nodes: 1 })
    const corrected = { height: finalOf(h) - 2, time: 0 }
    h.fail(0, claiming(4_000_000_000_000))
    expect(await head(h, corrected)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
    h.fail(0, null)
    h.advance(60_000)
    expect(await head(h, corrected)).toMatchObject({ ok: true, value: { height: finalOf(h) } })
  })

  it('is no lie because one node names a time of the stored head that is not agreed', async () => {
    const chain = createChain()
    chain.addEmpty(80)
    const h = await createProbed({ chain, nodes: 3, quorum: 2 })
    const inYear10000 = (block: unknown) => ({ ...(block as object), timestamp: '0x3b00000000' })
    h.fail(
      0,
      changing('eth_getBlockByNumber', (block, { params: [which] }) =>
        which === 'finalized' ? block : inYear10000(block),
      ),
    )
    const corrected = { height: at(finalOf(h) - 40), time: 0 }
    expect(await head(h, corrected)).toMatchObject({ ok: true, value: { height: finalOf(h) } })
  })

  it('of a node without the tag is never used: the node is unfit', async () => {
    const h = createHarness({ nodes: 1 })
    h.node(0).supportsFinalized = false
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
    expect(h.reports()).toMatchObject([
      { name: 'node-unfit', fields: { node: 1, why: expect.stringContaining('finalized') } },
    ])
  })
})
