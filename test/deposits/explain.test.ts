import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/addresses/address.ts'
import type { Log, Transaction } from '../../src/chain/block.ts'
import { describeContractType } from '../../src/deposits/contract-types.ts'
import type { Deposit, DepositOutcome, PendingReason } from '../../src/deposits/deposit.ts'
import {
  explainOutcome,
  explainPending,
  explainTransaction,
  type TransactionInQuestion,
} from '../../src/deposits/explain.ts'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { type Amount, noAmount } from '../../src/ledger/amount.ts'
import { type CurrencyId, indexCurrencies } from '../../src/ledger/currencies.ts'
import {
  alice,
  bob,
  currencies,
  fakeContract,
  log,
  message,
  otherBytes,
  owners,
  receipt,
  ref,
  stranger,
  topic,
  transaction,
  transferBytes,
  trc10Bytes,
  trx,
  txid,
  usdt,
  usdtContract,
  word,
} from './samples.ts'

const nothing = 'it holds no transfer to one of your addresses'
const fromYourself = 'it was sent from one of your own deposit addresses, and that is no deposit'
const fromUs = 'it was sent from an address of this service, and moves between those are no deposits'
const contradiction = "the nodes show this transaction otherwise than the transaction's own bytes"
const fake = 'TYrGbSUJbKG73E6scfNQFWUBZrQr3gHL3w'

const ask = (over: Partial<TransactionInQuestion> = {}) =>
  explainTransaction({
    transaction: transaction(),
    receipt: receipt(),
    rawData: null,
    currencies,
    own: new Set([alice.address]),
    ...over,
  })
const native = (over: Partial<Transaction>, rawData: Uint8Array | null) =>
  ask({ transaction: transaction(over), rawData })
const call = transaction({ to: usdtContract, value: '0x0', input: '0xa9059cbb', gas: '0x7d00' })
const tokens = (...logs: readonly Log[]) =>
  ask({ transaction: call, receipt: receipt(logs), rawData: otherBytes(31, 'TriggerSmartContract') })
const dirty = `0x${'0'.repeat(22)}41${alice.address}`

describe('why a token transaction is worth nothing', () => {
  it.each([
    [
      'fails',
      ask({ transaction: call, receipt: receipt([log()], { succeeded: false }) }),
      'the transaction failed, so nothing in it was paid',
    ],
    ['has no events', tokens(), nothing],
    ['pays somebody else', tokens(log({ to: bob.address })), nothing],
    ['pays a stranger', tokens(log({ to: stranger })), nothing],
    [
      'comes from a contract that is not accepted',
      tokens(log({ contract: fakeContract })),
      `its Transfer event comes from the contract ${fake}, which is not an accepted token`,
    ],
    [
      'is an NFT',
      tokens(
        log({
          contract: fakeContract,
          topics: [transferTopic, topic(stranger), topic(alice.address), word(1n)],
          data: '0x',
        }),
      ),
      `the contract ${fake} sent an NFT (TRC-721), not an accepted token`,
    ],
    ['moves zero', tokens(log({ raw: 0n })), 'it transfers 0 USDT'],
    ['comes from the caller’s own address', tokens(log({ from: alice.address })), fromYourself],
    ['comes from another address of the service', tokens(log({ from: bob.address })), fromUs],
    [
      'has odd data',
      tokens(log({ data: '0x01' })),
      'the contract TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t names your address in an event that is no token transfer',
    ],
    [
      'has an address that is not clean',
      tokens(log({ topics: [transferTopic, topic(stranger), dirty] })),
      'the contract TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t names your address in an event that is no token transfer',
    ],
    [
      'is another event that names the caller',
      tokens(log({ topics: [word(1n), topic(stranger), topic(alice.address)] })),
      nothing,
    ],
  ])('where it %s', (_, said, why) => {
    expect(said).toBe(why)
  })

  it('names the reason that is nearest to a deposit when there are several', () => {
    const worst = log({ contract: fakeContract })
    const better = log({ raw: 0n, position: 1 })
    expect(tokens(worst, better)).toBe('it transfers 0 USDT')
    expect(tokens(better, worst)).toBe('it transfers 0 USDT')
  })
})

describe('why a transaction without tokens is worth nothing', () => {
  it.each([
    ['is a TRC-10 transfer', native({}, trc10Bytes()), 'this is a TRC-10 token transfer, not TRX'],
    ['is the end of a stake', native({}, otherBytes(12)), describeContractType(12).why],
    ['lends energy to the caller', native({ value: '0x0' }, otherBytes(57)), describeContractType(57).why],
    [
      'has no target, and its type is known',
      native({ to: null, value: '0x0' }, otherBytes(54)),
      describeContractType(54).why,
    ],
    ['has no target, and its type is not known', native({ to: null, value: '0x0' }, null), nothing],
    ['has no target, and its bytes can not be read', native({ to: null }, message([11, 1n])), nothing],
    [
      'has bytes that can not be read',
      native({}, message([11, 1n])),
      "the transaction's bytes are not those of one TRX transfer (wrong-wire-type)",
    ],
    ['pays a stranger', native({ to: stranger }, transferBytes(stranger)), nothing],
    ['pays another caller', native({ to: bob.address }, transferBytes(bob.address)), nothing],
    ['is a TRC-10 transfer to another caller', native({ to: bob.address }, trc10Bytes()), nothing],
    ['is the caller’s own payment to a stranger', native({ from: alice.address, to: stranger }, null), fromYourself],
    [
      'is the caller’s own payment to himself',
      native({ from: alice.address }, transferBytes(alice.address, 1_000_000n, alice.address)),
      fromYourself,
    ],
    [
      'comes from another address of the service',
      native({ from: bob.address }, transferBytes(alice.address, 1_000_000n, bob.address)),
      fromUs,
    ],
    ['moves no TRX, as far as the block shows', native({ value: '0x0' }, null), 'it moves no TRX to your address'],
    ['is a call of the caller’s address', native({ input: '0xa9059cbb' }, null), describeContractType(31).why],
    ['is a transfer in bytes and a call in the block', native({ input: '0xa9059cbb' }, transferBytes()), contradiction],
    ['shows energy that no transfer uses', native({ gas: '0x1' }, null), contradiction],
    [
      'is TRX where TRX is no currency',
      ask({ rawData: transferBytes(), currencies: indexCurrencies([usdt]) }),
      'it transfers TRX, which is not an accepted currency',
    ],
  ])('where it %s', (_, said, why) => {
    expect(said).toBe(why)
  })
})

describe('what belongs to others', () => {
  const cases: readonly ((to: Address) => TransactionInQuestion)[] = [
    (to) => ({ ...base, transaction: transaction({ to }), rawData: transferBytes(to) }),
    (to) => ({ ...base, transaction: transaction({ to }), rawData: trc10Bytes() }),
    (to) => ({ ...base, transaction: call, receipt: receipt([log({ to })]), rawData: null }),
    (to) => ({ ...base, transaction: call, receipt: receipt([log({ to, contract: fakeContract })]), rawData: null }),
    (to) => ({ ...base, transaction: call, receipt: receipt([log({ to, raw: 0n })]), rawData: null }),
    (to) => ({
      ...base,
      transaction: transaction({ from: to, to: stranger }),
      rawData: transferBytes(stranger, 1n, to),
    }),
  ]
  const base = { receipt: receipt(), currencies, own: new Set([alice.address]) }

  it.each(cases)('reads like a stranger’s, case %#', (make) => {
    expect(owners.has(bob.address)).toBe(true)
    expect(explainTransaction(make(bob.address))).toBe(explainTransaction(make('99'.repeat(20) as Address)))
    expect(explainTransaction(make(bob.address))).toBe(nothing)
  })
})

describe('what is said of a stored deposit', () => {
  const of = (
    outcome: DepositOutcome,
    raw: bigint,
    cuy: CurrencyId = usdt.cuy,
    amount: Amount = noAmount,
  ): Deposit => ({
    txid: txid(1),
    position: 0,
    block: ref,
    cuy,
    native: false,
    uid: alice.uid,
    from: stranger,
    to: alice.address,
    raw,
    outcome,
    amount,
  })
  const wide = indexCurrencies([trx, { ...usdt, decimals: 18, minDeposit: 15n * 10n ** 17n }])
  it.each([
    [of('below-minimum', 10n ** 18n), '1 USDT is below the smallest deposit that is credited, 1.5 USDT'],
    [
      of('dust', 7n),
      '0.000000000000000007 USDT is less than the smallest amount that a wallet can hold, 0.000001 USDT',
    ],
    [
      of('too-large', 10n ** 40n),
      '10000000000000000000000 USDT is more than one entry can hold, so a person has to decide about it',
    ],
    [
      of('credited', 25n * 10n ** 17n + 1n, usdt.cuy, 2_500_000n as Amount),
      '2.500000000000000001 USDT arrived, and 2.5 USDT was credited',
    ],
    [of('credited', 1n, 77 as CurrencyId), 'its currency is not accepted any more'],
  ])('is one sentence with its numbers', (deposit, why) => {
    expect(explainOutcome(deposit, wide)).toBe(why)
  })

  it('has a sentence of its own for each reason to wait', () => {
    const reasons: readonly PendingReason[] = [
      'queued',
      'no-api',
      'api-silent',
      'disagreement',
      'decimals-differ',
      'decimals-unknown',
    ]
    const sentences = reasons.map(explainPending)
    expect(new Set(sentences).size).toBe(reasons.length)
    for (const sentence of sentences) expect(sentence).toMatch(/^[a-z][^.]{20,}$/)
  })
})
