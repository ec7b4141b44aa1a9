import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPlanFault } from '../../../src/tools/collect/check-plan.ts'
import { type CollectPlan, type CollectStep, parsePlan, parseSignedPlan } from '../../../src/tools/collect/plan.ts'
import { findGasKey, findSignatureFault, needsGasKey, signPlan } from '../../../src/tools/collect/sign-plan.ts'
import { chargedBytes, encodeStep, txidOf } from '../../../src/tools/collect/transaction.ts'
import {
  type CollectChain,
  destination,
  gasAddress,
  keysOf,
  startCollectChain,
  testMnemonic,
  unwrap,
} from './harness.ts'

const stranger = 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK'
const otherMnemonic = `${'abandon '.repeat(11)}about`

let chain: CollectChain
let delegating: CollectPlan
let sending: CollectPlan

beforeAll(async () => {
  chain = await startCollectChain()
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'], [1, '10', 'USDT'])
  delegating = unwrap(await chain.plan())
  sending = unwrap(await chain.plan({ gas: 'transfer' }))
})
afterAll(() => chain.stop())

type Change = (plan: CollectPlan) => void

/** A copy of a plan with a change. With `isThorough` txids and bytes are made to match it, as whoever changes it could do. */
function changed(plan: CollectPlan, change: Change, isThorough: boolean): CollectPlan {
  const copy = structuredClone(plan)
  change(copy)
  if (isThorough) makeFit(copy)
  return unwrap(parsePlan(JSON.stringify(copy)))
}

function makeFit(plan: CollectPlan): void {
  for (const step of plan.steps) {
    if (step.kind === 'transfer' && !plan.currencies.some(({ symbol }) => symbol === step.symbol)) continue
    const rawData = encodeStep(plan, step)
    Object.assign(step, { txid: txidOf(rawData), bytes: chargedBytes(rawData) })
  }
}

const stepOf = <Kind extends CollectStep['kind']>(plan: CollectPlan, kind: Kind) => {
  const step = plan.steps.find((one) => one.kind === kind)
  if (step === undefined) throw new Error(`no ${kind}`)
  return step as CollectStep & { kind: Kind } // found by its kind
}
const append = (plan: CollectPlan, step: CollectStep, changes: object) =>
  plan.steps.push({ ...step, ...changes, id: plan.steps.length + 1, after: [] } as CollectStep)

describe('an unchanged plan', () => {
  it('has no fault, and each of its transactions is signed by its address', () => {
    for (const plan of [delegating, sending]) {
      expect(findPlanFault(plan)).toBeNull()
      const signed = chain.sign(plan)
      expect(findSignatureFault(signed)).toBeNull()
      expect(unwrap(parseSignedPlan(JSON.stringify(signed)))).toEqual(signed)
    }
  })

  it('has no key in it, before and after', () => {
    const text = JSON.stringify(chain.sign(delegating))
    for (const secret of ['junk', 'test test', 'xprv', 'xpub']) expect(text).not.toContain(secret)
  })
})

describe('a changed plan is refused before anything is signed', () => {
  it.each<[string, Change]>([
    ['the destination', (plan) => Object.assign(plan, { to: stranger })],
    ['an amount', (plan) => Object.assign(stepOf(plan, 'transfer'), { units: '24999999' })],
    ['the stake that is lent', (plan) => Object.assign(stepOf(plan, 'delegate'), { sun: '9000000' })],
    ['a fee limit', (plan) => Object.assign(stepOf(plan, 'transfer'), { feeLimit: '15000000000' })],
    ['an address', (plan) => Object.assign(stepOf(plan, 'activate'), { address: stranger })],
    ['the contract of a token', (plan) => Object.assign(plan.currencies[1] ?? {}, { contract: stranger })],
    ['the gas address', (plan) => Object.assign(plan.gas, { address: stranger })],
    ['the expiry', (plan) => Object.assign(plan, { expiration: plan.expiration + 1 })],
    ['the time that the person reads', (plan) => Object.assign(plan, { expiresAt: '2026-01-01T00:00:00.000Z' })],
    ['the reference block', (plan) => Object.assign(plan.reference, { hash: '0'.repeat(64) })],
    ['the bytes of a transaction', (plan) => Object.assign(stepOf(plan, 'transfer'), { bytes: 1 })],
    ['a transaction more', (plan) => append(plan, stepOf(plan, 'transfer'), { address: chain.depositAt(5), index: 5 })],
    ['the kind of a transaction', (plan) => Object.assign(stepOf(plan, 'undelegate'), { kind: 'delegate' })],
  ])('%s', (_, change) => {
    expect(findPlanFault(changed(delegating, change, false))).toMatch(/^(step \d+: |the plan expires at another time)/)
  })

  it.each<[string, () => CollectPlan, Change, string]>([
    [
      'a second transfer of the same money',
      () => delegating,
      (plan) => append(plan, stepOf(plan, 'transfer'), { units: '1' }),
      'a second transaction of the same kind',
    ],
    [
      'gas for an address from which nothing is collected',
      () => sending,
      (plan) => append(plan, stepOf(plan, 'gas'), { address: stranger, index: 9, sun: '400000000' }),
      'nothing is collected',
    ],
    [
      'TRX for gas in a plan that delegates',
      () => delegating,
      (plan) => append(plan, stepOf(sending, 'gas'), { sun: '400000000' }),
      'TRX for gas in a plan that delegates',
    ],
    [
      'a delegation to a stranger',
      () => delegating,
      (plan) => append(plan, stepOf(plan, 'delegate'), { address: stranger, index: 9 }),
      'nothing is collected',
    ],
    [
      'a delegation that stays',
      () => delegating,
      (plan) => Object.assign(stepOf(plan, 'undelegate'), { sun: '1000000' }),
      'is not taken back',
    ],
    [
      'a transfer to an address that is collected',
      () => delegating,
      (plan) => Object.assign(plan, { to: chain.depositAt(1) }),
      'the destination is one of the addresses',
    ],
    [
      'the gas address as one that is collected',
      () => delegating,
      (plan) => append(plan, stepOf(plan, 'transfer'), { address: gasAddress, index: 9 }),
      'the gas address is one of the addresses',
    ],
    [
      'a step that waits for a later one',
      () => delegating,
      (plan) => stepOf(plan, 'transfer').after.push(99),
      'waits for',
    ],
    [
      'a currency that the plan does not have',
      () => delegating,
      (plan) => {
        append(plan, stepOf(plan, 'transfer'), { address: chain.depositAt(6), index: 6, symbol: 'USDC' })
        plan.currencies.push({ symbol: 'USDC', contract: stranger, decimals: 6 })
        plan.currencies.pop()
      },
      'no currency USDC',
    ],
    [
      'a later expiry than a node takes',
      () => delegating,
      (plan) => {
        plan.expiration = plan.timestamp + 86_400_001
        plan.expiresAt = new Date(plan.expiration).toISOString()
      },
      'expires more than 24 hours after it was made',
    ],
    [
      'a transfer that does not wait for its energy',
      () => delegating,
      (plan) => Object.assign(stepOf(plan, 'transfer'), { after: [] }),
      'does not wait for what comes before it',
    ],
    [
      'a currency twice, of which only one is shown',
      () => delegating,
      (plan) => plan.currencies.push({ symbol: 'USDT', contract: stranger, decimals: 6 }),
      'a currency twice',
    ],
    [
      'TRX with other decimals, so that sums look smaller',
      () => delegating,
      (plan) => Object.assign(plan.currencies[0] ?? {}, { decimals: 9 }),
      'TRX with other decimals',
    ],
    [
      'a fee limit for TRX',
      () => delegating,
      (plan) =>
        Object.assign(plan.steps.find((step) => 'symbol' in step && step.symbol === 'TRX') ?? {}, { feeLimit: '9' }),
      'a fee limit or energy for TRX',
    ],
    [
      'a transfer of nothing',
      () => delegating,
      (plan) => Object.assign(stepOf(plan, 'transfer'), { units: '0' }),
      'moves nothing',
    ],
  ])('even where the txids fit: %s', (_, plan, change, sentence) => {
    const copy = structuredClone(plan())
    change(copy)
    makeFit(copy)
    expect(findPlanFault(unwrap(parsePlan(JSON.stringify(copy))))).toContain(sentence)
  })

  it('an address that is not the mnemonic’s, though all txids fit', () => {
    const plan = changed(
      delegating,
      (one) => {
        for (const step of one.steps) if (step.index === 1) step.address = stranger
      },
      true,
    )
    expect(findPlanFault(plan)).toBeNull()
    const keys = keysOf(testMnemonic)
    expect(signPlan(plan, keys, findGasKey(plan, keys))).toMatchObject({
      ok: false,
      error: expect.stringContaining(`${stranger} is not the address of this mnemonic at index 1 of account 0`),
    })
  })

  it('another index or account', () => {
    const keys = keysOf(testMnemonic)
    const atIndex = changed(
      delegating,
      (plan) => {
        for (const step of plan.steps) if (step.index === 1) step.index = 2
      },
      true,
    )
    const ofAccount = changed(delegating, (plan) => Object.assign(plan, { account: 3 }), true)
    for (const plan of [atIndex, ofAccount]) {
      expect(signPlan(plan, keys, findGasKey(delegating, keys))).toMatchObject({ ok: false })
    }
  })
})

describe('a wrong mnemonic', () => {
  it('signs nothing', () => {
    const keys = keysOf(otherMnemonic)
    expect(findGasKey(delegating, keys)).toBeNull()
    expect(signPlan(delegating, keys, null)).toMatchObject({
      ok: false,
      error: expect.stringContaining('another mnemonic'),
    })
  })

  it('is not needed twice: the gas address can have one of its own', () => {
    const plan = changed(sending, ({ gas }) => Object.assign(gas, { address: destination }), true)
    const own = { ...plan, to: stranger }
    makeFit(own)
    const [keys, others] = [keysOf(testMnemonic), keysOf(otherMnemonic)]
    expect([findGasKey(own, keys), findGasKey(own, others)?.address]).toEqual([null, expect.any(String)])
    expect(findSignatureFault(unwrap(signPlan(own, keys, findGasKey(own, others))))).toBeNull()
    expect(signPlan(own, keys, null)).toMatchObject({ ok: false })
  })

  it('of the gas address is not asked for where every address pays for itself', async () => {
    expect(needsGasKey(sending)).toBe(true)
    expect(needsGasKey({ ...sending, steps: sending.steps.filter(({ kind }) => kind === 'transfer') })).toBe(false)
  })
})

describe('a signed plan', () => {
  it('whose signatures were exchanged or cut is not sent', () => {
    const signed = chain.sign(delegating)
    const [first = '', second = '', ...rest] = signed.signatures
    const exchanged = { ...signed, signatures: [second, first, ...rest] }
    expect(findSignatureFault(exchanged)).toBe('step 1: not signed by its address')
    expect(findSignatureFault({ ...signed, signatures: rest })).toContain('not every transaction')
  })
})
