import { describe, expect, it } from 'vitest'
import type { Chain, NodeSendings, SendingReply } from '../../src/worker/chain/chain.ts'
import type { Result } from '../../src/worker/common/result.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { broadcastMs } from '../../src/worker/tron/limits.ts'
import { changing } from '../support/scripted-node.ts'
import { createHarness, type Harness, troublesOf } from './harness.ts'

const sending = (h: Harness) => h.open({ kind: 'sending' }, 10_000)
/** How many broadcasts each node has received. */
const received = ({ nodes }: Harness) => nodes.map(({ broadcasts }) => broadcasts.length)
/** A node that has answered a transaction before. */
// safe: only compared
const answered = (node: number, times: number, at: number): NodeSendings => ({ node, times, at: at as UnixMs })

/** Broadcasts a transaction; returns the number of the node that has answered. */
async function broadcast(h: Harness, before: readonly NodeSendings[] = []): Promise<number> {
  const answer = await h.settle(sending(h).broadcast('ab', before))
  if (!answer.ok) throw new Error(JSON.stringify(answer.error))
  return answer.value.node
}

/**
 * Broadcasts `count` transactions at once; returns when each was answered, in milliseconds from
 * now.
 */
async function burst(h: Harness, count: number): Promise<readonly number[]> {
  const start = h.now()
  const waiting = Array.from({ length: count }, async () => {
    const answer = await sending(h).broadcast('ab', [])
    expect(answer.ok).toBe(true)
    return h.now() - start
  })
  return h.settle(Promise.all(waiting))
}

/** Every answer of these nodes takes `ms`. */
function slow(h: Harness, ms: number, ...numbers: readonly number[]): void {
  for (const i of numbers) h.node(i).script = () => ({ kind: 'delayed', wait: () => h.sleep(ms) })
}

describe('the node that gets a transaction next', () => {
  it.each<[string, readonly NodeSendings[], number]>([
    ['has not answered it yet', [answered(1, 1, 10), answered(3, 1, 20)], 2],
    ['has answered it least often', [answered(1, 2, 10), answered(2, 1, 40), answered(3, 2, 20)], 2],
    ['has answered it longest ago', [answered(1, 1, 30), answered(2, 1, 20), answered(3, 1, 10)], 3],
  ])('%s', async (_, before, node) => {
    const h = createHarness({ nodes: 3 })
    expect(await broadcast(h, before)).toBe(node)
  })

  it('is another one for each first sending, so that no node gets more than its part', async () => {
    const h = createHarness({ nodes: 3 })
    for (let i = 0; i < 9; i += 1) {
      await broadcast(h)
      h.advance(1_000)
    }
    expect(received(h)).toEqual([3, 3, 3])
  })

  it('is a healthy one before one that is slow, and the slow one before any is asked for the third time', async () => {
    const h = createHarness({ nodes: 3 })
    slow(h, broadcastMs + 500, 0)
    await burst(h, 3) // the slow node has not answered in time, so another one was asked
    h.node(0).script = () => null
    h.advance(60_000)
    const nodes: number[] = []
    let before: readonly NodeSendings[] = []
    for (let i = 0; i < 4; i += 1) {
      const node = await broadcast(h, before)
      const times = (before.find((one) => one.node === node)?.times ?? 0) + 1
      before = [...before.filter((one) => one.node !== node), answered(node, times, h.now())]
      nodes.push(node)
      h.advance(5_000)
    }
    expect(new Set(nodes.slice(0, 2))).toEqual(new Set([2, 3]))
    expect(nodes[2]).toBe(1)
  })

  it('is the next one if a node fails, within the same sending', async () => {
    const h = createHarness({ nodes: 3 })
    h.node(0).script = () => ({ kind: 'status', status: 500 })
    expect(await broadcast(h)).not.toBe(1)
    expect(received(h)).toEqual([0, 1, 0])
  })

  it('may be one that rests if all others have failed', async () => {
    const h = createHarness({ nodes: 2 })
    h.node(0).script = () => ({ kind: 'status', status: 500 })
    await broadcast(h)
    h.node(0).script = () => null
    h.node(1).script = () => ({ kind: 'status', status: 500 })
    expect(await broadcast(h)).toBe(1)
  })
})

it.each([
  ['has no peers', 'NO_CONNECTION'],
  ['has no peers', 'NOT_ENOUGH_EFFECTIVE_CONNECTION'],
  ['limited', 'SERVER_BUSY'],
])(
  'a node that passes nothing on has an alarm that says that it %s (%s), which ends with its recovery',
  async (state, code) => {
    const h = createHarness({ nodes: 3 })
    h.fail(
      0,
      changing('/wallet/broadcasthex', () => ({ code, message: '' })),
    )
    const minutes = async (count: number) => {
      for (let i = 0; i < 3 * count; i += 1) {
        for (let node = 0; node < 3; node += 1) await broadcast(h)
        h.advance(20_000)
        h.chain.addEmpty(7)
        await h.settle(h.open().finalizedHead(null))
      }
    }
    await minutes(5)
    expect(await troublesOf(h, 'node-failing')).toMatchObject([{ node: 1, question: 'broadcasting', state }])
    expect((await h.tron.nodeStatuses())[0]?.state).toBe('answers') // deposits do not depend on it
    h.fail(0, null)
    await minutes(2)
    expect(await troublesOf(h, 'node-failing')).toEqual([])
  },
)

describe('many transactions at once', () => {
  it('reach nodes at least 2.5 times as fast with three nodes as with one', async () => {
    const times: number[] = []
    for (const nodes of [1, 3]) {
      const h = createHarness({ nodes, perSecond: 15 })
      slow(h, 150, ...Array.from({ length: nodes }, (_, i) => i))
      const ends: number[] = []
      while (ends.length < 80) ends.push(...(await burst(h, 20)))
      times.push(h.now())
    }
    const [one = 0, three = 0] = times.map((time) => time - createHarness().now())
    expect(one / three).toBeGreaterThanOrEqual(2.5)
  })

  it('do not wait for a node that hangs: a few are late by the time that it gets, and all others are in time', async () => {
    const h = createHarness({ nodes: 3, perSecond: 100 })
    slow(h, 150, 1, 2)
    h.node(0).script = () => ({ kind: 'hang' })
    const times = await burst(h, 20)
    const late = times.filter((ms) => ms >= broadcastMs)
    expect(late.length).toBeLessThanOrEqual(2)
    expect(Math.max(...times)).toBeLessThan(broadcastMs + 500)
    expect(received(h)[0]).toBe(0)
  })

  it('leave a tick its connections and its seconds', async () => {
    const h = createHarness({ nodes: 3, perSecond: 4, quorum: 2 })
    slow(h, 150, 0, 1, 2)
    const sent: Promise<Result<SendingReply, unknown>>[] = []
    const chain: Chain = sending(h)
    for (let i = 0; i < 40; i += 1) sent.push(chain.broadcast('ab', []))
    const start = h.now()
    const head = await h.settle(h.open().finalizedHead(null))
    expect(head.ok).toBe(true)
    expect(h.now() - start).toBeLessThan(2_500)
    await h.settle(Promise.all(sent))
  })

  it('is answered with what a node says, which is kept as it is', async () => {
    const h = createHarness({ nodes: 1 })
    h.node(0).script = () => changing('/wallet/broadcasthex', () => ({ code: 'SIGERROR', message: '' }))
    expect(await h.settle(sending(h).broadcast('ab', []))).toMatchObject({
      ok: true,
      value: { node: 1, code: 'SIGERROR' },
    })
  })
})
