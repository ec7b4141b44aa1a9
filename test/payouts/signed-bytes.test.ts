import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import { encodeSigned, referenceOf } from '../../src/worker/chain/transaction.ts'
import { handInTexts } from '../../src/worker/common/reasons.ts'
import { expirationAheadMsMax, expiredMsMax, readSigned, txidIn } from '../../src/worker/payouts/signed-bytes.ts'
import { signatureOf, signBytes, signTransfer } from '../support/payouts.ts'
import {
  build,
  bytesField,
  differing,
  endingWith,
  head,
  padded,
  prefixed,
  sun,
  token,
  trx,
  usdt,
} from './differing-bytes.ts'
import { contentOf } from './harness.ts'

const read = (transaction: string, of: Parameters<typeof readSigned>[1] = token) => {
  const result = readSigned(transaction, of, head, null)
  return result.ok ? 'taken' : result.error.reason
}
/** A reference to the block `blocks` below the newest final one. */
const blocksAgo = (blocks: number) => {
  return { ...referenceOf(head), bytes: ((head.height - blocks) & 0xffff).toString(16).padStart(4, '0') }
}
/**
 * Bytes that expired `ms` milliseconds ago and refer to a block `blocks` below the newest final
 * one.
 */
const expired = (ms: number, blocks: number) =>
  usdt({ expiration: BigInt(head.timestamp - ms), reference: blocksAgo(blocks) })

describe('signed bytes of a payout', () => {
  it.each([
    ['of a token', usdt(), token],
    ['of TRX', sun(), trx],
    ['with 0x before them, in capitals', `0X${usdt().toUpperCase()}`, token],
    ['that expire in just an hour', usdt({ expiration: BigInt(head.timestamp + expirationAheadMsMax) }), token],
    ['that have expired just a day ago', expired(expiredMsMax, 28_800), token],
    ['that have expired when their reference block can just have been made', expired(3_600_000, 1_200), token],
    ['that may burn just as much as they may', usdt({ feeLimit: 100_000_000n }), token],
    ['that may burn just what the cheapest transfer takes', usdt({ feeLimit: 11_756n }), token],
    ['of TRX with a fee limit', sun({ feeLimit: 5n }), trx],
    ['without a timestamp', usdt({ timestamp: 0n }), token],
  ])('are taken %s', (_, transaction, of) => {
    expect(read(transaction, of)).toBe('taken')
  })

  it('have their txid, their expiration, and the newest block that they can refer to', () => {
    const signed = signTransfer(contentOf(head))
    expect(readSigned(signed.transaction, token, head, null)).toEqual({
      ok: true,
      value: {
        bytes: signed.transaction,
        txid: signed.txid,
        reference: head.height,
        expiresAt: head.timestamp + 600_000,
      },
    })
    const referenceIn = (blocks: number) => {
      const result = readSigned(usdt({ reference: blocksAgo(blocks) }), token, head, null)
      return result.ok ? result.value.reference - head.height : null
    }
    expect(referenceIn(1)).toBe(-1)
    // a block above the final one is read as the last older block with the same two bytes
    expect(referenceIn(-1)).toBe(-65_535)
    expect(referenceIn(0)).toBe(0)
  })
})

it('bytes that have expired are taken although their reference looks later: blocks can have come slowly since', () => {
  expect(read(expired(3_600_000, 1_199))).toBe('taken')
})

it('bytes are taken at any age, and with any fee limit, where the newest block is known that they can refer to', () => {
  const newest = (head.height - 100_001) as BlockHeight
  const old = {
    expiration: BigInt(head.timestamp - 290_000_000),
    reference: blocksAgo(100_005),
    feeLimit: 900_000_000n,
  }
  expect(readSigned(usdt(old), token, head, newest)).toMatchObject({
    ok: true,
    value: { reference: head.height - 100_005 },
  })
  expect(readSigned(usdt({ ...old, reference: blocksAgo(100_000) }), token, head, newest)).toMatchObject({
    ok: true,
    value: { reference: head.height - 165_536 },
  })
})

describe('the signature of a payout', () => {
  /**
   * The last byte is 27 or 28 here. tronpy, trident, WDK and wallet-core write 0 or 1 instead, and
   * nodes read 4, 5, 31 and 32 alike.
   */
  const [usual = 0] = hexToBytes(usdt()).slice(-1)
  it.each([usual - 27, usual - 23, usual, usual + 4])('is read as a node reads it: its last byte is %i', (last) => {
    expect(readSigned(endingWith(last), token, head, null)).toMatchObject({
      ok: true,
      value: { bytes: endingWith(last), txid: txidIn(usdt()) },
    })
  })

  it.each([1, 2, 3])('is taken with %i bytes behind it, and kept with them', (bytes) => {
    expect(readSigned(padded(bytes), token, head, null)).toMatchObject({ ok: true, value: { bytes: padded(bytes) } })
  })

  it('by another key is the only one that is called another signer', () => {
    const by = (key: number) => signBytes(signTransfer(contentOf(head)).rawData, new Uint8Array(32).fill(key))
    const why = (transaction: string) => {
      const result = readSigned(transaction, token, head, null)
      return result.ok ? null : result.error.why
    }
    expect(why(by(7).transaction)).toMatch(/^it is signed by T\w{33}, not by T\w{33}$/)
    expect(why(padded(4))).toBe('its signature has 69 bytes, and a node takes 65 to 68')
    expect(why(build({ message: (data) => [bytesField(1, data)] }))).toBe('it has no signature')
    for (const last of [8, 26, 35, 255]) {
      expect(why(endingWith(last))).toBe(
        `the last byte of its signature is ${last}, and a node reads 0 to 7 and 27 to 34`,
      )
    }
    const none = (data: Uint8Array) => [bytesField(1, data), bytesField(2, new Uint8Array(65))]
    expect(why(build({ message: none }))).toBe('its signature is none: it leads to no key')
  })
})

it("call data with Tron's prefix before the right recipient is refused by a sentence that says what differs", () => {
  const result = readSigned(prefixed, token, head, null)
  expect(result).toEqual({
    ok: false,
    error: {
      reason: 'wrong-call-data',
      why:
        'the recipient in its call data has 41 before its 20 bytes, which some contracts refuse: ' +
        'write 12 bytes of zero there',
    },
  })
})

it('the fields of these tests are those of the encoder', () => {
  expect(build()).toBe(usdt())
})

describe('bytes that differ from those of a payout are refused by a word', () => {
  it.each(differing)('$word: $how', ({ word, transaction, of }) => {
    expect(read(transaction, of)).toBe(word)
  })

  it('and each word is of one of these', () => {
    const words = new Set(differing.map(({ word }) => word))
    // tested in test/payouts/hand-in.test.ts
    const ofPayouts = ['unknown-payout', 'transaction-of-another', 'transaction-ended', 'another-transaction']
    const ofIssuers = ['frozen', 'paused', 'fee-unconfirmed', 'deprecated'] // tested in test/payouts/issuer.test.ts
    expect(Object.keys(handInTexts()).filter((word) => !words.has(word))).toEqual([...ofPayouts, ...ofIssuers])
  })

  it('also where the chain is younger than the bytes of a reference can tell', () => {
    const young = { ...head, height: 100 as BlockHeight }
    const above = signTransfer(contentOf(head, { reference: { ...referenceOf(head), bytes: '0065' } })).transaction
    const result = readSigned(above, token, young, null)
    expect(result.ok ? null : result.error.reason).toBe('reference')
  })

  it('but a signature with the other s and v is taken: it recovers to the same address', () => {
    const { rawData } = signTransfer(contentOf(head))
    const high = signatureOf(rawData)
    // Each signature has a twin with n − s and the other v. Nodes accept both, under the same txid,
    // by which the service finds the transaction in blocks.
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = BigInt(`0x${bytesToHex(high.subarray(32, 64))}`)
    high.set(hexToBytes((order - s).toString(16).padStart(64, '0')), 32)
    high[64] = high[64] === 27 ? 28 : 27
    expect(read(encodeSigned(rawData, high))).toBe('taken')
  })
})
