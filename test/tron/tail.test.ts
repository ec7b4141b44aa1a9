import { describe, expect, it } from 'vitest'
import type { Chain } from '../../src/worker/chain/chain.ts'
import { changing } from '../support/scripted-node.ts'
import { createProbed, type Harness, headOf, refOf } from './harness.ts'
import { blocks } from './protocol-faults.ts'

const read = <T>(h: Harness, ask: (chain: Chain) => Promise<T>) => h.settle(ask(h.open()))

describe('the tail', () => {
  const tail = (h: Harness, height: number) => read(h, (chain) => chain.tail(refOf(h.chain, height), headOf(h)))

  it('has the blocks after a known one from one node, by two requests', async () => {
    const h = await createProbed()
    const newest = h.chain.tip().height
    const result = await tail(h, newest - 10)
    expect(result).toMatchObject({ ok: true, value: { latest: newest, follows: true } })
    expect(result.ok && result.value.blocks.map(({ header }) => header.height)).toEqual(
      Array.from({ length: 10 }, (_, i) => newest - 9 + i),
    )
    expect(h.counts()).toEqual([2, 0])
  })

  it('of a node that shows blocks from the future is that of the next node', async () => {
    const h = await createProbed()
    h.fail(
      0,
      blocks((block) => {
        const { raw_data } = block.block_header as { raw_data: object }
        return { ...block, block_header: { raw_data: { ...raw_data, timestamp: h.now() + 61_000 } } }
      }),
    )
    expect(await tail(h, h.chain.tip().height - 3)).toMatchObject({ ok: true, value: { node: 2 } })
    expect(h.reports()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
  })

  it('of a node that shows more blocks than there were slots of 3 s since the final head is that of the next node', async () => {
    const h = await createProbed()
    const known = refOf(h.chain, h.chain.tip().height)
    const invented = h.chain.fork(known.height)
    invented.addEmpty(3)
    const [honest, head] = [h.chain.tip(), headOf(h)]
    h.node(0).chain = invented
    const read3 = () => read(h, (chain) => chain.tail(known, head))
    expect(await read3()).toMatchObject({ ok: true, value: { node: 2, latest: honest.height, blocks: [] } })
    expect(h.reports()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
    h.advance(60_000) // 20 more slots of 3 s, so the chain may have grown by the three invented blocks
    expect(await read3()).toMatchObject({ ok: true, value: { node: 1, latest: honest.height + 3 } })
  })

  it('costs no request for the logs of blocks that cannot be: a node that shows hundreds is named within its allowance', async () => {
    const h = await createProbed()
    const known = refOf(h.chain, h.chain.tip().height)
    const invented = h.chain.fork(known.height)
    invented.addEmpty(100)
    h.node(0).chain = invented
    expect(await read(h, (chain) => chain.tail(known, headOf(h)))).toMatchObject({ ok: true, value: { node: 2 } })
    expect(h.reports()).toMatchObject([{ name: 'node-lies', fields: { node: 1 } }])
    expect(h.counts()).toEqual([1, 1])
  })

  it('is empty after the newest block, by one request', async () => {
    const h = await createProbed()
    const newest = h.chain.tip().height
    expect(await tail(h, newest)).toEqual({ ok: true, value: { node: 1, latest: newest, follows: true, blocks: [] } })
    expect(h.counts()).toEqual([1, 0])
  })

  it('says where the known block has left the chain', async () => {
    const h = await createProbed()
    const known = h.chain.tip().height - 3
    const fork = h.chain.fork(known - 1)
    fork.addEmpty(5)
    const left = refOf(h.chain, known)
    for (const node of h.nodes) node.chain = fork
    expect(await read(h, (chain) => chain.tail(left, headOf(h)))).toMatchObject({
      ok: true,
      value: { follows: false, blocks: [] },
    })
  })

  it('of a node that shows something malformed is that of the next node, or a failure that is no exception', async () => {
    const h = await createProbed()
    const garbled = changing('/wallet/getblockbylimitnext', () => ({ block: [{ value: '0xzz' }] }))
    h.fail(0, garbled)
    expect(await tail(h, h.chain.tip().height - 3)).toMatchObject({ ok: true, value: { node: 2, follows: true } })
    h.fail(1, garbled)
    expect(await tail(h, h.chain.tip().height - 3)).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})
