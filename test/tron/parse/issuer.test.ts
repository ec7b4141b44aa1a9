import { describe, expect, it } from 'vitest'
import type { Address } from '../../../src/worker/chain/address.ts'
import type { Log, Txid } from '../../../src/worker/chain/block.ts'
import { parseActs, renderActs } from '../../../src/worker/tron/parse/issuer.ts'
import { parseReceipt } from '../../../src/worker/tron/parse/log.ts'
import { recordedResult, unwrap } from '../../recordings/recordings.ts'
import { addressOf, issuerLog, type LogSpec, unindexed, usdtAddress } from '../../support/transaction-spec.ts'

const txid = 'a'.repeat(64) as Txid // safe: 64 hex digits
const alice = addressOf(1)
const tokens = new Set([usdtAddress])

const logOf = (spec: LogSpec, over: Partial<Log> = {}): Log => ({ txid, position: 3, ...spec, ...over })
const actsOf = (...logs: readonly Log[]) => parseActs(logs, tokens, () => 7)
const nothing = { address: null, amount: null, basisPoints: null }

/** The issuer's act in the log of each recorded reply; every reply has one log. */
function recordedActs(name: string) {
  return Array.from({ length: 10 }, (_, i) => {
    // safe: recorded by a real node
    const logs = recordedResult(`issuer/${name}`, i) as readonly Record<string, string>[]
    const [first = {}] = logs
    const place = {
      blockHash: first.blockHash,
      blockNumber: first.blockNumber,
      transactionIndex: first.transactionIndex,
    }
    const receipt = { ...place, status: '0x1', transactionHash: first.transactionHash, logs }
    const of = String(first.transactionHash).slice(2) as Txid // safe: recorded by a real node
    const { logs: parsed } = unwrap(parseReceipt(receipt, of, null))
    const contract = parsed[0]?.contract ?? usdtAddress
    const [act] = parseActs(parsed, new Set([contract]), () => 0)
    return act && { kind: act.kind, address: act.address, amount: act.amount, basisPoints: act.basisPoints }
  })
}

describe('recorded logs of an issuer', () => {
  it.each(['address-as-a-topic', 'address-in-the-data'])('have what it did: %s', (name) => {
    const frozen = '755d76e100d9374d7e79906c43e27aa3d5f8fe06' as Address // safe: 40 hex digits
    expect(recordedActs(name)).toEqual([
      { ...nothing, kind: 'frozen', address: frozen },
      { ...nothing, kind: 'frozen', address: frozen },
      { ...nothing, kind: 'released', address: frozen },
      { ...nothing, kind: 'destroyed', address: frozen, amount: 1_002_000_000n },
      { ...nothing, kind: 'destroyed', address: frozen, amount: 0n },
      { ...nothing, kind: 'paused' },
      { ...nothing, kind: 'unpaused' },
      { ...nothing, kind: 'fee-set', basisPoints: 10n, amount: 5_000_000n },
      { ...nothing, kind: 'fee-set', basisPoints: 0n, amount: 0n },
      { ...nothing, kind: 'deprecated', address: expect.stringMatching(/^[0-9a-f]{40}$/) },
    ])
  })

  it('of a transfer are no act, with a fee or in a deprecated token', () => {
    for (const i of [10, 11]) {
      const logs = recordedResult('issuer/address-as-a-topic', i) as readonly { topics: string[]; data: string }[]
      expect(actsOf(...logs.map(({ topics, data }) => logOf({ contract: usdtAddress, topics, data })))).toEqual([])
    }
  })
})

describe('an act of an issuer', () => {
  const frozen = issuerLog(usdtAddress, 'frozen', alice)
  const destroyed = issuerLog(usdtAddress, 'destroyed', alice, 5n)
  const fee = issuerLog(usdtAddress, 'fee-set', 10n, 20n)

  it('has its place, and is the same with its address as a topic or in the data', () => {
    const expected = {
      ...nothing,
      txid,
      index: 7,
      position: 3,
      contract: usdtAddress,
      kind: 'destroyed',
      address: alice,
      amount: 5n,
    }
    expect(actsOf(logOf(destroyed), logOf(unindexed(destroyed)))).toEqual([expected, expected])
  })

  it('is that of an accepted token only', () => {
    expect(actsOf(logOf(frozen, { contract: addressOf(50) }))).toEqual([])
  })

  it('can be about any amount', () => {
    const most = 2n ** 256n - 1n
    expect(actsOf(logOf(issuerLog(usdtAddress, 'destroyed', alice, most)))[0]?.amount).toBe(most)
    expect(actsOf(logOf(issuerLog(usdtAddress, 'fee-set', most, most)))[0]).toMatchObject({
      basisPoints: most,
      amount: most,
    })
  })

  const [topic = '', word = ''] = frozen.topics
  it.each<[string, Partial<Log>]>([
    ['no address', { topics: [topic], data: '0x' }],
    ['an address that is not clean', { topics: [topic, word.replace('0x00', '0x01')] }],
    ['two addresses', { topics: [topic, word, word] }],
    ['an address and a number', { topics: [topic, word], data: `0x${'0'.repeat(64)}` }],
    ['half a word', { topics: [topic], data: `0x${'0'.repeat(32)}` }],
    ['a word and a half', { topics: [topic], data: `${word}${'0'.repeat(32)}` }],
    ['another first topic', { topics: [topic.replace('0x4', '0x5'), word] }],
    ['no topic', { topics: [], data: word }],
  ])('with %s is none', (_, over) => {
    expect(actsOf(logOf(frozen, over))).toEqual([])
  })

  it.each<[string, LogSpec, Partial<Log>]>([
    ['what is destroyed, without an amount', destroyed, { data: '0x' }],
    ['what is destroyed, with two amounts', destroyed, { data: `0x${'0'.repeat(128)}` }],
    ['a pause with a parameter', issuerLog(usdtAddress, 'paused'), { data: `0x${'0'.repeat(64)}` }],
    ['a fee with one parameter', fee, { data: `0x${'0'.repeat(64)}` }],
    ['a fee with three', fee, { data: `0x${'0'.repeat(192)}` }],
    ['a successor that is no address', issuerLog(usdtAddress, 'deprecated', alice), { data: `0x${'f'.repeat(64)}` }],
  ])('is none: %s', (_, spec, over) => {
    expect(actsOf(logOf(spec, over))).toEqual([])
  })

  it('is another fact with anything else in it', () => {
    const [act] = actsOf(logOf(destroyed))
    if (act === undefined) throw new Error('no act')
    const others = [
      ...[
        { ...act, txid: 'b'.repeat(64) as Txid },
        { ...act, index: 8 },
        { ...act, position: 4 },
      ],
      ...[
        { ...act, contract: addressOf(9) },
        { ...act, kind: 'frozen' as const },
        { ...act, address: addressOf(2) },
      ],
      ...[
        { ...act, amount: 6n },
        { ...act, basisPoints: 1n },
      ],
    ]
    expect(new Set([act, ...others].map((one) => renderActs([one]))).size).toBe(9)
  })
})
