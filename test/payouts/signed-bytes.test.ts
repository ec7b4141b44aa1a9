import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/chain/block.ts'
import { encodeSigned, referenceOf } from '../../src/chain/transaction.ts'
import { handInReasons } from '../../src/common/reasons.ts'
import { expirationAheadMsMax, expiredMsMax, readSigned } from '../../src/payouts/signed-bytes.ts'
import { signatureOf, signTransfer } from '../support/payouts.ts'
import { build, differing, head, sun, token, trx, usdt } from './differing-bytes.ts'
import { contentOf } from './harness.ts'

const read = (transaction: string, of: Parameters<typeof readSigned>[1] = token) => {
  const result = readSigned(transaction, of, head)
  return result.ok ? 'taken' : result.error.reason
}
describe('signed bytes of a payout', () => {
  it.each([
    ['of a token', usdt(), token],
    ['of TRX', sun(), trx],
    ['with 0x before them, in capitals', `0X${usdt().toUpperCase()}`, token],
    ['that expire in just an hour', usdt({ expiration: BigInt(head.timestamp + expirationAheadMsMax) }), token],
    ['that have expired just a day ago', usdt({ expiration: BigInt(head.timestamp - expiredMsMax) }), token],
    ['that may burn just as much as they may', usdt({ feeLimit: 100_000_000n }), token],
    ['that may burn nothing', usdt({ feeLimit: 0n }), token],
    ['of TRX with a fee limit', sun({ feeLimit: 5n }), trx],
    ['without a timestamp', usdt({ timestamp: 0n }), token],
  ])('are taken %s', (_, transaction, of) => {
    expect(read(transaction, of)).toBe('taken')
  })

  it('have their txid, their expiration, and the newest block that they can refer to', () => {
    const low = (n: number) => ({ ...referenceOf(head), bytes: n.toString(16).padStart(4, '0') })
    const signed = signTransfer(contentOf(head))
    expect(readSigned(signed.transaction, token, head)).toEqual({
      ok: true,
      value: {
        ...{ bytes: signed.transaction, txid: signed.txid, reference: head.height },
        expiresAt: head.timestamp + 600_000,
      },
    })
    const referenceIn = (bytes: number) => {
      const result = readSigned(usdt({ reference: low(bytes) }), token, head)
      return result.ok ? result.value.reference - head.height : null
    }
    const last = head.height & 0xffff
    expect(referenceIn(last - 1)).toBe(-1)
    expect(referenceIn(last + 1)).toBe(-65_535) // the bytes of a block that is not final yet
    expect(referenceIn(last)).toBe(0)
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
    const ofPayouts = ['unknown-payout', 'transaction-of-another', 'transaction-ended', 'another-transaction'] // test/payouts/hand-in.test.ts
    expect(handInReasons.filter((word) => !words.has(word))).toEqual(ofPayouts)
  })

  it('also where the chain is younger than the bytes of a reference can tell', () => {
    const young = { ...head, height: 100 as BlockHeight }
    const above = signTransfer(contentOf(head, { reference: { ...referenceOf(head), bytes: '0065' } })).transaction
    const result = readSigned(above, token, young)
    expect(result.ok ? null : result.error.reason).toBe('reference')
  })

  it('but a signature with the other s and v is taken: it recovers to the same address', () => {
    const { rawData } = signTransfer(contentOf(head))
    const high = signatureOf(rawData)
    // The other s and the other v: nodes mine it under the same txid. Whichever of both is stored, blocks are searched for the txid.
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = BigInt(`0x${bytesToHex(high.subarray(32, 64))}`)
    high.set(hexToBytes((order - s).toString(16).padStart(64, '0')), 32)
    high[64] = high[64] === 27 ? 28 : 27
    expect(read(encodeSigned(rawData, high))).toBe('taken')
  })
})
