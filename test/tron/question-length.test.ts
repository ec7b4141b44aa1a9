import { describe, expect, it } from 'vitest'
import { createChain } from '../support/chain-builder.ts'
import { at, createProbed, type Harness } from './harness.ts'

/**
 * The first node refuses batches, so that the logs of each block are a request of their own, and
 * takes `ms` milliseconds for each request.
 */
async function createBatchless(ms: number, nodes = 1) {
  const chain = createChain()
  chain.addEmpty(100)
  const h = await createProbed({ chain, nodes, quorum: Math.min(nodes, 2) })
  const { respond } = h.node(0)
  h.fail(0, { kind: 'batch-limit', callsMax: 1, code: -32600, status: 405 })
  h.node(0).respond = async (path, init) => {
    await h.sleep(ms)
    return respond(path, init)
  }
  return h
}

/** Reads at most `count` blocks from the first one on, within `seconds` seconds. */
const read = (h: Harness, count: number, seconds: number) => {
  const { firstHeight } = h.chain
  h.node(0).requests.length = 0
  return h.settle(
    h.open({ kind: 'leftover' }, seconds * 1_000).finalBlocks(at(firstHeight), at(firstHeight + count - 1)),
  )
}

/** The number of blocks in each request to the first node's HTTP API. */
const lengthsOf = (h: Harness) =>
  h.node(0).requests.flatMap(({ service, calls: [call] }) => {
    const { startNum, endNum } = (call?.params[0] ?? {}) as { startNum: number; endNum: number }
    return service === 'api' ? [endNum - startNum] : []
  })

describe('a question that is too long for the time of its node', () => {
  it('is asked again at once, shorter', async () => {
    const h = await createBatchless(600)
    const found = await read(h, 60, 30)
    expect(found.ok && found.value.length).toBe(6)
    expect(lengthsOf(h)).toEqual([12, 6])
  })

  it('is no failure of the nodes where no time is left for a shorter one', async () => {
    const h = await createBatchless(1_500)
    expect(await read(h, 60, 9)).toMatchObject({ ok: false, error: { kind: 'out-of-time' } })
  })

  it('stays short after shorter ones: only one of full length shows that more are possible', async () => {
    const h = await createBatchless(600)
    await read(h, 60, 30)
    for (let i = 0; i < 5; i += 1) expect((await read(h, 2, 30)).ok).toBe(true)
    await read(h, 60, 30)
    expect(lengthsOf(h)).toEqual([6])
  })

  it('gets shorter for a node that cannot be used as well, so that its length is not taken for that of one that is needed', async () => {
    const h = await createBatchless(600, 3)
    const off = { kind: 'status', status: 404, body: '{"Error":"this API is unavailable due to config"}' } as const
    h.node(1).script = ({ service }) => (service === 'api' ? off : null)
    await read(h, 60, 30)
    const found = lengthsOf(h).at(-1)
    await read(h, 60, 30)
    expect(lengthsOf(h)).toEqual([found])
  })
})
