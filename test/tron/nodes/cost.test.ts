import { describe, expect, it } from 'vitest'
import type { UnixMs } from '../../../src/common/time.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { questionRequestsMax, questionRequestsMin } from '../../../src/tron/limits.ts'
import { createAllowance, createRequestBudget } from '../../../src/tron/transport/http.ts'
import { type Fault, failing } from '../../support/scripted-node.ts'
import { at, busyChain, createProbed, type Harness, them, token } from '../harness.ts'

/** Probed nodes over a chain of so many final blocks. */
async function createLong(nodes: number, blocks = 17): Promise<Harness> {
  const chain = busyChain()
  for (let i = 0; i < blocks; i += 1) chain.add([token(1n, them)])
  const h = await createProbed(nodes, chain)
  for (const node of h.nodes) node.requests.length = 0
  return h
}

/** A budget's parts that no request of these tests uses. */
const idle = { fetch: () => Promise.reject(new Error('unused')), clock: systemClock, deadline: 0 as UnixMs }

/** Reads blocks 17 by 17 within one invocation, until a read fails. Returns how many were read. */
async function readAll(h: Harness, blocks: number, requestsMax: number): Promise<number> {
  const chain = h.pool({ quorum: 2, requestsMax })
  let from = h.chain.firstHeight
  for (const end = from + blocks; from < end; from += 17) {
    const to = Math.min(from + 16, end - 1)
    if (!(await h.settle(chain.finalizedBlocks(at(from), at(to)))).ok) break
  }
  return Math.min(from - h.chain.firstHeight, blocks)
}

const read17 = (h: Harness, requestsMax: number) => readAll(h, 17, requestsMax)
const tooMany = failing('eth_getLogs', -32005, 'query returned more than 10000 results')
const splitForEver: Fault = { kind: 'status', status: 413 }

describe('one node of three that costs too much', () => {
  it.each([0, 1, 2])('does not stop a scan where index %i refuses all logs with -32005', async (bad) => {
    const h = await createLong(3, 204)
    h.fail(bad, tooMany)
    expect(await readAll(h, 204, 45)).toBe(204)
  })

  it.each([0, 1, 2])('does not stop a scan where index %i refuses every size', async (bad) => {
    const h = await createLong(3, 68)
    h.fail(bad, splitForEver)
    expect(await readAll(h, 68, 45)).toBe(68)
  })

  it('leaves a third of the requests to the other nodes', async () => {
    const h = await createLong(3)
    h.fail(0, { kind: 'batch-limit', callsMax: 0, code: -32600 })
    expect(await read17(h, 45)).toBe(17)
    expect(h.counts()[0]).toBe(30)
    expect(h.lines).toContainEqual(expect.objectContaining({ fields: expect.objectContaining({ kind: 'too-costly' }) }))
  })

  it('is used after all others from then on', async () => {
    const h = await createLong(3)
    h.fail(0, { kind: 'batch-limit', callsMax: 0, code: -32600 })
    await read17(h, 45)
    const before = h.counts()[0]
    expect(await read17(h, 45)).toBe(17)
    expect(h.counts()[0]).toBe(before)
  })
})

describe('a question to one node', () => {
  it('takes at most its limit of requests, where no other node needs a share', async () => {
    const h = await createLong(1)
    h.node(0).script = ({ batch, calls }) =>
      batch || calls[0]?.method === 'eth_getLogs' ? { kind: 'status', status: 400 } : null
    const chain = h.pool({ quorum: 1, requestsMax: 1_000 })
    const { firstHeight } = h.chain
    for (let i = 0; i < 2; i += 1) await h.settle(chain.finalizedBlocks(at(firstHeight), at(firstHeight + 16)))
    expect(h.counts()[0]).toBeLessThanOrEqual(2 * questionRequestsMax)
    const exact = createAllowance(createRequestBudget({ ...idle, requestsMax: 1_000 }, true))
    expect(exact.left).toBe(questionRequestsMax)
  })

  it('can use its least number of requests, also near the end of an invocation', async () => {
    const h = await createLong(2)
    expect(await read17(h, questionRequestsMin)).toBe(17)
  })
})
