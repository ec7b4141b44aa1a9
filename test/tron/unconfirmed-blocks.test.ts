import { describe, expect, it } from 'vitest'
import { unconfirmedBatchBlocks, unconfirmedBatchesMax } from '../../src/tron/limits.ts'
import type { Wire } from '../support/block-json.ts'
import { changing } from '../support/scripted-node.ts'
import { at, createHarness, type Harness } from './harness.ts'

const read = (h: Harness, after: number) => h.settle(h.pool().unconfirmedBlocks(at(after)))
const heightsAfter = async (h: Harness, after: number) => {
  const answer = await read(h, after)
  return answer.ok && answer.value.blocks.map(({ height }) => height)
}

describe('unconfirmed blocks', () => {
  it('take two requests to one node, logs included', async () => {
    const h = createHarness()
    const latest = h.chain.tip().height
    const answer = await read(h, latest - 10)
    expect(answer.ok && answer.value.latest).toBe(latest)
    expect(answer.ok && answer.value.blocks.map(({ height, logs }) => [height, logs?.length])).toEqual(
      Array.from({ length: 10 }, (_, i) => [latest - 9 + i, 1]),
    )
    expect(h.counts()).toEqual([4, 0]) // two of them are the probe
  })

  it('are at most two rotations', async () => {
    const h = createHarness()
    h.chain.addEmpty(2 * unconfirmedBatchBlocks)
    const answer = await read(h, h.chain.firstHeight)
    expect(answer.ok && answer.value.blocks.length).toBe(unconfirmedBatchBlocks * unconfirmedBatchesMax)
  })

  it('are none after the newest block', async () => {
    const h = createHarness()
    expect(await heightsAfter(h, h.chain.tip().height)).toEqual([])
  })

  it('end before a block that does not follow', async () => {
    const h = createHarness()
    const after = h.chain.tip().height - 5
    const otherParent = `0x${(after + 2).toString(16).padStart(16, '0')}${'0'.repeat(48)}`
    h.fail(
      0,
      changing('eth_getBlockByNumber', (value, call) =>
        call.params[0] === `0x${(after + 3).toString(16)}` ? { ...(value as Wire), parentHash: otherParent } : value,
      ),
    )
    expect(await heightsAfter(h, after)).toEqual([after + 1, after + 2])
  })

  const badTransaction = (patch: Wire) => (block: Wire) => {
    return { ...block, transactions: (block.transactions as Wire[]).map((item) => ({ ...item, ...patch })) }
  }

  it.each<[string, (block: Wire) => unknown]>([
    ['without a hash', (block) => ({ ...block, hash: '0x' })],
    ['that is null', () => null],
    ['that is text', () => 'x'],
    ['with a value that is not a quantity', badTransaction({ value: '0xzz' })],
    ['with an address that is none', badTransaction({ to: '0xzz' })],
  ])('end before a block %s', async (_, change) => {
    const h = createHarness()
    const after = h.chain.tip().height - 5
    h.fail(
      0,
      changing('eth_getBlockByNumber', (value, call) =>
        call.params[0] === `0x${(after + 3).toString(16)}` ? change(value as Wire) : value,
      ),
    )
    expect(await heightsAfter(h, after)).toEqual([after + 1, after + 2])
  })

  it('are those of the first batch where the second one fails', async () => {
    const h = createHarness({ nodes: 1 })
    h.chain.addEmpty(2 * unconfirmedBatchBlocks)
    await h.settle(h.pool().finalizedHead())
    const { length } = h.node(0).requests
    h.node(0).script = ({ number }) => (number > length + 2 ? { kind: 'status', status: 500 } : null)
    const { firstHeight } = h.chain
    expect(await heightsAfter(h, firstHeight)).toHaveLength(unconfirmedBatchBlocks)
  })

  it('end before a block that left the chain before its logs were read', async () => {
    const h = createHarness()
    const after = h.chain.tip().height - 5
    const gone = `0x${h.chain.at(after + 2)?.hash}`
    h.fail(0, {
      kind: 'changed-calls',
      change: ({ method, params }) =>
        method === 'eth_getLogs' && (params[0] as { blockHash: string }).blockHash === gone
          ? { error: { code: -32602, message: 'invalid blockHash' } }
          : undefined,
    })
    expect(await heightsAfter(h, after)).toEqual([after + 1])
  })
})
