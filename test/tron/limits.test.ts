import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../src/ledger/asset.ts'
import { addressOf } from '../support/chain-builder.ts'
import type { Fault, Incoming } from '../support/scripted-node.ts'
import { at, createHarness, type Harness, them, token } from './harness.ts'

const batchLimit = (callsMax: number, code = -32005, status?: number): Fault => {
  return status === undefined
    ? { kind: 'batch-limit', callsMax, code }
    : { kind: 'batch-limit', callsMax, code, status }
}

/** One node that is probed already, over a chain of more than 17 final blocks. */
async function probed(): Promise<Harness> {
  const h = createHarness({ nodes: 1 })
  for (let i = 0; i < 20; i += 1) h.chain.add([token(1n, them)])
  await h.settle(h.pool().finalizedHead())
  for (const node of h.nodes) node.requests.length = 0
  return h
}
const read = (h: Harness, requestsMax = 100) => {
  const { firstHeight } = h.chain
  return h.settle(h.pool({ requestsMax }).finalizedBlocks(at(firstHeight), at(firstHeight + 16)))
}
const sizes = (h: Harness) => h.nodes[0]?.requests.map(({ calls, batch }) => (batch ? calls.length : 0)) ?? []
const script = (h: Harness, fault: (incoming: Incoming) => Fault | null) => {
  for (const node of h.nodes) node.script = fault
}

describe('a question that is too large', () => {
  it('needs two requests where nothing limits it', async () => {
    const h = await probed()
    expect((await read(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 19])
  })

  it.each([
    ['-32005', batchLimit(10)],
    ['-32600', batchLimit(10, -32600)],
    ['HTTP 400', batchLimit(10, -32600, 400)],
    ['HTTP 413', batchLimit(10, -32600, 413)],
  ])('is halved where the batch is refused with %s', async (_, fault) => {
    const h = await probed()
    script(h, () => fault)
    const answer = await read(h)
    expect(answer.ok && answer.value.length).toBe(17)
    expect(sizes(h).every((size) => size <= 19)).toBe(true)
  })

  it('does not begin again with what was refused, until ten minutes later', async () => {
    const h = await probed()
    script(h, () => batchLimit(11))
    expect((await read(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 11, 10, 11, 10])
    script(h, () => null)
    h.advance(600_001)
    expect((await read(h)).ok).toBe(true)
    expect(sizes(h).slice(5)).toEqual([19, 19])
  })

  it('goes down to single calls where a node takes no batches at all', async () => {
    const h = await probed()
    script(h, () => batchLimit(0, -32600))
    const answer = await read(h)
    expect(answer.ok && answer.value.length).toBe(17)
    for (const node of h.nodes) node.requests.length = 0
    expect((await read(h)).ok).toBe(true)
    expect(sizes(h)).toEqual(Array(38).fill(0))
  })

  it('is probed without batches as well', async () => {
    const h = createHarness({ nodes: 1 })
    script(h, () => batchLimit(0, -32700))
    expect((await h.settle(h.pool().finalizedHead())).ok).toBe(true)
  })

  it.each([-32003, -32005])('is halved where single answers are too large (%i)', async (code) => {
    const h = await probed()
    script(h, ({ calls }) => ({
      kind: 'answers',
      change: (call) =>
        calls.length > 8 && call.method === 'eth_getBlockByNumber' && call.params[1] === true
          ? { error: { code, message: '' } }
          : undefined,
    }))
    expect((await read(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 11, 7, 6, 10, 6, 6, 19])
  })

  it('is halved where the reply is longer than is read', async () => {
    const h = await probed()
    script(h, ({ calls }) => (calls.length > 12 ? { kind: 'oversize' } : null))
    expect((await read(h)).ok).toBe(true)
    expect(sizes(h)).toEqual([19, 11, 10, 19, 11, 10])
  })
})

describe('an invocation', () => {
  it('makes no more requests than it may, and says that this was why', async () => {
    const h = await probed()
    expect(await read(h, 1)).toMatchObject({ ok: false, error: { kind: 'out-of-budget' } })
    expect(sizes(h)).toEqual([19])
  })

  it('counts its requests', async () => {
    const h = await probed()
    const pool = h.pool({ requestsMax: 5 })
    await h.settle(pool.finalizedHead())
    await h.settle(pool.balances([addressOf(1)], nativeAsset))
    expect(pool.requestsLeft()).toBe(3)
  })

  it('makes none after its deadline', async () => {
    const h = await probed()
    const pool = h.pool({ deadlineMs: 5_000 })
    h.advance(5_000)
    expect(await h.settle(pool.finalizedHead())).toEqual({ ok: false, error: { kind: 'out-of-budget' } })
    expect(sizes(h)).toEqual([])
  })

  it('has at most 6 requests under way at a time', async () => {
    const h = createHarness({ nodes: 1 })
    let open = 0
    let most = 0
    const gates: (() => void)[] = []
    script(h, () => ({
      kind: 'late',
      wait: async () => {
        open += 1
        most = Math.max(most, open)
        await new Promise<void>((resolve) => gates.push(resolve))
        open -= 1
      },
    }))
    const pool = h.pool()
    const all = Promise.all(Array.from({ length: 20 }, () => pool.balances([addressOf(1)], nativeAsset)))
    let isDone = false
    const done = all.then(() => {
      isDone = true
    })
    while (!isDone) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      gates.shift()?.()
    }
    await done
    expect(most).toBe(6)
    expect((await all).every(({ ok }) => ok)).toBe(true)
  })
})
