import { describe, expect, it } from 'vitest'
import { at, createProbed, type Harness } from '../harness.ts'

const read = (h: Harness, quorum: number) => {
  const { firstHeight } = h.chain
  return h.settle(h.pool({ quorum }).finalizedBlocks(at(firstHeight), at(firstHeight + 4)))
}

describe('the replies that confirm blocks', () => {
  it('are requested while the first node still answers', async () => {
    const h = await createProbed(2)
    let answer: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => {
      answer = resolve
    })
    h.fail(0, { kind: 'delayed', wait: () => isAsked })
    h.node(1).script = () => {
      answer()
      return null
    }
    expect(await read(h, 2)).toMatchObject({ ok: true })
    expect(h.lines).toEqual([])
  })

  it('are requested once from each node of the quorum, and from no other one', async () => {
    const h = await createProbed(4)
    for (const node of h.nodes) node.requests.length = 0
    expect(await read(h, 3)).toMatchObject({ ok: true })
    expect(h.counts()).toEqual([2, 1, 1, 0])
  })

  it('come from another node where the early one has failed', async () => {
    const h = await createProbed(3)
    for (const node of h.nodes) node.requests.length = 0
    h.fail(1, { kind: 'status', status: 429 })
    expect(await read(h, 2)).toMatchObject({ ok: true })
    expect(h.counts()).toEqual([2, 1, 1])
  })

  it('are not used for the blocks of another node than the one that they were requested for', async () => {
    const h = await createProbed(3)
    for (const node of h.nodes) node.requests.length = 0
    h.fail(0, { kind: 'status', status: 429 })
    expect(await read(h, 2)).toMatchObject({ ok: true })
    // The second node has confirmed nothing: the blocks are its own.
    expect(h.counts()).toEqual([1, 3, 1])
  })

  it('are not requested from a node that rests, is not probed, or is used after the others', async () => {
    for (const change of ['rests', 'unprobed', 'demoted'] as const) {
      const h = await createProbed(2)
      const health = [...h.health.nodes.values()][1]
      if (health === undefined) throw new Error('there are two nodes')
      if (change === 'rests') health.rpc.restUntil = h.now() + 1_000
      if (change === 'unprobed') health.facts = null
      if (change === 'demoted') health.rpc.demotedUntil = h.now() + 1_000
      h.fail(0, { kind: 'hang' })
      h.node(1).requests.length = 0
      await read(h, 2)
      const calls = h.node(1).requests.flatMap((request) => request.calls)
      expect(
        calls.filter(({ method, params }) => method === 'eth_getLogs' && 'fromBlock' in Object(params[0])),
        change,
      ).toEqual([])
    }
  })
})
