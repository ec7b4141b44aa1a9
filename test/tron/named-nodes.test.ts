import { describe, expect, it } from 'vitest'
import { changing } from '../support/scripted-node.ts'
import { createHarness, createProbed, type Harness, readBlocks, troublesOf } from './harness.ts'

const names = ['TronGrid', 'Our own, in Frankfurt']

const head = (h: Harness) => h.settle(h.open({ kind: 'tick' }).finalizedHead(null))
/** The fields of all log lines with this name. */
const namedIn = (h: Harness, name: string) => h.lines.filter((line) => line.name === name).map(({ fields }) => fields)

describe('a node with a name', () => {
  it('has it beside its number in what is logged and reported of it alone', async () => {
    const h = createHarness({ names })
    h.fail(
      1,
      changing('eth_chainId', () => '0x1'),
    )
    await readBlocks(h)
    expect(namedIn(h, 'node-lies')).toEqual([
      expect.objectContaining({ node: 2, name: names[1], why: 'another chain: chain id 0x1' }),
    ])
    expect(namedIn(h, 'node-error')).toContainEqual(expect.objectContaining({ node: 2, name: names[1] }))
    expect(namedIn(h, 'node-probed')).toEqual([expect.objectContaining({ node: 1, name: names[0] })])
  })

  it('has it where nodes differ, on both sides', async () => {
    const h = await createProbed({ names })
    h.fail(1, changing('/wallet/getblockbylimitnext', withOneLess))
    await readBlocks(h)
    expect(namedIn(h, 'nodes-disagree')).toContainEqual(
      expect.objectContaining({ nodes: 'node 1 (TronGrid)', otherNode: 2, otherName: names[1] }),
    )
  })

  it('has it where it is behind, and where too few nodes answer', async () => {
    const h = await createProbed({ names })
    h.fail(1, { kind: 'status', status: 500 })
    const behind = await head(h)
    expect(behind).toMatchObject({
      ok: false,
      error: { why: expect.stringMatching(/node 2 \(Our own, in Frankfurt\): .*\(HTTP 500\)/) },
    })
    h.advance(180_000)
    await head(h)
    expect(await troublesOf(h, 'node-failing')).toEqual([
      expect.objectContaining({ node: 2, name: names[1], question: 'heads', state: 'down', seconds: 180 }),
    ])
  })
})

it('a node without a name has its number alone', async () => {
  const h = await createProbed()
  h.fail(
    1,
    changing('eth_chainId', () => '0x1'),
  )
  await readBlocks(h)
  expect(namedIn(h, 'node-lies')).toMatchObject([{ node: 2 }])
  expect(namedIn(h, 'node-lies').filter((fields) => 'name' in fields)).toEqual([])
})

/** The blocks of a reply, each without its last transaction. */
function withOneLess(reply: unknown): unknown {
  const { block } = reply as { block: { transactions?: unknown[] }[] } // safe: the scripted node's own reply
  return { block: block.map((one) => ({ ...one, transactions: one.transactions?.slice(0, -1) })) }
}
