import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import type { ChainTransfer } from '../../src/worker/chain/chain.ts'
import { amountMax } from '../../src/worker/common/amount.ts'
import { isOperator, judgeSeen, judgeTransfer } from '../../src/worker/deposits/transfer.ts'
import { indexCurrencies } from '../../src/worker/ledger/currencies.ts'
import { anyAddress, anyCurrency, anyHeight, anyRaw, anyTxid } from '../support/arbitraries.ts'
import { trx, usdt } from '../support/currencies.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import {
  alice,
  bob,
  fakeContract,
  header,
  height,
  operator,
  owners,
  rules,
  stranger,
  trxTransfer,
  usdtTransfer,
} from './samples.ts'

const judge = (transfer: ChainTransfer, over: Partial<typeof rules> = {}, at = header) =>
  judgeTransfer(transfer, at, owners, { ...rules, ...over })
const at = (number: number) => ({ ...header, height: number as BlockHeight })
const withUsdt = (over: Partial<typeof usdt>) => ({ currencies: indexCurrencies([trx, { ...usdt, ...over }]) })
const noDecimals = { decimals: new Map<Address, number>() }
const otherDecimals = { decimals: new Map([[usdtAddress, 18]]) }

describe('a final transfer', () => {
  it('to a caller from outside is credited, with its block and amount', () => {
    const common = { block: { height }, from: stranger, to: alice.address, raw: 1_000_000n }
    const credited = { ...common, state: 'credited', uid: alice.uid, amount: 1_000_000n }
    const { txid } = trxTransfer()
    expect(judge(trxTransfer())).toEqual({ ...credited, txid, position: 0, cuy: 1, native: true })
    expect(judge(usdtTransfer({ position: 3 }))).toEqual({ ...credited, txid, position: 3, cuy: 2, native: false })
  })

  it.each([
    ['out of an address of the service', { from: alice.address, to: stranger }],
    ['between two addresses of the service', { from: alice.address, to: bob.address }],
    ['from an operator’s wallet', { from: operator }],
  ])('%s is a movement', (_, over) => {
    expect(judge(trxTransfer(over))).toMatchObject({ state: 'moved' })
    expect(judge(usdtTransfer(over))).toMatchObject({ state: 'moved' })
  })

  it('is a movement for good where an operator has left the list, from the height on at which it was listed', () => {
    const since = new Map([[operator, 70 as BlockHeight]])
    const operators = { listed: new Set<Address>(), since, otherPayers: new Set<Address>() }
    const from = { from: operator }
    expect(judge(trxTransfer(from), { operators }, at(71))).toMatchObject({ state: 'moved' })
    expect(judge(trxTransfer(from), { operators }, at(70))).toMatchObject({ state: 'credited' })
    expect(isOperator({ ...operators, listed: new Set([operator]) }, operator, height)).toBe(true)
  })

  it('from an operator’s wallet that pays for another cell by now is a matter of review', () => {
    const operators = {
      listed: new Set<Address>(),
      since: new Map([[operator, 70 as BlockHeight]]),
      otherPayers: new Set([operator]),
    }
    const from = { from: operator }
    expect(judge(trxTransfer(from), { operators }, at(71))).toMatchObject({ state: 'held', reason: 'review' })
    expect(judge(trxTransfer(from), { operators }, at(70))).toMatchObject({ state: 'credited' })
    const listed = { ...operators, listed: new Set([operator]) }
    expect(judge(trxTransfer(from), { operators: listed }, at(71))).toMatchObject({ state: 'moved' })
  })

  it('that was final before its address was issued is its caller’s in no case', () => {
    expect(judge(trxTransfer(), {}, at(69))).toBe('paid-before-issue')
    expect(judge(trxTransfer(), {}, at(70))).toMatchObject({ state: 'credited' })
  })

  it.each([
    ['pays no address of the service', trxTransfer({ to: stranger })],
    ['is of a token that is not accepted', usdtTransfer({ asset: { kind: 'trc20', contract: fakeContract } })],
  ])('that %s is not stored', (_, transfer) => {
    expect(judge(transfer)).toBeNull()
  })

  it('of TRX is not stored where TRX is not configured', () => {
    expect(judge(trxTransfer(), { currencies: indexCurrencies([usdt]) })).toBeNull()
  })

  it.each([
    ['retired', withUsdt({ retired: true })],
    ['decimals-unknown', noDecimals],
    ['decimals-differ', otherDecimals],
  ])('is held where its token is: %s', (reason, over) => {
    expect(judge(usdtTransfer(), over)).toMatchObject({ state: 'held', reason, uid: alice.uid })
    expect(judge(trxTransfer(), over)).toMatchObject({ state: 'credited' })
  })

  it('is refused below the minimum and below the smallest unit, and held above the largest amount', () => {
    expect(judge(usdtTransfer(), withUsdt({ minDeposit: 1_000_001n }))).toMatchObject({
      state: 'refused',
      reason: 'below-minimum',
    })
    expect(judge(usdtTransfer({ amount: 9n }), withUsdt({ scale: 5 }))).toMatchObject({
      state: 'refused',
      reason: 'dust',
    })
    expect(judge(usdtTransfer({ amount: amountMax + 1n }))).toMatchObject({ state: 'held', reason: 'too-large' })
    expect(judge(usdtTransfer({ amount: amountMax }))).toMatchObject({ state: 'credited', amount: amountMax })
  })

  it('is credited exactly where it comes from outside, is accepted, in time and worth an amount', () => {
    const anyParty = fc.oneof(fc.constantFrom(alice.address, bob.address, stranger, operator), anyAddress)
    fc.assert(
      fc.property(anyTxid, anyParty, anyParty, anyCurrency, anyRaw, anyHeight, (id, from, to, currency, amount, on) => {
        const decimals = new Map([[usdtAddress, 6]])
        if (currency.asset.kind === 'trc20') decimals.set(currency.asset.contract, currency.decimals)
        const transfer = { txid: id, position: 0, asset: currency.asset, from, to, amount }
        const judged = judge(transfer, { currencies: indexCurrencies([currency]), decimals }, at(on))
        const units = amount / 10n ** BigInt(currency.decimals - currency.scale)
        const isWorth = amount >= currency.minDeposit && units > 0n && units <= amountMax
        const owner = owners.get(to)
        const isOutside = !owners.has(from) && from !== operator
        const isCredited = isOutside && owner !== undefined && on > 69 && isWorth
        expect(judged !== null && judged !== 'paid-before-issue' && judged.state === 'credited').toBe(isCredited)
        if (isCredited) expect(judged).toMatchObject({ uid: owner.uid, amount: units })
      }),
    )
  })
})

describe('a transfer that is not final', () => {
  const see = (transfer: ChainTransfer, on = header) => judgeSeen(transfer, on, owners, rules, { node: 1, seconds: 57 })
  it('to a caller is seen, whatever becomes of it', () => {
    expect(see(usdtTransfer())).toMatchObject({ state: 'seen', uid: alice.uid, seconds: 57, raw: 1_000_000n })
    expect(see(usdtTransfer({ amount: amountMax + 1n }))).toEqual({
      ...see(usdtTransfer()),
      raw: amountMax + 1n,
    })
  })

  it('is not shown where it would be no deposit', () => {
    expect(see(usdtTransfer({ from: operator }))).toBeNull()
    expect(see(usdtTransfer({ from: bob.address }))).toBeNull()
    expect(see(usdtTransfer({ to: stranger }))).toBeNull()
    expect(see(usdtTransfer(), at(69))).toBeNull()
  })
})
