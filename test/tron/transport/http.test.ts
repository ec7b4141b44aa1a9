import { describe, expect, it } from 'vitest'
import { nativeAsset } from '../../../src/chain/asset.ts'
import { at, createHarness, createProbed, us } from '../harness.ts'

describe('an invocation', () => {
  it('makes no more requests than its limit, and then is out of budget', async () => {
    const h = await createProbed(1)
    const [before = 0] = h.counts()
    const pool = h.pool({ requestsMax: 1 })
    const answer = await h.settle(pool.finalizedBlocks(at(h.chain.firstHeight), at(h.chain.firstHeight)))
    expect(answer).toMatchObject({ ok: false, error: { kind: 'out-of-budget' } })
    expect(h.counts()).toEqual([before + 1])
  })

  it('counts its requests', async () => {
    const h = await createProbed(1)
    const pool = h.pool({ requestsMax: 5 })
    await h.settle(pool.finalizedHead())
    await h.settle(pool.balances([us], nativeAsset))
    expect(pool.requestsLeft()).toBe(3)
  })

  it('makes no request after its deadline', async () => {
    const h = await createProbed(1)
    const before = h.counts()
    const pool = h.pool({ deadlineMs: 5_000 })
    h.advance(5_000)
    expect(await h.settle(pool.finalizedHead())).toEqual({ ok: false, error: { kind: 'out-of-budget' } })
    expect(h.counts()).toEqual(before)
  })

  it('has at most 6 requests at the same time', async () => {
    const h = createHarness({ nodes: 1 })
    const release: (() => void)[] = []
    let running = 0
    let most = 0
    h.node(0).script = () => ({
      kind: 'delayed',
      wait: async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => release.push(resolve))
        running -= 1
      },
    })
    const pool = h.pool()
    const all = Promise.all(Array.from({ length: 20 }, () => pool.balances([us], nativeAsset)))
    let isDone = false
    const done = all.then(() => {
      isDone = true
    })
    while (!isDone) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      release.shift()?.()
    }
    await done
    expect(most).toBe(6)
    expect((await all).every(({ ok }) => ok)).toBe(true)
  })
})
