import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { type Address, zeroAddress } from '../../src/worker/chain/address.ts'
import type { Log } from '../../src/worker/chain/block.ts'
import type { TransactionReading } from '../../src/worker/chain/chain.ts'
import type { CurrencyId } from '../../src/worker/common/ids.ts'
import { heldReasons, type WorthlessReason } from '../../src/worker/common/reasons.ts'
import {
  type ExplainedBy,
  type Explanation,
  explainContractType,
  explainHeld,
  explainRefused,
  explainTransaction,
} from '../../src/worker/deposits/explain.ts'
import { indexCurrencies } from '../../src/worker/ledger/currencies.ts'
import { currencies, trx, usdt } from '../support/currencies.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import {
  alice,
  bob,
  fakeContract,
  log,
  operator,
  reading,
  rules,
  stranger,
  trxTransfer,
  usdtTransfer,
} from './samples.ts'

const because = (reason: WorthlessReason, why: string): Explanation => ({ reason, why })
const noTransfer = because('no-transfer', 'it contains no transfer to one of your addresses')
const elsewhere = because('no-transfer', 'its transfer went to an address that is not one of yours')
const fromOwnAddress = because(
  'from-own-address',
  'it was sent from one of your own deposit addresses, so it is not a deposit',
)
const internalTransfer = because(
  'internal-transfer',
  'it was sent from an address of this service; internal transfers are not deposits',
)
const fromOperator = because(
  'from-operator',
  'it was sent by the operator of this service; such transfers are not deposits',
)
const otherEvent = because(
  'not-a-transfer',
  'the contract TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t names your address in an event that is not a token transfer',
)
const zero = because('zero-amount', 'it transfers 0 USDT')
const fake = 'TYrGbSUJbKG73E6scfNQFWUBZrQr3gHL3w'

const explain = (over: Partial<TransactionReading> = {}, by: Partial<ExplainedBy> = {}) =>
  explainTransaction(reading(over), { currencies, own: new Set([alice.address]), operators: rules.operators, ...by })
const call = { contractType: 31, target: usdtAddress }
const explainCall = (...logs: readonly Log[]) => explain({ ...call, logs })
/** The explanation of a token call with a Transfer event that nodes agreed on as a transfer. */
const explainPaid = (from: Address) => explain({ ...call, logs: [log({ from })], transfers: [usdtTransfer({ from })] })
/** A call of an accepted token that only transfers some of it, to somebody else than the caller. */
const explainPlain = (to: Address, over: Partial<TransactionReading> = {}, from: Address = stranger) =>
  explain({ ...call, logs: [log({ from, to })], transfers: [usdtTransfer({ from, to })], ...over })
const explainTrx = (from: Address) => explain({ owner: from, transfers: [trxTransfer({ from })] })
const [transferTopic = '', fromTopic = '', toTopic = ''] = log().topics

describe('the reason why a contract call is not a deposit', () => {
  it.each([
    [
      'fails',
      explain({ ...call, succeeded: false }),
      because('transaction-failed', 'the transaction failed, so it paid nothing'),
    ],
    ['has no events', explainCall(), noTransfer],
    ['pays another caller', explainCall(log({ to: bob.address })), noTransfer],
    ['pays a stranger', explainCall(log({ to: stranger })), noTransfer],
    ['is a plain transfer to a stranger', explainPlain(stranger), elsewhere],
    ['is a plain transfer to another caller', explainPlain(bob.address), elsewhere],
    ['is a plain transfer to nobody, as where tokens are burnt for TRX', explainPlain(zeroAddress), noTransfer],
    ['transfers for somebody else', explainPlain(stranger, { owner: operator }), noTransfer],
    ['transfers by another contract', explainPlain(stranger, { target: fakeContract }), noTransfer],
    [
      'is a plain transfer by the caller',
      explainPlain(stranger, { owner: alice.address }, alice.address),
      fromOwnAddress,
    ],
    [
      'has an event of a contract that is not accepted',
      explainCall(log({ contract: fakeContract })),
      because('not-accepted', `its Transfer event comes from the contract ${fake}, which is not an accepted token`),
    ],
    [
      'sends an NFT',
      explainCall(log({ contract: fakeContract, topics: [transferTopic, fromTopic, toTopic, fromTopic], data: '0x' })),
      because('not-accepted', `the contract ${fake} sent an NFT (TRC-721), which is not an accepted token`),
    ],
    ['transfers 0', explainCall(log({ raw: 0n })), zero],
    ['comes from an address of the caller', explainPaid(alice.address), fromOwnAddress],
    ['comes from the operator', explainPaid(operator), fromOperator],
    ['comes from another address of the service', explainPaid(bob.address), internalTransfer],
    ['has an event with other data', explainCall(log({ data: '0x01' })), otherEvent],
    [
      'has an address that is not padded with zeros',
      explainCall(log({ topics: [transferTopic, fromTopic, `0x${'0'.repeat(22)}41${alice.address}`] })),
      otherEvent,
    ],
    [
      'has another event with the address of the caller',
      explainCall(log({ topics: [fromTopic, fromTopic, toTopic] })),
      noTransfer,
    ],
  ])('where it %s', (_, explanation, why) => {
    expect(explanation).toEqual(why)
  })

  it('is the one that is closest to a deposit, where there are several', () => {
    const farther = log({ contract: fakeContract })
    const closer = log({ raw: 0n, position: 1 })
    expect(explainCall(farther, closer)).toEqual(zero)
    expect(explainCall(closer, farther)).toEqual(zero)
  })
})

describe('the reason why a transaction without events is not a deposit', () => {
  it.each([
    ['is a TRC-10 transfer', explain({ contractType: 2 }), explainContractType(2)],
    ['is the end of a stake', explain({ contractType: 12 }), explainContractType(12)],
    ['delegates energy to the caller', explain({ contractType: 57 }), explainContractType(57)],
    ['has no recipient', explain({ contractType: 54, target: null }), explainContractType(54)],
    ['is a call of the address', explain({ contractType: 31 }), explainContractType(31)],
    [
      'has bytes that transfer nothing',
      explain(),
      because('not-a-transfer', 'this is a TRX transfer whose bytes are not valid'),
    ],
    ['pays a stranger', explain({ target: stranger }), noTransfer],
    ['pays another caller', explain({ target: bob.address }), noTransfer],
    ['is a TRC-10 transfer to another caller', explain({ contractType: 2, target: bob.address }), noTransfer],
    ['is a payment by the caller', explain({ owner: alice.address, target: stranger }), fromOwnAddress],
    ['is a payment from an address to itself', explainTrx(alice.address), fromOwnAddress],
    ['comes from the operator', explainTrx(operator), fromOperator],
    ['comes from another address of the service', explainTrx(bob.address), internalTransfer],
    [
      'transfers TRX where TRX is not configured',
      explain({ transfers: [trxTransfer()] }, { currencies: indexCurrencies([usdt]) }),
      because('not-accepted', 'it transfers TRX, which is not an accepted currency'),
    ],
  ])('where it %s', (_, explanation, why) => {
    expect(explanation).toEqual(why)
  })
})

describe('the explanation of a payment to another address', () => {
  const payments: readonly (readonly [string, (other: Address) => Partial<TransactionReading>])[] = [
    ['TRX', (to) => ({ target: to })],
    ['TRC-10', (to) => ({ target: to, contractType: 2 })],
    ['an accepted token', (to) => ({ ...call, logs: [log({ to })] })],
    ['another token', (to) => ({ ...call, logs: [log({ to, contract: fakeContract })] })],
    ['0 of a token', (to) => ({ ...call, logs: [log({ to, raw: 0n })] })],
    ['TRX of that address', (owner) => ({ owner, target: stranger })],
  ]
  it.each(payments)('is the same whether or not it belongs to a caller: %s', (_, payment) => {
    const unknown = '99'.repeat(20) as Address
    expect(explain(payment(bob.address))).toEqual(explain(payment(unknown)))
    expect(explain(payment(bob.address))).toEqual(noTransfer)
  })
})

describe('the explanation of a stored transfer', () => {
  const with18Decimals = indexCurrencies([trx, { ...usdt, decimals: 18, minDeposit: 15n * 10n ** 17n }])
  it.each([
    ['below-minimum', 10n ** 18n, usdt.cuy, '1 USDT is below the smallest deposit that is credited, 1.5 USDT'],
    ['below-minimum', 2n * 10n ** 18n, usdt.cuy, '2 USDT was below the smallest deposit of that time'],
    ['dust', 7n, usdt.cuy, '0.000000000000000007 USDT is less than the smallest amount in a wallet, 0.000001 USDT'],
    ['dust', 1n, 77 as CurrencyId, 'its currency is no longer accepted'],
  ] as const)('that is refused has its amounts: %s, %d', (reason, raw, cuy, why) => {
    expect(explainRefused({ cuy, raw, reason }, with18Decimals)).toBe(why)
  })

  it('that is held is one sentence for each reason', () => {
    const sentences = heldReasons.map(explainHeld)
    expect(new Set(sentences).size).toBe(heldReasons.length)
    for (const sentence of sentences) expect(sentence).toMatch(/^[^A-Z.][^.]+$/)
  })
})

// TronWeb's copy of the chain's protobuf definitions: loading it sets the global `TronWebProto`.
const load = createRequire(import.meta.url)
load('../../node_modules/tronweb/lib/commonjs/protocol/core/Tron_pb.cjs')
const protocol: unknown = Reflect.get(globalThis, 'TronWebProto')

function chainTypes(): readonly (readonly [string, number])[] {
  const transaction: unknown = Reflect.get(Object(protocol), 'Transaction')
  const types: unknown = Reflect.get(Object(Reflect.get(Object(transaction), 'Contract')), 'ContractType')
  return Object.entries(Object(types)).map(([name, number]) => [name, Number(number)] as const)
}

describe('a contract type', () => {
  it('of the chain’s protocol has a sentence of its own', () => {
    const types = chainTypes()
    expect(types.length).toBeGreaterThan(40)
    const unknown = types.filter(([, number]) => explainContractType(number).why.includes(`type ${number}`))
    expect(unknown).toEqual([])
  })

  it.each(chainTypes())('%s is explained in one sentence without a full stop', (_, number) => {
    expect(explainContractType(number).why).toMatch(/^this [^.]+$/)
  })

  it('that is unknown is described by its number', () => {
    expect(explainContractType(4711)).toEqual(
      because('not-a-transfer', 'this is a transaction of type 4711, which is not a TRX transfer'),
    )
  })

  it('that looks like a TRX transfer in a block is described by what it does', () => {
    expect(explainContractType(2)).toEqual(because('trc10', 'this is a TRC-10 token transfer, not TRX'))
    expect(explainContractType(12).why).toContain('returns to its sender')
  })
})
