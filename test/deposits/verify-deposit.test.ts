import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockHash, BlockHeight, Log } from '../../src/chain/block.ts'
import { explainContractType } from '../../src/deposits/contract-types.ts'
import type { Candidate } from '../../src/deposits/deposit.ts'
import { transferTopic } from '../../src/deposits/trc20.ts'
import {
  type Evidence,
  explainRefusal,
  failedTransaction,
  toDeposit,
  toPending,
  verifyDeposit,
} from '../../src/deposits/verify-deposit.ts'
import { anyCurrency, anyRaw } from '../support/arbitraries.ts'
import { usdt } from '../support/currencies.ts'
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
  toAlice,
  topic,
  transferBytes,
  trc10Bytes,
  trxCandidate,
  txid,
  usdtCandidate,
  word,
} from './samples.ts'

const otherLog = log({ to: bob.address })
const logs = [otherLog, log({ position: 1 })]
const forTrx = (over: Partial<Evidence> = {}): Evidence => ({
  receipt: receipt(),
  bytes: transferBytes(),
  decimals: null,
  ...over,
})
const forUsdt = (over: Partial<Evidence> = {}): Evidence => ({
  receipt: receipt(logs),
  bytes: 'unavailable',
  decimals: 6,
  ...over,
})
const failed = (of: readonly Log[] = []) => receipt(of, { succeeded: false })

describe('a proven candidate', () => {
  it.each([
    ['TRX', trxCandidate, forTrx()],
    ['a token', usdtCandidate, forUsdt()],
  ])('of %s is a deposit of its amount', (_, candidate, evidence) => {
    const { currency, ...rest } = candidate
    expect(verifyDeposit(toAlice(candidate), evidence)).toEqual({
      kind: 'proven',
      deposits: [
        {
          ...rest,
          cuy: currency.cuy,
          native: currency.asset.kind === 'native',
          uid: alice.uid,
          outcome: 'credited',
          amount: 1_000_000n,
        },
      ],
    })
  })

  it.each([
    ['below-minimum', { ...usdt, minDeposit: 1_000_001n }],
    ['dust', { ...usdt, decimals: 18 }],
  ])('that is %s is a deposit with an amount of 0', (outcome, currency) => {
    const verdict = verifyDeposit(toAlice({ ...usdtCandidate, currency }), forUsdt({ decimals: currency.decimals }))
    expect(verdict).toMatchObject({ kind: 'proven', deposits: [{ outcome, amount: 0n, raw: 1_000_000n }] })
  })

  it('that is more than one ledger amount is a deposit with an amount of 0', () => {
    const raw = 2n ** 53n
    const evidence = forTrx({ bytes: transferBytes(alice.address, raw) })
    expect(verifyDeposit(toAlice({ ...trxCandidate, raw }), evidence)).toMatchObject({
      kind: 'proven',
      deposits: [{ outcome: 'too-large', amount: 0n, raw }],
    })
  })

  it('has an amount above 0 exactly where it is credited', () => {
    fc.assert(
      fc.property(anyCurrency, anyRaw, (currency, raw) => {
        const { outcome, amount } = toDeposit({ ...usdtCandidate, currency, raw }, alice.uid)
        expect(amount > 0n).toBe(outcome === 'credited')
      }),
    )
  })
})

// PROTOCOL.md, Look-alike transfers: those that only the receipt or the bytes of the transaction show.
describe('a candidate that is worth nothing', () => {
  const type = (number: number) => ({ kind: 'other-contract', type: number }) as const
  it.each([
    ['a TRC-10 transfer', trxCandidate, forTrx({ bytes: trc10Bytes() }), type(2)],
    ['a failed transaction with TRX', trxCandidate, forTrx({ receipt: failed() }), { kind: 'failed' }],
    ['a stake for the address', trxCandidate, forTrx({ bytes: otherBytes(11) }), type(11)],
    ['the end of a stake', trxCandidate, forTrx({ bytes: otherBytes(12) }), type(12)],
    ['a log of a failed transaction', usdtCandidate, forUsdt({ receipt: failed(logs) }), { kind: 'failed' }],
  ] as const)('is refused: %s', (_, candidate, evidence, reason) => {
    const refusal = { ...toPending(toAlice(candidate), 'queued'), reason }
    expect(verifyDeposit(toAlice(candidate), evidence)).toEqual({ kind: 'refused', refusal })
  })

  it('is explained by the status or by the type of its transaction', () => {
    expect(explainRefusal({ kind: 'failed' })).toBe(failedTransaction)
    expect(explainRefusal(type(2))).toBe(explainContractType(2))
  })
})

describe('a candidate that cannot be decided now', () => {
  it.each([
    ['no-api', trxCandidate, forTrx({ bytes: 'no-api' })],
    ['api-unavailable', trxCandidate, forTrx({ bytes: 'unavailable' })],
    ['bytes-unreadable', trxCandidate, forTrx({ bytes: rawData() })],
    ['disagreement', trxCandidate, forTrx({ receipt: 'disagreement' })],
    ['disagreement', usdtCandidate, forUsdt({ receipt: 'disagreement' })],
    ['decimals-unknown', usdtCandidate, forUsdt({ decimals: null })],
    ['retired', { ...usdtCandidate, currency: { ...usdt, retired: true } }, forUsdt()],
    ['decimals-differ', usdtCandidate, forUsdt({ decimals: 18 })],
  ] as const)('is pending: %s', (reason, candidate, evidence) => {
    const { currency, ...rest } = candidate
    expect(verifyDeposit(toAlice(candidate), evidence)).toEqual({
      kind: 'pending',
      pending: { ...rest, cuy: currency.cuy, uid: alice.uid, reason },
    })
  })

  it('is refused and not pending where its transaction failed', () => {
    expect(verifyDeposit(toAlice(trxCandidate), forTrx({ receipt: failed(), bytes: 'no-api' })).kind).toBe('refused')
  })
})

describe('evidence that contradicts the block', () => {
  const otherBlock = { height: ref.height, hash: '71'.repeat(32) as BlockHash }
  const withLog = (over: Parameters<typeof log>[0]) =>
    forUsdt({ receipt: receipt([otherLog, log({ position: 1, ...over })]) })
  const topics = [transferTopic, topic(stranger), topic(alice.address)]
  const higher = { ...ref, height: 71 as BlockHeight }
  const failedElsewhere = receipt([], { block: otherBlock, succeeded: false })
  it.each<readonly [string, Candidate, Evidence]>([
    ['the receipt of another transaction', trxCandidate, forTrx({ receipt: receipt([], { txid: txid(2) }) })],
    ['the same height with another hash', trxCandidate, forTrx({ receipt: receipt([], { block: otherBlock }) })],
    ['another height', trxCandidate, forTrx({ receipt: receipt([], { block: higher }) })],
    ['a failed receipt of another block', trxCandidate, forTrx({ receipt: failedElsewhere })],
    ['bytes that pay another address', trxCandidate, forTrx({ bytes: transferBytes(bob.address) })],
    ['bytes that pay another amount', trxCandidate, forTrx({ bytes: transferBytes(alice.address, 999_999n) })],
    ['bytes of another sender', trxCandidate, forTrx({ bytes: transferBytes(alice.address, 1_000_000n, bob.address) })],
    ['no logs', usdtCandidate, forUsdt({ receipt: receipt() })],
    ['a log of another transaction', usdtCandidate, withLog({ txid: txid(2) })],
    ['a log of another contract', usdtCandidate, withLog({ contract: fakeContract })],
    ['a log to another address', usdtCandidate, withLog({ to: bob.address })],
    ['a log from another address', usdtCandidate, withLog({ from: bob.address })],
    ['a log of another amount', usdtCandidate, withLog({ raw: 1_000_001n })],
    ['a log of 0', usdtCandidate, withLog({ raw: 0n })],
    ['a log with a fourth topic', usdtCandidate, withLog({ topics: [...topics, word(1n)] })],
    ['a log with longer data', usdtCandidate, withLog({ data: `${word(1_000_000n)}00` })],
  ])('is a disagreement, so the candidate is pending: %s', (_, candidate, evidence) => {
    const owned = toAlice(candidate)
    expect(verifyDeposit(owned, evidence)).toEqual({ kind: 'pending', pending: toPending(owned, 'disagreement') })
  })
})

describe('a token candidate at another position than in the agreed receipt', () => {
  it.each([
    ['one log', [log(), otherLog], [0]],
    ['two logs: each is a deposit', [log(), otherLog, log({ position: 2 })], [0, 2]],
  ])('is a deposit at the position of the receipt, which has its transfer in %s', (_, all, positions) => {
    const verdict = verifyDeposit(toAlice(usdtCandidate), forUsdt({ receipt: receipt(all) }))
    expect(verdict).toMatchObject({
      kind: 'proven',
      deposits: positions.map((position) => ({ position, raw: usdtCandidate.raw })),
    })
  })
})

describe('any evidence', () => {
  it('makes a token a deposit exactly where the receipt has its transfer', () => {
    const party = fc.constantFrom(alice.address, bob.address, stranger)
    const anyLogs: fc.Arbitrary<readonly Log[]> = fc
      .array(fc.record({ from: party, to: party, raw: fc.constantFrom(0n, 1n, 1_000_000n) }), { maxLength: 4 })
      .map((all) => all.map((over, position) => log({ ...over, position })))
    fc.assert(
      fc.property(anyLogs, fc.boolean(), fc.nat(3), (receiptLogs, succeeded, position) => {
        const evidence = forUsdt({ receipt: receipt(receiptLogs, { succeeded }) })
        const verdict = verifyDeposit(toAlice({ ...usdtCandidate, position }), evidence)
        const positions = receiptLogs.flatMap((one, at) =>
          JSON.stringify(one) === JSON.stringify(log({ position: at })) ? [at] : [],
        )
        expect(verdict.kind === 'proven').toBe(succeeded && positions.length > 0)
        const proven = verdict.kind === 'proven' ? verdict.deposits : []
        if (succeeded) expect(proven.map((deposit) => deposit.position)).toEqual(positions)
      }),
    )
  })
})
