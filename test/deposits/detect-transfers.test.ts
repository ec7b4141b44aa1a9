import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/chain/address.ts'
import type { Block, BlockHeight, Log, Transaction } from '../../src/chain/block.ts'
import { assignOwners, detectTransfers, type OwnedTransfers } from '../../src/deposits/detect-transfers.ts'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import { anyAddress, anyRaw } from '../support/arbitraries.ts'
import { currencies, trx, usdt } from '../support/currencies.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import {
  alice,
  block,
  bob,
  fakeContract,
  log,
  otherStranger,
  owners,
  ref,
  stranger,
  toAlice,
  topic,
  transaction,
  trxCandidate,
  txid,
  usdtCandidate,
  word,
} from './samples.ts'

const noOperators: ReadonlySet<Address> = new Set()
const transfersIn = (given: Block): OwnedTransfers =>
  assignOwners(detectTransfers([given], currencies), owners, noOperators)
const call = (over: Partial<Transaction> = {}) =>
  transaction({ to: usdtAddress, value: '0x0', input: '0xa9059cbb', ...over })

describe('detection of deposits', () => {
  it('finds a TRX candidate in a plain transfer to an address of a caller', () => {
    expect(transfersIn(block([transaction()]))).toEqual({
      candidates: [toAlice(trxCandidate)],
      early: [],
      movements: [],
    })
  })

  it('makes no candidate of a transfer that was final before its address was issued', () => {
    const issuedAt = (height: number) =>
      new Map([[alice.address, { uid: alice.uid, issuedHeight: height as BlockHeight }]])
    const detected = detectTransfers([block([transaction()], [log()])], currencies)
    expect(assignOwners(detected, issuedAt(ref.height), noOperators)).toMatchObject({
      candidates: [],
      early: [{}, {}],
      movements: [],
    })
    expect(assignOwners(detected, issuedAt(ref.height - 1), noOperators)).toMatchObject({
      candidates: [{}, {}],
      early: [],
    })
  })

  it('identifies a token candidate by the position of its log in its own transaction', () => {
    const { candidates } = transfersIn(block([call()], [log({ position: 3, raw: 7n })]))
    expect(candidates).toEqual([toAlice({ ...usdtCandidate, position: 3, raw: 7n })])
  })

  it('collects the addresses whose money may have moved, and no other address', () => {
    const logs = [log(), log({ contract: fakeContract, to: bob.address }), log({ from: otherStranger, raw: 0n })]
    const transactions = [
      transaction(),
      transaction(),
      transaction({ to: null }),
      transaction({ to: bob.address, input: '0x01' }),
    ]
    const { addresses } = detectTransfers([block(transactions, logs), block(transactions)], currencies)
    expect(new Set(addresses)).toEqual(new Set([stranger, alice.address]))
  })

  it('gives each candidate its own block when several blocks are read at once', () => {
    const other = { height: ref.height + 1, hash: 'ef'.repeat(32) }
    const blocks = [block([], [log()]), { ...block([], [log()]), ...other } as Block] // safe: a height and a hash
    const { candidates } = assignOwners(detectTransfers(blocks, currencies), owners, noOperators)
    expect(candidates.map(({ candidate }) => candidate.block)).toEqual([ref, other])
  })

  it('ignores TRX where TRX is not configured', () => {
    const found = detectTransfers([block([transaction()], [log()])], indexCurrencies([usdt]))
    expect(assignOwners(found, owners, noOperators).candidates.map(({ candidate }) => candidate.currency)).toEqual([
      usdt,
    ])
  })

  it('throws where a value is not a quantity, because node replies are parsed before', () => {
    expect(() => transfersIn(block([transaction({ value: '12' })]))).toThrow('no quantity')
  })
})

describe('detection of movements', () => {
  it('finds a movement in, and no deposit, where an operator’s wallet sends TRX or a token to an address of a caller', () => {
    const found = detectTransfers([block([transaction(), call()], [log()])], currencies)
    const { candidates, movements } = assignOwners(found, owners, new Set([stranger]))
    expect(candidates).toEqual([])
    expect(movements.map(({ cuy, address, direction, raw }) => [cuy, address, direction, raw])).toEqual([
      [trx.cuy, alice.address, 'in', 1_000_000n],
      [usdt.cuy, alice.address, 'in', 1_000_000n],
    ])
  })

  it('finds a movement out where an address of a caller pays a stranger', () => {
    expect(transfersIn(block([transaction({ from: alice.address, to: stranger })]))).toEqual({
      candidates: [],
      early: [],
      movements: [
        { txid: txid(1), position: 0, block: ref, cuy: 1, address: alice.address, direction: 'out', raw: 1_000_000n },
      ],
    })
  })

  it('finds a movement out and one in between the addresses of two callers, and no deposit', () => {
    const { candidates, movements } = transfersIn(
      block([transaction({ from: bob.address })], [log({ txid: txid(2), position: 1, from: bob.address })]),
    )
    expect(candidates).toEqual([])
    expect(movements.map(({ cuy, address, direction, raw }) => [cuy, address, direction, raw])).toEqual([
      [1, bob.address, 'out', 1_000_000n],
      [1, alice.address, 'in', 1_000_000n],
      [2, bob.address, 'out', 1_000_000n],
      [2, alice.address, 'in', 1_000_000n],
    ])
  })

  it.each([
    ['a contract call', call({ from: alice.address })],
    ['a contract call with TRX', call({ from: alice.address, value: '0x10' })],
    ['a transaction without a recipient', transaction({ from: alice.address, to: null, value: '0x0' })],
    ['a vote', transaction({ from: alice.address, to: stranger, value: '0x0' })],
  ])('records %s from an address of a caller as a movement of 0 TRX, because it costs a fee', (_, sent) => {
    expect(transfersIn(block([sent]))).toEqual({
      candidates: [],
      early: [],
      movements: [
        { txid: txid(1), position: 0, block: ref, cuy: 1, address: alice.address, direction: 'out', raw: 0n },
      ],
    })
  })
})

// PROTOCOL.md, Look-alike transfers: those that a block alone shows. The receipt and the bytes of a candidate show the others.
describe('transactions that look like deposits', () => {
  const own = alice.address
  const nft = { topics: [transferTopic, topic(stranger), topic(own), word(1n)], data: '0x' }
  const callData = `0xa9059cbb${topic(own).slice(2)}${word(9n).slice(2)}`
  const rows: readonly (readonly [string, readonly Transaction[], readonly Log[], number])[] = [
    ['a TRC-10 transfer or an old stake, which looks like a TRX transfer, is a candidate', [transaction()], [], 1],
    ['a failed call with TRX is none', [call({ value: '0xf4240', to: own })], [], 0],
    ['a transfer of a token with the same name is none', [call()], [log({ contract: fakeContract })], 0],
    ['a Transfer event of any contract is none', [call()], [log({ contract: stranger })], 0],
    ['an NFT of an accepted contract is none', [call()], [log(nft)], 0],
    ['a transfer of 0 of an accepted token is none', [call()], [log({ raw: 0n })], 0],
    ['call data of a transfer without a log is none', [call({ input: callData })], [], 0],
    ['several transfers in one transaction are several', [call()], [log(), log({ position: 1 })], 2],
    ['a transfer from an address to itself is none', [transaction({ from: own })], [log({ from: own })], 0],
    ['a call with TRX, which its contract may forward, is none', [call({ value: '0xf4240' })], [], 0],
  ]
  it.each(rows)('%s', (_, transactions, logs, candidates) => {
    expect(transfersIn(block(transactions, logs)).candidates).toHaveLength(candidates)
  })

  it('a deposit has the same key whatever else its block contains', () => {
    const alone = transfersIn(block([call()], [log({ position: 1 })])).candidates
    const crowded = transfersIn(
      block([call({ txid: txid(9) }), call()], [log({ txid: txid(9), to: stranger }), log({ position: 1 })]),
    )
    expect(crowded.candidates).toEqual(alone)
  })

  it('amounts above 2^53 are exact', () => {
    const value = `0x${(2n ** 53n + 1n).toString(16)}`
    const { candidates } = transfersIn(block([transaction({ value })], [log({ raw: 2n ** 256n - 1n })]))
    expect(candidates.map(({ candidate }) => candidate.raw)).toEqual([2n ** 53n + 1n, 2n ** 256n - 1n])
  })
})

describe('any block', () => {
  const party = fc.oneof(fc.constantFrom(alice.address, bob.address, stranger), anyAddress)
  const anyTransaction = fc.record({
    from: party,
    to: fc.option(party),
    value: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })).map((n) => `0x${n.toString(16)}`),
    input: fc.constantFrom('0x', '0xa9059cbb'),
  })
  const anyLog = fc
    .record({
      from: party,
      to: party,
      raw: fc.oneof(fc.constant(0n), anyRaw),
      contract: fc.constantFrom(usdtAddress, fakeContract),
    })
    .map((over) => log(over))
  const anyBlock = fc
    .tuple(fc.array(anyTransaction, { maxLength: 20 }), fc.array(anyLog, { maxLength: 20 }))
    .map(([transactions, logs]) =>
      block(
        transactions.map((one, i) => transaction({ ...one, txid: txid(i) })),
        logs.map((one, i) => ({ ...one, txid: txid(100), position: i })),
      ),
    )

  it('has candidates only to addresses of callers, from outside, above 0, each with its own key', () => {
    fc.assert(
      fc.property(anyBlock, (given) => {
        const { candidates, movements } = transfersIn(given)
        for (const { candidate, uid } of candidates) {
          expect(owners.get(candidate.to)?.uid).toBe(uid)
          expect(owners.has(candidate.from)).toBe(false)
          expect(candidate.raw).toBeGreaterThan(0n)
        }
        for (const { address } of movements) expect(owners.has(address)).toBe(true)
        const keys = candidates.map(({ candidate }) => `${candidate.txid}:${candidate.position}`)
        expect(new Set(keys).size).toBe(keys.length)
        const sent = given.transactions.filter((one) => owners.has(one.from)).map((one) => one.txid)
        const movedOut = movements.filter((one) => one.cuy === trx.cuy && one.direction === 'out')
        expect(movedOut.map((one) => one.txid)).toEqual(sent)
      }),
    )
  })

  it('has the same transfers where the owners of only the collected addresses are known', () => {
    fc.assert(
      fc.property(anyBlock, (given) => {
        const found = detectTransfers([given], currencies)
        const collected = new Map([...owners].filter(([address]) => found.addresses.includes(address)))
        expect(assignOwners(found, collected, noOperators)).toEqual(assignOwners(found, owners, noOperators))
      }),
    )
  })

  it('has no transfer for a service without addresses', () => {
    fc.assert(
      fc.property(anyBlock, (given) => {
        const found = assignOwners(detectTransfers([given], currencies), new Map(), noOperators)
        expect(found).toEqual({ candidates: [], early: [], movements: [] })
      }),
    )
  })
})
