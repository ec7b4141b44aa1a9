import { describe, expect, it } from 'vitest'
import type { Fault } from '../../support/scripted-node.ts'
import { at, createHarness, createProbed, type Harness, them, token } from '../harness.ts'

const batchLimit = (callsMax: number, code = -32005): Fault => ({ kind: 'batch-limit', callsMax, code })

/** One probed node over a chain of more than 17 final blocks. */
async function createLong(): Promise<Harness> {
  const h = await createProbed(1)
  for (let i = 0; i < 20; i += 1) h.chain.add([token(1n, them)])
  h.node(0).requests.length = 0
  return h
}

const read17 = (h: Harness) => {
  const { firstHeight } = h.chain
  return h.settle(h.pool().finalizedBlocks(at(firstHeight), at(firstHeight + 16)))
}
/** The calls of each request; 0 for a call that was sent alone. */
const sizes = (h: Harness) => h.node(0).requests.map(({ calls, batch }) => (batch ? calls.length : 0))

describe('a query of 17 blocks', () => {
  it('takes two requests without limits', async () => {
    const h = await createLong()
    expect((await read17(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 19])
  })

  it.each<[string, Fault]>([
    ['-32005', batchLimit(10)],
    ['-32600', batchLimit(10, -32600)],
    ['HTTP 400', { kind: 'batch-limit', callsMax: 10, code: -32600, status: 400 }],
    ['HTTP 413', { kind: 'batch-limit', callsMax: 10, code: -32600, status: 413 }],
  ])('is split where the batch is refused with %s', async (_, fault) => {
    const h = await createLong()
    h.fail(0, fault)
    const answer = await read17(h)
    expect(answer.ok && answer.value.length).toBe(17)
    expect(sizes(h).every((size) => size <= 19)).toBe(true)
  })

  it('begins with the learned limit for ten minutes', async () => {
    const h = await createLong()
    h.fail(0, batchLimit(11))
    expect((await read17(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 11, 10, 11, 10])
    h.fail(0, null)
    h.advance(600_001)
    expect((await read17(h)).ok).toBe(true)
    expect(sizes(h).slice(5)).toEqual([19, 19])
  })

  it('becomes single calls where a node takes no batches', async () => {
    const h = await createLong()
    h.fail(0, batchLimit(0, -32600))
    const answer = await read17(h)
    expect(answer.ok && answer.value.length).toBe(17)
    h.node(0).requests.length = 0
    expect((await read17(h)).ok).toBe(true)
    expect(sizes(h)).toEqual(Array(38).fill(0))
  })

  it.each([-32003, -32005])('is split where single replies are too large (%i)', async (code) => {
    const h = await createLong()
    h.node(0).script = ({ calls }) => ({
      kind: 'changed-calls',
      change: (call) =>
        calls.length > 8 && call.method === 'eth_getBlockByNumber' && call.params[1] === true
          ? { error: { code, message: '' } }
          : undefined,
    })
    expect((await read17(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 11, 7, 6, 10, 6, 6, 19])
  })

  it('is split where the reply exceeds the limit of bytes', async () => {
    const h = await createLong()
    h.node(0).script = ({ calls }) => (calls.length > 12 ? { kind: 'oversize' } : null)
    expect((await read17(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 11, 10, 19, 11, 10])
  })
})

it('a node that takes no batches can be probed', async () => {
  const h = createHarness({ nodes: 1 })
  h.fail(0, batchLimit(0, -32700))
  expect((await h.settle(h.pool().finalizedHead())).ok).toBe(true)
})

it('replies in another order are those of their calls', async () => {
  const h = await createLong()
  h.fail(0, { kind: 'changed-responses', change: (list) => list.toReversed() })
  const answer = await read17(h)
  const hashes = Array.from({ length: 17 }, (_, i) => h.chain.at(h.chain.firstHeight + i)?.hash)
  expect(answer.ok && answer.value.map(({ hash }) => hash)).toEqual(hashes)
})
