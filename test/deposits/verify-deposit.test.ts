import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockHash, BlockHeight, Log } from '../../src/chain/block.ts'
import type { Candidate } from '../../src/deposits/deposit.ts'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { type Evidence, toDeposit, verifyDeposit } from '../../src/deposits/verify-deposit.ts'
import { anyCurrency, anyRaw } from '../support/arbitraries.ts'
import {
  alice,
  bob,
  fakeContract,
  log,
  otherBytes,
  rawData,
  receipt,
  ref,
  stranger,
  topic,
  transferBytes,
  trc10Bytes,
  trx,
  txid,
  usdt,
  word,
} from './samples.ts'

const native: Candidate = {
  txid: txid(1),
  position: 0,
  block: ref,
  currency: trx,
  from: stranger,
  to: alice.address,
  raw: 1_000_000n,
}
const token: Candidate = { ...native, position: 1, currency: usdt }
const others = log({ to: bob.address })
const honestLogs = [others, log({ position: 1 })]
const forNative = (over: Partial<Evidence> = {}): Evidence => ({
  receipt: receipt(),
  rawData: transferBytes(),
  decimals: null,
  ...over,
})
const forToken = (over: Partial<Evidence> = {}): Evidence => ({
  receipt: receipt(honestLogs),
  rawData: 'silent',
  decimals: 6,
  ...over,
})

describe('a proven candidate', () => {
  it.each([
    ['TRX', native, forNative()],
    ['a token', token, forToken()],
  ])('of %s is a deposit of its amount', (_, candidate, evidence) => {
    const { currency, ...rest } = candidate
    expect(verifyDeposit(candidate, alice.uid, evidence)).toEqual({
      kind: 'deposit',
      deposit: {
        ...rest,
        cuy: currency.cuy,
        native: currency.asset.kind === 'native',
        uid: alice.uid,
        outcome: 'credited',
        amount: 1_000_000n,
      },
    })
  })

  it.each([
    ['below-minimum', { ...usdt, minDeposit: 1_000_001n }],
    ['dust', { ...usdt, decimals: 18 }],
  ])('that is %s is recorded with an amount of 0', (outcome, currency) => {
    const verdict = verifyDeposit({ ...token, currency }, alice.uid, forToken({ decimals: currency.decimals }))
    expect(verdict).toMatchObject({ kind: 'deposit', deposit: { outcome, amount: 0n, raw: 1_000_000n } })
  })

  it('that is more than the ledger holds is recorded with an amount of 0', () => {
    const raw = 2n ** 53n
    const evidence = forNative({ rawData: transferBytes(alice.address, raw) })
    expect(verifyDeposit({ ...native, raw }, alice.uid, evidence)).toMatchObject({
      kind: 'deposit',
      deposit: { outcome: 'too-large', amount: 0n, raw },
    })
  })

  it('moves a balance exactly when it is credited', () => {
    fc.assert(
      fc.property(anyCurrency, anyRaw, (currency, raw) => {
        const { outcome, amount } = toDeposit({ ...token, currency, raw }, alice.uid)
        expect(amount > 0n).toBe(outcome === 'credited')
      }),
    )
  })
})

describe('a candidate that is worth nothing', () => {
  it.each([
    ['1: a TRC-10 transfer', native, forNative({ rawData: trc10Bytes() }), 'this is a TRC-10 token transfer, not TRX'],
    [
      '2: a failed transaction with value',
      native,
      forNative({ receipt: receipt([], { succeeded: false }) }),
      'the transaction failed, so nothing in it was paid',
    ],
    [
      '3: stake 1.0 frozen for us',
      native,
      forNative({ rawData: otherBytes(11) }),
      'this stakes TRX of its sender: the receiver gets resources, not TRX',
    ],
    [
      '3: stake 1.0 unfrozen',
      native,
      forNative({ rawData: otherBytes(12) }),
      'this unstakes TRX, which goes back to its sender, not to the receiver',
    ],
    [
      '8: a log of a failed transaction',
      token,
      forToken({ receipt: receipt(honestLogs, { succeeded: false }) }),
      'the transaction failed, so nothing in it was paid',
    ],
    [
      'bytes that hold no contract',
      native,
      forNative({ rawData: rawData() }),
      "the transaction's bytes are not those of one TRX transfer (no-contract)",
    ],
  ])('is refused: %s', (_, candidate, evidence, why) => {
    expect(verifyDeposit(candidate, alice.uid, evidence)).toEqual({ kind: 'refused', why })
  })
})

describe('a candidate that can not be decided now', () => {
  it.each([
    ['no-api', native, forNative({ rawData: 'no-api' })],
    ['api-silent', native, forNative({ rawData: 'silent' })],
    ['disagreement', native, forNative({ receipt: 'disagreement' })],
    ['disagreement', token, forToken({ receipt: 'disagreement' })],
    ['decimals-unknown', token, forToken({ decimals: null })],
    ['decimals-differ', token, forToken({ decimals: 18 })],
  ])('waits: %s', (reason, candidate, evidence) => {
    const { currency, ...rest } = candidate
    expect(verifyDeposit(candidate, alice.uid, evidence)).toEqual({
      kind: 'pending',
      pending: { ...rest, cuy: currency.cuy, uid: alice.uid, reason },
    })
  })

  it('is refused rather than kept waiting where its transaction failed', () => {
    const failed = receipt([], { succeeded: false })
    expect(verifyDeposit(native, alice.uid, forNative({ receipt: failed, rawData: 'no-api' })).kind).toBe('refused')
  })
})

describe('evidence that does not fit together', () => {
  const elsewhere = { height: ref.height, hash: '71'.repeat(32) as BlockHash }
  const withLog = (over: Parameters<typeof log>[0]) =>
    forToken({ receipt: receipt([others, log({ position: 1, ...over })]) })
  const clean = [transferTopic, topic(stranger), topic(alice.address)]
  it.each<readonly [string, Candidate, Evidence]>([
    ['no receipt', native, forNative({ receipt: null })],
    ['the receipt of another transaction', native, forNative({ receipt: receipt([], { txid: txid(2) }) })],
    ['the same height with another hash', native, forNative({ receipt: receipt([], { block: elsewhere }) })],
    ['another height', native, forNative({ receipt: receipt([], { block: { ...ref, height: 71 as BlockHeight } }) })],
    [
      'a failed receipt of another block',
      native,
      forNative({ receipt: receipt([], { block: elsewhere, succeeded: false }) }),
    ],
    ['bytes that pay another address', native, forNative({ rawData: transferBytes(bob.address) })],
    ['bytes that pay another amount', native, forNative({ rawData: transferBytes(alice.address, 999_999n) })],
    ['bytes of another sender', native, forNative({ rawData: transferBytes(alice.address, 1_000_000n, bob.address) })],
    ['no logs', token, forToken({ receipt: receipt() })],
    ['the log at another position', token, forToken({ receipt: receipt([log(), others]) })],
    ['a log that is numbered otherwise', token, withLog({ position: 2 })],
    ['a log of another transaction', token, withLog({ txid: txid(2) })],
    ['a log of another contract', token, withLog({ contract: fakeContract })],
    ['a log to another address', token, withLog({ to: bob.address })],
    ['a log from another address', token, withLog({ from: bob.address })],
    ['a log of another amount', token, withLog({ raw: 1_000_001n })],
    ['a log of zero', token, withLog({ raw: 0n })],
    ['a log with a fourth topic', token, withLog({ topics: [...clean, word(1n)] })],
    ['a log with longer data', token, withLog({ data: `${word(1_000_000n)}00` })],
  ])('is asked for again, and decides nothing: %s', (_, candidate, evidence) => {
    expect(verifyDeposit(candidate, alice.uid, evidence).kind).toBe('ask-again')
  })
})

describe('any evidence', () => {
  it('credits a token only where the receipt holds exactly its transfer', () => {
    const party = fc.constantFrom(alice.address, bob.address, stranger)
    const anyLogs: fc.Arbitrary<readonly Log[]> = fc
      .array(fc.record({ from: party, to: party, raw: fc.constantFrom(0n, 1n, 1_000_000n) }), { maxLength: 4 })
      .map((all) => all.map((over, position) => log({ ...over, position })))
    fc.assert(
      fc.property(anyLogs, fc.boolean(), fc.nat(3), (logs, succeeded, position) => {
        const verdict = verifyDeposit(
          { ...token, position },
          alice.uid,
          forToken({ receipt: receipt(logs, { succeeded }) }),
        )
        const holds = JSON.stringify(logs[position]) === JSON.stringify(log({ position }))
        expect(verdict.kind === 'deposit').toBe(succeeded && holds)
      }),
    )
  })
})
