import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/chain/address.ts'
import type { Log, Transaction } from '../../src/chain/block.ts'
import type { CurrencyId } from '../../src/common/ids.ts'
import { explainContractType } from '../../src/deposits/contract-types.ts'
import type { Deposit, DepositOutcome } from '../../src/deposits/deposit.ts'
import {
  explainOutcome,
  explainPending,
  explainTransaction,
  type WorthlessTransaction,
} from '../../src/deposits/explain.ts'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { type Amount, noAmount } from '../../src/common/amount.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import { currencies, trx, usdt } from '../support/currencies.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import {
  alice,
  bob,
  fakeContract,
  log,
  message,
  otherBytes,
  otherStranger,
  owners,
  receipt,
  ref,
  stranger,
  topic,
  transaction,
  transferBytes,
  trc10Bytes,
  txid,
  word,
} from './samples.ts'

const noTransfer = 'it contains no transfer to one of your addresses'
const fromOwnAddress = 'it was sent from one of your own deposit addresses, so it is not a deposit'
const internalTransfer = 'it was sent from an address of this service; internal transfers are not deposits'
const fromOperator = 'it was sent by the operator of this service; such transfers are not deposits'
const contradiction = "the nodes show this transaction differently from the transaction's own bytes"
const otherEvent =
  'the contract TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t names your address in an event that is not a token transfer'
const fake = 'TYrGbSUJbKG73E6scfNQFWUBZrQr3gHL3w'

const explain = (over: Partial<WorthlessTransaction> = {}) =>
  explainTransaction({
    transaction: transaction(),
    receipt: receipt(),
    bytes: null,
    currencies,
    own: new Set([alice.address]),
    operators: new Set([otherStranger]),
    ...over,
  })
const explainTrx = (over: Partial<Transaction>, bytes: Uint8Array | null) =>
  explain({ transaction: transaction(over), bytes })
const call = transaction({ to: usdtAddress, value: '0x0', input: '0xa9059cbb' })
const explainCall = (...logs: readonly Log[]) =>
  explain({ transaction: call, receipt: receipt(logs), bytes: otherBytes(31, 'TriggerSmartContract') })
const nft = { topics: [transferTopic, topic(stranger), topic(alice.address), word(1n)], data: '0x' }
const notZeroPadded = `0x${'0'.repeat(22)}41${alice.address}`

describe('the reason why a contract call is not a deposit', () => {
  it.each([
    [
      'fails',
      explain({ transaction: call, receipt: receipt([log()], { succeeded: false }) }),
      'the transaction failed, so it paid nothing',
    ],
    ['has no events', explainCall(), noTransfer],
    ['pays another caller', explainCall(log({ to: bob.address })), noTransfer],
    ['pays a stranger', explainCall(log({ to: stranger })), noTransfer],
    [
      'has an event of a contract that is not accepted',
      explainCall(log({ contract: fakeContract })),
      `its Transfer event comes from the contract ${fake}, which is not an accepted token`,
    ],
    [
      'sends an NFT',
      explainCall(log({ contract: fakeContract, ...nft })),
      `the contract ${fake} sent an NFT (TRC-721), which is not an accepted token`,
    ],
    ['transfers 0', explainCall(log({ raw: 0n })), 'it transfers 0 USDT'],
    ['comes from an address of the caller', explainCall(log({ from: alice.address })), fromOwnAddress],
    ['comes from the operator', explainCall(log({ from: otherStranger })), fromOperator],
    ['comes from another address of the service', explainCall(log({ from: bob.address })), internalTransfer],
    ['has an event with other data', explainCall(log({ data: '0x01' })), otherEvent],
    [
      'has an address that is not padded with zeros',
      explainCall(log({ topics: [transferTopic, topic(stranger), notZeroPadded] })),
      otherEvent,
    ],
    [
      'has another event with the address of the caller',
      explainCall(log({ topics: [word(1n), topic(stranger), topic(alice.address)] })),
      noTransfer,
    ],
  ])('where it %s', (_, explanation, why) => {
    expect(explanation).toBe(why)
  })

  it('is the one that is closest to a deposit, where there are several', () => {
    const farther = log({ contract: fakeContract })
    const closer = log({ raw: 0n, position: 1 })
    expect(explainCall(farther, closer)).toBe('it transfers 0 USDT')
    expect(explainCall(closer, farther)).toBe('it transfers 0 USDT')
  })
})

describe('the reason why a transaction without events is not a deposit', () => {
  it.each([
    ['is a TRC-10 transfer', explainTrx({}, trc10Bytes()), explainContractType(2)],
    ['is the end of a stake', explainTrx({}, otherBytes(12)), explainContractType(12)],
    ['delegates energy to the caller', explainTrx({ value: '0x0' }, otherBytes(57)), explainContractType(57)],
    [
      'has no recipient and a known type',
      explainTrx({ to: null, value: '0x0' }, otherBytes(54)),
      explainContractType(54),
    ],
    ['has no recipient, and its bytes are not available', explainTrx({ to: null, value: '0x0' }, null), noTransfer],
    ['has no recipient, and its bytes cannot be read', explainTrx({ to: null }, message([11, 1n])), noTransfer],
    [
      'has bytes that cannot be read',
      explainTrx({}, message([11, 1n])),
      "the transaction's bytes are not those of a single TRX transfer (wrong-wire-type)",
    ],
    ['pays a stranger', explainTrx({ to: stranger }, transferBytes(stranger)), noTransfer],
    ['pays another caller', explainTrx({ to: bob.address }, transferBytes(bob.address)), noTransfer],
    ['is a TRC-10 transfer to another caller', explainTrx({ to: bob.address }, trc10Bytes()), noTransfer],
    ['is a payment by the caller', explainTrx({ from: alice.address, to: stranger }, null), fromOwnAddress],
    [
      'is a payment from an address to itself',
      explainTrx({ from: alice.address }, transferBytes(alice.address, 1_000_000n, alice.address)),
      fromOwnAddress,
    ],
    [
      'comes from another address of the service',
      explainTrx({ from: bob.address }, transferBytes(alice.address, 1_000_000n, bob.address)),
      internalTransfer,
    ],
    ['has a value of 0 in its block', explainTrx({ value: '0x0' }, null), 'it transfers no TRX to your address'],
    ['is a call of the address', explainTrx({ input: '0xa9059cbb' }, null), explainContractType(31)],
    [
      'is a call in its block and a transfer by its bytes',
      explainTrx({ input: '0xa9059cbb' }, transferBytes()),
      contradiction,
    ],
    [
      'transfers TRX where TRX is not configured',
      explain({ bytes: transferBytes(), currencies: indexCurrencies([usdt]) }),
      'it transfers TRX, which is not an accepted currency',
    ],
  ])('where it %s', (_, explanation, why) => {
    expect(explanation).toBe(why)
  })
})

describe('the explanation of a payment to another address', () => {
  const basis = { receipt: receipt(), currencies, own: new Set([alice.address]), operators: new Set<Address>() }
  const payments: readonly (readonly [string, (other: Address) => WorthlessTransaction])[] = [
    ['TRX', (to) => ({ ...basis, transaction: transaction({ to }), bytes: transferBytes(to) })],
    ['TRC-10', (to) => ({ ...basis, transaction: transaction({ to }), bytes: trc10Bytes() })],
    ['an accepted token', (to) => ({ ...basis, transaction: call, receipt: receipt([log({ to })]), bytes: null })],
    [
      'another token',
      (to) => ({ ...basis, transaction: call, receipt: receipt([log({ to, contract: fakeContract })]), bytes: null }),
    ],
    ['0 of a token', (to) => ({ ...basis, transaction: call, receipt: receipt([log({ to, raw: 0n })]), bytes: null })],
    [
      'TRX of that address',
      (from) => ({
        ...basis,
        transaction: transaction({ from, to: stranger }),
        bytes: transferBytes(stranger, 1n, from),
      }),
    ],
  ]
  it.each(payments)('is the same whether or not it belongs to a caller: %s', (_, payment) => {
    expect(owners.has(bob.address)).toBe(true)
    const unknown = '99'.repeat(20) as Address
    expect(explainTransaction(payment(bob.address))).toBe(explainTransaction(payment(unknown)))
    expect(explainTransaction(payment(bob.address))).toBe(noTransfer)
  })
})

describe('the explanation of a stored deposit', () => {
  const deposit = (
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
  const with18Decimals = indexCurrencies([trx, { ...usdt, decimals: 18, minDeposit: 15n * 10n ** 17n }])
  it.each([
    [deposit('below-minimum', 10n ** 18n), '1 USDT is below the smallest deposit that is credited, 1.5 USDT'],
    [deposit('dust', 7n), '0.000000000000000007 USDT is less than the smallest amount in a wallet, 0.000001 USDT'],
    [
      deposit('too-large', 10n ** 40n),
      '10000000000000000000000 USDT is too large for one entry; an operator must decide about it',
    ],
    [
      deposit('credited', 25n * 10n ** 17n + 1n, usdt.cuy, 2_500_000n as Amount),
      '2.500000000000000001 USDT arrived, and 2.5 USDT was credited',
    ],
    [deposit('credited', 1n, 77 as CurrencyId), 'its currency is no longer accepted'],
  ])('has its amounts, case %#', (stored, why) => {
    expect(explainOutcome(stored, with18Decimals)).toBe(why)
  })

  it.each([
    ['queued', 'it is recorded and waits to be verified'],
    ['no-api', 'TRX deposits are on hold: no node has the HTTP API that is needed to verify them'],
    ['api-unavailable', "the transaction's own bytes are not available yet, so it cannot be verified"],
    ['disagreement', 'the nodes disagree about this transaction'],
    [
      'decimals-differ',
      "the decimals of the token's contract differ from the configured ones, so none of it is credited",
    ],
    ['decimals-unknown', "the decimals of the token's contract could not be read yet"],
    ['retired', 'its currency is no longer accepted; the deposit is kept, and nothing of it is credited'],
  ] as const)('has the reason why it is pending: %s', (reason, why) => {
    expect(explainPending(reason)).toBe(why)
  })
})
