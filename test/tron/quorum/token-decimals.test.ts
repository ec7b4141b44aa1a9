import { describe, expect, it } from 'vitest'
import { usdtAddress } from '../../support/transaction-spec.ts'
import { createHarness, type Harness } from '../harness.ts'

/** Reads the decimals, with these values at the nodes. */
async function read(decimals: readonly number[]): Promise<{ h: Harness; answer: unknown }> {
  const h = createHarness({ nodes: decimals.length })
  for (const [i, value] of decimals.entries()) h.node(i).decimals.set(usdtAddress, value)
  return { h, answer: await h.settle(h.pool().decimals(usdtAddress)) }
}

describe('decimals of a token', () => {
  it('are the value that two nodes agree on', async () => {
    expect((await read([6, 6])).answer).toEqual({ ok: true, value: 6 })
  })

  it('are a disagreement where two nodes differ', async () => {
    const { h, answer } = await read([6, 7])
    expect(answer).toMatchObject({ ok: false, error: { kind: 'disagreement' } })
    expect(h.alarms()).toMatchObject([{ name: 'nodes-disagree', fields: { answer: '6', otherAnswer: '7' } }])
  })

  it('are no answer where the value exceeds a uint8', async () => {
    expect((await read([256])).answer).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})
