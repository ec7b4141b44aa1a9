import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CollectPlan, type CollectStep, parsePlan, parseSignedPlan } from '../../../src/tools/collect/plan.ts'
import { findGasKey } from '../../../src/tools/collect/sign-plan.ts'
import { type CollectChain, keysOf, startCollectChain, unwrap } from './harness.ts'

const otherMnemonic = `${'abandon '.repeat(11)}about`

let chain: CollectChain
let delegating: CollectPlan

beforeAll(async () => {
  chain = await startCollectChain()
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'])
  delegating = unwrap(await chain.plan())
})
afterAll(() => chain.stop())

type Change = (plan: CollectPlan) => void

const stepOf = (plan: CollectPlan, kind: CollectStep['kind']) => plan.steps.find((one) => one.kind === kind) ?? {}

describe('a file', () => {
  it.each([
    ['no JSON', 'plan'],
    ['another object', '{"a":1}'],
    ['another version', '{"format":"tron-wallet-service/collect-plan","version":2}'],
    ['a list', '[]'],
  ])('that is %s is refused in one sentence', (_, text) => {
    for (const parse of [parsePlan, parseSignedPlan]) {
      expect(parse(text)).toMatchObject({
        ok: false,
        error: expect.stringMatching(/^the file is not a (signed )?plan/),
      })
    }
  })

  it.each<[string, Change]>([
    ['characters that move the cursor', (plan) => Object.assign(plan.currencies[1] ?? {}, { symbol: 'U\u001b[1ASDT' })],
    ['a line more in its chain', (plan) => Object.assign(plan, { chainId: '0x1\nDestination' })],
    [
      'a line more in a reason',
      (plan) => plan.leftOut.push({ index: 0, address: plan.to, symbol: 'TRX', units: '0', why: '\n' }),
    ],
    [
      'more sun than a number has digits for',
      (plan) => Object.assign(stepOf(plan, 'delegate'), { sun: '9007199254740993' }),
    ],
    [
      'more units than a word has bits for',
      (plan) => Object.assign(stepOf(plan, 'transfer'), { units: `${2n ** 256n}` }),
    ],
    ['an index that no path has', (plan) => Object.assign(stepOf(plan, 'transfer'), { index: 2 ** 31 })],
    ['a time that no calendar has', (plan) => Object.assign(plan, { expiration: 8.7e15 })],
    ['decimals without an end', (plan) => Object.assign(plan.currencies[1] ?? {}, { decimals: 1e9 })],
    ['an address with one character changed', (plan) => Object.assign(plan, { to: `${plan.to.slice(0, -1)}x` })],
  ])('with %s is no plan', (_, change) => {
    const copy = structuredClone(delegating)
    change(copy)
    expect(parsePlan(JSON.stringify(copy))).toMatchObject({ ok: false, error: expect.stringMatching(/^[\x20-\x7e]+$/) })
  })

  it('of an account that no path has asks for another gas address, without a fault', () => {
    const plan = { ...delegating, account: 0x7fffffff }
    expect(findGasKey(plan, keysOf(otherMnemonic))).toBeNull()
  })

  it('with members that no plan has is refused: they could say something else than what is signed', () => {
    expect(parsePlan(JSON.stringify({ ...delegating, note: 'hello' }))).toMatchObject({ ok: false })
  })
})
