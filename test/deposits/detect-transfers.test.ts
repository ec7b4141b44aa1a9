import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Block, Log, Transaction } from '../../src/chain/block.ts'
import { assignOwners, detectTransfers, type OwnedTransfers } from '../../src/deposits/detect-transfers.ts'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import { anyAddress, anyRaw } from '../support/arbitraries.ts'
import {
  alice,
  block,
  bob,
  currencies,
  fakeContract,
  log,
  otherStranger,
  owners,
  ref,
  stranger,
  topic,
  transaction,
  trx,
  txid,
  usdt,
  usdtContract,
  word,
} from './samples.ts'

const judge = (given: Block): OwnedTransfers => assignOwners(detectTransfers([given], currencies), owners)
const nothing: OwnedTransfers = { candidates: [], movements: [] }
const call = (over: Partial<Transaction> = {}) =>
  transaction({ to: usdtContract, value: '0x0', input: '0xa9059cbb', gas: '0x7d00', ...over })

describe('what a block holds for us', () => {
  it('is a TRX candidate for a plain transfer to one of our addresses', () => {
    expect(judge(block([transaction()]))).toEqual({
      claims: [
        {
          uid: alice.uid,
          candidate: {
            txid: txid(1),
            position: 0,
            block: ref,
            currency: trx,
            from: stranger,
            to: alice.address,
            raw: 1_000_000n,
          },
        },
      ],
      movements: [],
    })
  })

  it('is a token candidate under its position in its own transaction', () => {
    const { candidates: claims } = judge(block([call()], [log({ position: 3, raw: 7n })]))
    expect(claims).toEqual([
      {
        uid: alice.uid,
        candidate: {
          txid: txid(1),
          position: 3,
          block: ref,
          currency: usdt,
          from: stranger,
          to: alice.address,
          raw: 7n,
        },
      },
    ])
  })

  it('asks about every sender and recipient of money once, and about nobody else', () => {
    const logs = [log(), log({ contract: fakeContract, to: bob.address }), log({ from: otherStranger, raw: 0n })]
    const transactions = [
      transaction(),
      transaction(),
      transaction({ to: null }),
      transaction({ to: bob.address, input: '0x01' }),
    ]
    const { addresses } = detectTransfers([block(transactions, logs), block(transactions)], currencies)
    expect([...addresses]).toEqual([stranger, alice.address])
  })

  it('stays in its own block where several are read at once', () => {
    const other = { height: ref.height + 1, hash: 'ef'.repeat(32) }
    const blocks = [block([], [log()]), { ...block([], [log()]), ...other } as Block] // safe: a height and a hash
    const { candidates: claims } = assignOwners(detectTransfers(blocks, currencies), owners)
    expect(claims.map(({ candidate }) => candidate.block)).toEqual([ref, other])
  })

  it('is nothing in TRX where TRX is no currency', () => {
    const found = detectTransfers([block([transaction()], [log()])], indexCurrencies([usdt]))
    expect(assignOwners(found, owners).candidates.map((claim) => claim.candidate.currency)).toEqual([usdt])
  })

  it('is a bug of the door, not a quiet miss, where a value is no quantity', () => {
    expect(() => judge(block([transaction({ value: '12' })]))).toThrow('no quantity')
  })
})

describe('money that was ours already', () => {
  it('is a movement out of TRX when it goes to a stranger', () => {
    const { candidates: claims, movements } = judge(block([transaction({ from: alice.address, to: stranger })]))
    expect(claims).toEqual([])
    expect(movements).toEqual([
      { txid: txid(1), position: 0, block: ref, cuy: 1, address: alice.address, direction: 'out', raw: 1_000_000n },
    ])
  })

  it('is a movement out and one in between two of our addresses, whoever they belong to', () => {
    const sent = judge(
      block([transaction({ from: bob.address })], [log({ txid: txid(2), position: 1, from: bob.address })]),
    )
    expect(sent.candidates).toEqual([])
    expect(sent.movements.map(({ cuy, address, direction, raw }) => [cuy, address, direction, raw])).toEqual([
      [1, bob.address, 'out', 1_000_000n],
      [1, alice.address, 'in', 1_000_000n],
      [2, bob.address, 'out', 1_000_000n],
      [2, alice.address, 'in', 1_000_000n],
    ])
  })

  it.each([
    ['a contract call', call({ from: alice.address })],
    ['a contract call with TRX attached', call({ from: alice.address, value: '0x10' })],
    ['a transaction without a target', transaction({ from: alice.address, to: null, value: '0x0' })],
    ['a vote', transaction({ from: alice.address, to: stranger, value: '0x0' })],
  ])('is remembered for its fee alone in %s', (_, sent) => {
    expect(judge(block([sent]))).toEqual({
      claims: [],
      movements: [
        { txid: txid(1), position: 0, block: ref, cuy: 1, address: alice.address, direction: 'out', raw: 0n },
      ],
    })
  })
})

describe('every way to fake a deposit (fact sheet, §5.4)', () => {
  const us = alice.address
  const rows: readonly (readonly [string, readonly Transaction[], readonly Log[], number])[] = [
    ['1: a TRC-10 transfer looks like TRX, so it is only a candidate', [transaction()], [], 1],
    ['2: a failed call with value', [call({ value: '0xf4240', to: us })], [], 0],
    ['3: a stake-1.0 transaction with a receiver looks like TRX, so it is only a candidate', [transaction()], [], 1],
    ['4: a fake token named like a real one', [call()], [log({ contract: fakeContract })], 0],
    ['5: any contract that names us', [call()], [log({ contract: stranger })], 0],
    [
      '6: an NFT of an accepted contract',
      [call()],
      [log({ topics: [transferTopic, topic(stranger), topic(us), word(1n)], data: '0x' })],
      0,
    ],
    ['7: a transfer of zero of the genuine token', [call()], [log({ raw: 0n })], 0],
    [
      '11: call data that says transfer, without a log',
      [call({ input: `0xa9059cbb${topic(us).slice(2)}${word(9n).slice(2)}` })],
      [],
      0,
    ],
    ['12: several transfers in one transaction are several candidates', [call()], [log(), log({ position: 1 })], 2],
    ['13: a transfer to itself', [transaction({ from: us })], [log({ from: us })], 0],
    ['14: a call with TRX attached, whoever it is forwarded to', [call({ value: '0xf4240' })], [], 0],
  ]
  it.each(rows)('%s', (_, transactions, logs, candidates) => {
    expect(judge(block(transactions, logs)).candidates).toHaveLength(candidates)
  })

  it('18: one deposit has one key, whatever surrounds it in the block', () => {
    const alone = judge(block([call()], [log({ position: 1 })])).candidates
    const crowded = judge(
      block([call({ txid: txid(9) }), call()], [log({ txid: txid(9), to: stranger }), log({ position: 1 })]),
    )
    expect(crowded.candidates).toEqual(alone)
  })

  it('20: no amount is rounded', () => {
    const value = `0x${(2n ** 53n + 1n).toString(16)}`
    const { candidates: claims } = judge(block([transaction({ value })], [log({ raw: 2n ** 256n - 1n })]))
    expect(claims.map((claim) => claim.candidate.raw)).toEqual([2n ** 53n + 1n, 2n ** 256n - 1n])
  })
})

describe('any block', () => {
  const party = fc.oneof(fc.constantFrom(alice.address, bob.address, stranger), anyAddress)
  const anyTransaction = fc.record({
    from: party,
    to: fc.option(party),
    value: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })).map((n) => `0x${n.toString(16)}`),
    input: fc.constantFrom('0x', '0xa9059cbb'),
    gas: fc.constantFrom('0x0', '0x7d00'),
  })
  const anyLog = fc
    .record({
      from: party,
      to: party,
      raw: fc.oneof(fc.constant(0n), anyRaw),
      contract: fc.constantFrom(usdtContract, fakeContract),
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

  it('yields candidates only for our addresses, from outside, above zero, each under its own key', () => {
    fc.assert(
      fc.property(anyBlock, (given) => {
        const { candidates: claims, movements } = judge(given)
        for (const { candidate, uid } of claims) {
          expect(owners.get(candidate.to)).toBe(uid)
          expect(owners.has(candidate.from)).toBe(false)
          expect(candidate.raw).toBeGreaterThan(0n)
        }
        for (const { address } of movements) expect(owners.has(address)).toBe(true)
        const keys = claims.map(({ candidate }) => `${candidate.txid}:${candidate.position}`)
        expect(new Set(keys).size).toBe(keys.length)
        const spent = given.transactions.filter((one) => owners.has(one.from)).map((one) => one.txid)
        const remembered = movements
          .filter((one) => one.cuy === trx.cuy && one.direction === 'out')
          .map((one) => one.txid)
        expect(remembered).toEqual(spent)
      }),
    )
  })

  it('asks about every address that can matter: knowing all others changes nothing', () => {
    fc.assert(
      fc.property(anyBlock, (given) => {
        const found = detectTransfers([given], currencies)
        const asked = new Map([...owners].filter(([address]) => found.addresses.has(address)))
        expect(assignOwners(found, asked)).toEqual(assignOwners(found, owners))
      }),
    )
  })

  it('means nothing to a service without addresses', () => {
    fc.assert(
      fc.property(anyBlock, (given) => {
        expect(assignOwners(detectTransfers([given], currencies), new Map())).toEqual(nothing)
      }),
    )
  })
})
