import { describe, expect, it } from 'vitest'
import type { Wire } from '../../support/block-json.ts'
import { changing } from '../../support/scripted-node.ts'
import { createProbed, type Harness } from '../harness.ts'
import { otherHistory } from './byzantine-replies.ts'

const head = (h: Harness) => h.settle(h.pool().finalizedHead())

describe('the finalized head', () => {
  it('is the lower one of two nodes', async () => {
    const h = await createProbed(2)
    h.node(0).behind = 2
    const expected = h.chain.at(h.chain.firstHeight + 2)
    expect(await head(h)).toMatchObject({ ok: true, value: { height: expected?.height, hash: expected?.hash } })
  })

  it('is a disagreement where two nodes have different blocks', async () => {
    const h = await createProbed(2)
    h.node(1).chain = otherHistory(h.chain)
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.alarms()).toMatchObject([{ name: 'nodes-disagree', fields: { outcome: 'held' } }])
  })

  it('cannot be moved ahead by one node', async () => {
    const h = await createProbed(2)
    h.node(0).finalityLag = 0
    expect(await head(h)).toMatchObject({ ok: true, value: { height: h.chain.tip().height - 18 } })
  })

  it('is not that of a node whose finalized block is more than a minute ahead of the clock', async () => {
    const h = await createProbed(1)
    const inSeconds = (seconds: number) =>
      changing('eth_getBlockByNumber', (block) => ({
        ...(block as Wire),
        timestamp: `0x${(Math.floor(h.now() / 1000) + seconds).toString(16)}`,
      }))
    h.fail(0, inSeconds(50))
    expect((await head(h)).ok).toBe(true)
    h.fail(0, inSeconds(70))
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('cannot be held back by one of three nodes', async () => {
    const h = await createProbed(3)
    h.chain.addEmpty(100)
    h.node(0).behind = 100
    expect(await head(h)).toMatchObject({ ok: true, value: { height: h.chain.tip().height - 18 } })
  })

  it.each([0, 1, 2])('is that of the honest two where index %i of three has other blocks', async (dishonest) => {
    const h = await createProbed(3)
    h.node(dishonest).chain = otherHistory(h.chain)
    const answer = await head(h)
    expect(answer.ok && answer.value.hash).toBe(h.chain.at(h.chain.tip().height - 18)?.hash)
  })

  it('needs as many nodes as the quorum', async () => {
    const h = await createProbed(2)
    h.fail(0, { kind: 'status', status: 500 })
    expect(await head(h)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it('is that of one node with a quorum of 1', async () => {
    const h = await createProbed(1)
    expect((await head(h)).ok).toBe(true)
  })
})
