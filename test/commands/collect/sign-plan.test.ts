import { describe, expect, it } from 'vitest'
import { findPlanFault, findSignatureFault } from '../../../src/commands/collect/check-plan.ts'
import { type CollectPlan, type CollectStep, parsePlan, parseSignedPlan } from '../../../src/commands/collect/plan.ts'
import { findGasKey, signPlan } from '../../../src/commands/collect/sign.ts'
import { chargedBytes, encodeStep } from '../../../src/commands/collect/transaction.ts'
import { txidOf } from '../../../src/worker/chain/transaction.ts'
import { samplePlan } from './facts.ts'
import { destination, gasAddress, keysOf, testMnemonic, unwrap } from './harness.ts'

const stranger = 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK'
const keys = keysOf(testMnemonic)
const otherKeys = keysOf(`${'abandon '.repeat(11)}about`)
const delegating = samplePlan('delegate')
const sending = samplePlan('transfer')
const [first, second] = [0, 1].map((index) => delegating.steps.find((one) => one.index === index)?.address ?? '')
const sign = (plan: CollectPlan) => unwrap(signPlan(plan, keys, findGasKey(plan, keys)))

type Change = (plan: CollectPlan) => void

/**
 * A copy of a plan with a change. With `isThorough` each step also gets the txid and the length of
 * its changed transaction, as from a careful forger.
 */
function changed(plan: CollectPlan, change: Change, isThorough: boolean): CollectPlan {
  const copy = structuredClone(plan)
  change(copy)
  for (const step of isThorough ? copy.steps : []) {
    if (step.kind === 'transfer' && !copy.currencies.some(({ symbol }) => symbol === step.symbol)) continue
    const rawData = encodeStep(copy, step)
    Object.assign(step, { txid: txidOf(rawData), bytes: chargedBytes(rawData) })
  }
  return unwrap(parsePlan(JSON.stringify(copy)))
}

const stepOf = <Kind extends CollectStep['kind']>(plan: CollectPlan, kind: Kind) => {
  const step = plan.steps.find((one) => one.kind === kind)
  if (step === undefined) throw new Error(`no ${kind}`)
  return step as CollectStep & { kind: Kind } // safe: found by its kind
}
/** Changes members of the plan's first step of a kind, or of the plan itself. */
const set = (what: CollectStep['kind'] | 'plan', members: object): Change => {
  return (plan) => void Object.assign(what === 'plan' ? plan : stepOf(plan, what), members)
}
/**
 * Appends a copy of the step of this kind in `from`, with changed members. The copy waits for no
 * other step.
 */
const append = (from: CollectPlan, kind: CollectStep['kind'], members: object): Change => {
  return ({ steps }) =>
    steps.push({ ...stepOf(from, kind), ...members, id: steps.length + 1, after: [] } as CollectStep)
}

describe('an unchanged plan', () => {
  it('has no fault, and each of its transactions is signed by its address', () => {
    for (const plan of [delegating, sending]) {
      expect(findPlanFault(plan)).toBeNull()
      const signed = sign(plan)
      expect(findSignatureFault(signed)).toBeNull()
      expect(unwrap(parseSignedPlan(JSON.stringify(signed)))).toEqual(signed)
    }
  })

  it('has no key in it, before and after', () => {
    const text = JSON.stringify(sign(delegating))
    for (const secret of ['junk', 'test test', 'xprv', 'xpub']) expect(text).not.toContain(secret)
  })
})

describe('a changed plan is refused before anything is signed', () => {
  it.each<[string, Change]>([
    ['the destination', set('plan', { to: stranger })],
    ['an amount', set('transfer', { units: '24999999' })],
    ['the stake that is lent', set('delegate', { sun: '9000000' })],
    ['a fee limit', set('transfer', { feeLimit: '15000000000' })],
    ['an address', set('activate', { address: stranger })],
    ['the contract of a token', ({ currencies }) => void Object.assign(currencies[1] ?? {}, { contract: stranger })],
    ['the gas address', ({ gas }) => void Object.assign(gas, { address: stranger })],
    ['the expiry', set('plan', { expiration: delegating.expiration + 1 })],
    ['the time that the person reads', set('plan', { expiresAt: '2026-01-01T00:00:00.000Z' })],
    ['the reference block', ({ reference }) => void Object.assign(reference, { hash: '1'.repeat(64) })],
    ['the bytes of a transaction', set('transfer', { bytes: 1 })],
    ['a transaction more', append(delegating, 'transfer', { address: stranger, index: 5 })],
    ['the kind of a transaction', set('undelegate', { kind: 'delegate' })],
  ])('%s', (_, change) => {
    expect(findPlanFault(changed(delegating, change, false))).toMatch(/^(step \d+: |the plan expires at another time)/)
  })

  const lateExpiration = delegating.timestamp + 86_400_001
  it.each<[string, Change, string]>([
    ['a second transfer', append(delegating, 'transfer', { units: '1' }), 'a second transaction of the same kind'],
    ['TRX for gas', append(sending, 'gas', { sun: '400000000' }), 'TRX for gas in a plan that delegates'],
    ['a stranger', append(delegating, 'delegate', { address: stranger, index: 9 }), 'nothing is collected'],
    ['a delegation that stays', set('undelegate', { sun: '1000000' }), 'is not taken back'],
    [
      'a transfer to an address that is collected',
      set('plan', { to: second }),
      'the destination is one of the addresses',
    ],
    [
      'the gas address as one that is collected',
      append(delegating, 'transfer', { address: gasAddress, index: 9 }),
      'the gas address is one of the addresses',
    ],
    ['a step that waits for a later one', set('transfer', { after: [99] }), 'waits for'],
    [
      'a currency that the plan does not have',
      append(delegating, 'transfer', { address: stranger, index: 6, symbol: 'USDC' }),
      'no currency USDC',
    ],
    [
      'a later expiry than a node takes',
      set('plan', { expiration: lateExpiration, expiresAt: new Date(lateExpiration).toISOString() }),
      'expires more than 24 hours after it was made',
    ],
    [
      'a transfer that does not wait for its energy',
      set('transfer', { after: [] }),
      'does not wait for what comes before',
    ],
    [
      'a currency twice, of which only one is shown',
      ({ currencies }) => currencies.push({ symbol: 'USDT', contract: stranger, decimals: 6 }),
      'a currency twice',
    ],
    [
      'TRX with other decimals, so that sums look smaller',
      ({ currencies }) => void Object.assign(currencies[0] ?? {}, { decimals: 9 }),
      'TRX with other decimals',
    ],
    [
      'a fee limit for TRX',
      ({ steps }) =>
        void Object.assign(steps.find((step) => 'symbol' in step && step.symbol === 'TRX') ?? {}, { feeLimit: '9' }),
      'a fee limit or energy for TRX',
    ],
    ['a transfer of nothing', set('transfer', { units: '0' }), 'moves nothing'],
  ])('even where the txids fit: %s', (_, change, sentence) => {
    expect(findPlanFault(changed(delegating, change, true))).toContain(sentence)
  })

  it('even where the txids fit: gas for an address from which nothing is collected', () => {
    const change = append(sending, 'gas', { address: stranger, index: 9, sun: '400000000' })
    expect(findPlanFault(changed(sending, change, true))).toContain('nothing is collected')
  })

  const ofSecond = (members: object): Change => {
    return ({ steps }) => {
      for (const step of steps) if (step.index === 1) Object.assign(step, members)
    }
  }

  it('an address that is not the mnemonic’s, though all txids fit', () => {
    const plan = changed(delegating, ofSecond({ address: stranger }), true)
    expect(findPlanFault(plan)).toBeNull()
    const error = expect.stringContaining(`${stranger} is not the address of this mnemonic at index 1 of account 0`)
    expect(signPlan(plan, keys, findGasKey(plan, keys))).toMatchObject({ ok: false, error })
  })

  it('another index or account', () => {
    for (const change of [ofSecond({ index: 2 }), set('plan', { account: 3 })]) {
      const plan = changed(delegating, change, true)
      expect(signPlan(plan, keys, findGasKey(delegating, keys))).toMatchObject({ ok: false })
    }
  })
})

describe('a mnemonic', () => {
  it('that is wrong signs nothing', () => {
    expect(findGasKey(delegating, otherKeys)).toBeNull()
    const error = expect.stringContaining('another mnemonic')
    expect(signPlan(delegating, otherKeys, null)).toMatchObject({ ok: false, error })
  })

  it('is not needed twice: the gas address can have one of its own', () => {
    const plan = changed({ ...sending, to: stranger, gas: { ...sending.gas, address: destination } }, () => {}, true)
    expect([findGasKey(plan, keys), findGasKey(plan, otherKeys)?.address]).toEqual([null, expect.any(String)])
    expect(findSignatureFault(unwrap(signPlan(plan, keys, findGasKey(plan, otherKeys))))).toBeNull()
    expect(signPlan(plan, keys, null)).toMatchObject({ ok: false })
  })

  it('of the gas address is not needed where every address pays for itself', () => {
    const steps = sending.steps.filter(({ kind }) => kind === 'transfer')
    expect(signPlan({ ...sending, steps }, keys, null)).toMatchObject({ ok: true })
    expect(signPlan(sending, keys, null)).toMatchObject({ ok: false })
  })

  it('has no gas address of an account that no path has, without a fault', () => {
    expect(findGasKey({ ...delegating, account: 0x7fffffff }, otherKeys)).toBeNull()
  })
})

it('a signed plan whose signatures were exchanged or cut is not sent', () => {
  const signed = sign(delegating)
  const [one = '', two = '', ...rest] = signed.signatures
  expect(findSignatureFault({ ...signed, signatures: [two, one, ...rest] })).toBe('step 1: not signed by its address')
  expect(findSignatureFault({ ...signed, signatures: rest })).toContain('not every transaction')
})

describe('a file', () => {
  it.each([
    ['no JSON', 'plan'],
    ['another object', '{"a":1}'],
    ['another version', '{"format":"tron-wallet-service/collect-plan","version":2}'],
    ['a list', '[]'],
  ])('that is %s is refused in one sentence', (_, text) => {
    const error = expect.stringMatching(/^the file is not a (signed )?plan/)
    for (const parse of [parsePlan, parseSignedPlan]) expect(parse(text)).toMatchObject({ ok: false, error })
  })

  const leftOut = { index: 0, address: first, symbol: 'TRX', units: '0', why: '\n' }
  it.each<[string, Change]>([
    ['that move the cursor', ({ currencies }) => void Object.assign(currencies[1] ?? {}, { symbol: 'U\u001b[1ASDT' })],
    ['of a line more in its chain', set('plan', { chainId: '0x1\nDestination' })],
    ['of a line more in a reason', set('plan', { leftOut: [leftOut] })],
    ['of more sun than a number has digits for', set('delegate', { sun: '9007199254740993' })],
    ['of more units than a word has bits for', set('transfer', { units: `${2n ** 256n}` })],
    ['of an index that no path has', set('transfer', { index: 2 ** 31 })],
    ['of a time that no calendar has', set('plan', { expiration: 8.7e15 })],
    ['of decimals without an end', ({ currencies }) => void Object.assign(currencies[1] ?? {}, { decimals: 1e9 })],
    ['of an address with one character changed', set('plan', { to: `${destination.slice(0, -1)}x` })],
    ['of members that no plan has: they could say something else', set('plan', { note: 'hello' })],
  ])('with characters %s is no plan', (_, change) => {
    const copy = structuredClone(delegating)
    change(copy)
    expect(parsePlan(JSON.stringify(copy))).toMatchObject({ ok: false, error: expect.stringMatching(/^[\x20-\x7e]+$/) })
  })
})
