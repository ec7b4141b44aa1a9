import { afterAll, beforeAll, expect, it } from 'vitest'
import type { UnixMs } from '../../../src/common/time.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { findPlanFault } from '../../../src/tools/collect/check-plan.ts'
import { createPlan } from '../../../src/tools/collect/create-plan.ts'
import { planHoursMax, retryMs } from '../../../src/tools/collect/limits.ts'
import { openNodes } from '../../../src/tools/collect/node-access.ts'
import { readSettings } from '../../../src/tools/collect/settings.ts'
import { result } from '../../devnet/support.ts'
import { testXpub } from '../../support/variables.ts'
import { type CollectChain, destination, listedAt, startCollectChain, unwrap } from './harness.ts'

const hourMs = 3_600_000

let chain: CollectChain

beforeAll(async () => {
  chain = await startCollectChain()
  await chain.deposit([0, '1', 'TRX'])
})
afterAll(() => chain.stop())

/** A plan for the longest time, made on a machine whose clock is wrong by this much. */
async function planWithClock(aheadMs: number) {
  const sleep = (ms: number) => (ms > retryMs ? systemClock.sleep(ms) : Promise.resolve()) // only time-outs are real
  const clock = { ...systemClock, sleep, now: () => (systemClock.now() + aheadMs) as UnixMs } // a time
  const nodes = openNodes(chain.config, { clock, fetch, signal: new AbortController().signal })
  const settings = unwrap(readSettings(chain.config, testXpub, { to: destination }))
  return createPlan(nodes, settings, listedAt(chain.config, 0), planHoursMax, () => {})
}

it('a plan refers to a final block: no fork can remove it', async () => {
  const { reference } = unwrap(await planWithClock(0))
  const block = await result<{ number: string; hash: string }>(chain.devnet, 'eth_getBlockByNumber', 'finalized', false)
  expect(reference).toEqual({ height: Number(block.number), hash: block.hash.slice(2) })
})

it.each([
  ['right', 0],
  ['ten seconds behind', -10_000],
  ['an hour ahead', hourMs],
])('a plan for 24 hours is taken by sign and by a node, where the clock of its machine is %s', async (_, aheadMs) => {
  const plan = unwrap(await planWithClock(aheadMs))
  expect(findPlanFault(plan)).toBeNull()
  const { states } = await chain.send(chain.sign(plan))
  expect(states.get(1)).toMatchObject({ kind: 'mined', info: { isSuccess: true } })
  await chain.deposit([0, '1', 'TRX']) // for the next plan
})

it('a clock that is an hour behind is no clock to plan with', async () => {
  expect(await planWithClock(-hourMs)).toMatchObject({ ok: false, error: expect.stringContaining('from the future') })
})
