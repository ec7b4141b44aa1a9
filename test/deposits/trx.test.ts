import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { utils } from 'tronweb'
import { describe, expect, it } from 'vitest'
import { formatHex } from '../../src/addresses/address.ts'
import { nativeTransfer, proveTransfer } from '../../src/deposits/trx.ts'
import { anyAddress } from '../support/arbitraries.ts'
import {
  alice,
  bytes21,
  contract,
  type Field,
  message,
  otherBytes,
  rawData,
  stranger,
  transaction,
  transferBytes,
  transferMessage,
  transferUrl,
  trc10Bytes,
} from './samples.ts'

const int64Max = 2n ** 63n - 1n
const transfer = contract(1n, transferUrl, transferMessage())
const ofMessage = (value: Uint8Array) => rawData(contract(1n, transferUrl, value))
const owner = bytes21(stranger)
const to = bytes21(alice.address)
const any = (...fields: readonly Field[]) => rawData(message([1, 1n], [2, message(...fields)]))
const text = (hex: string) => hexToBytes(hex.replaceAll(' ', ''))

/** The raw_data that TronWeb itself writes for a TRX transfer. */
function tronWebBytes(from: string, recipient: string, amount: number): Uint8Array {
  const pb = utils.transaction.txJsonToPb({
    raw_data: {
      contract: [
        {
          type: 'TransferContract',
          parameter: {
            type_url: transferUrl,
            value: { owner_address: from, to_address: recipient, amount },
          },
        },
      ],
      ref_block_bytes: '1ca0',
      ref_block_hash: '0102030405060708',
      expiration: 1_777_449_000_000,
      timestamp: 1_777_448_940_000,
    },
  })
  return hexToBytes(utils.transaction.txPbToRawDataHex(pb))
}

describe('what looks like a TRX transfer', () => {
  it.each([
    ['a transfer', {}, true],
    ['the smallest one', { value: '0x1' }, true],
    ['leading zeros', { value: '0x00f4240', gas: '0x00' }, true],
    ['a gas that is absent', { gas: '0x' }, true],
    ['nobody as recipient', { to: null }, false],
    ['zero', { value: '0x0' }, false],
    ['zero in many digits', { value: '0x0000' }, false],
    ['no value', { value: '0x' }, false],
    ['call data', { input: '0xa9059cbb' }, false],
    ['energy used', { gas: '0x1' }, false],
  ] as const)('%s', (_, over, expected) => {
    expect(nativeTransfer(transaction(over)) !== null).toBe(expected)
  })
})

describe('the proof of a TRX transfer', () => {
  it('is read exactly from the bytes that TronWeb writes', () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, fc.maxSafeNat(), (from, recipient, n) => {
        const amount = Math.max(1, n)
        const bytes = tronWebBytes(formatHex(from), formatHex(recipient), amount)
        expect(proveTransfer(bytes)).toEqual({
          ok: true,
          value: { owner: from, to: recipient, amount: BigInt(amount) },
        })
      }),
    )
  })

  it.each([1n, 127n, 128n, 2n ** 53n + 1n, int64Max - 1n, int64Max])('is exact for %d sun', (amount) => {
    expect(proveTransfer(transferBytes(alice.address, amount))).toEqual({
      ok: true,
      value: { owner: stranger, to: alice.address, amount },
    })
  })

  it.each([
    ['in the transaction', concatBytes(message([10, 'memo'], [99, 5n]), rawData(transfer))],
    ['with a fee limit and a memo', concatBytes(rawData(transfer), message([18, 5n], [10, 'memo']))],
    [
      'in the contract',
      rawData(message([1, 1n], [2, message([1, transferUrl], [2, transferMessage()])], [3, 'p'], [5, 2n])),
    ],
    ['in the parameter', any([1, transferUrl], [2, transferMessage()], [7, 7n])],
    ['in the message', ofMessage(concatBytes(transferMessage(), message([4, 9n], [5, 'x'])))],
    ['in another order', ofMessage(message([3, 1_000_000n], [2, to], [1, owner]))],
    ['as a group', concatBytes(rawData(transfer), text('9b 06 08 01 9c 06'))],
    ['with another host in its type URL', any([1, 'x/protocol.TransferContract'], [2, transferMessage()])],
  ])('tolerates fields it does not know: %s', (_, bytes) => {
    expect(proveTransfer(bytes)).toEqual({
      ok: true,
      value: { owner: stranger, to: alice.address, amount: 1_000_000n },
    })
  })

  it.each([
    ['a TRC-10 transfer', trc10Bytes(), 2],
    ['a vote', otherBytes(4), 4],
    [
      'a contract without a type, which is type 0',
      rawData(message([2, message([1, transferUrl], [2, transferMessage()])])),
      0,
    ],
    ['a transfer labelled as TRC-10', rawData(contract(2n, transferUrl, transferMessage())), 2],
    ['a type nobody knows', otherBytes(4711), 4711],
    ['the largest type', otherBytes(0x7fffffff), 0x7fffffff],
  ])('is not %s', (_, bytes, type) => {
    expect(proveTransfer(bytes)).toEqual({ ok: false, error: { kind: 'other-contract', type } })
  })

  it.each([
    ['nothing', new Uint8Array(0), 'no-contract'],
    ['a transaction without a contract', rawData(), 'no-contract'],
    ['two transfers', rawData(transfer, transfer), 'several-contracts'],
    ['a transfer and a vote', rawData(transfer, message([1, 4n])), 'several-contracts'],
    ['an empty contract behind the transfer', rawData(transfer, new Uint8Array(0)), 'several-contracts'],
    [
      'two types',
      rawData(message([1, 2n], [1, 1n], [2, message([1, transferUrl], [2, transferMessage()])])),
      'duplicate-field',
    ],
    ['two parameters', rawData(concatBytes(transfer, message([2, message([1, transferUrl])]))), 'duplicate-field'],
    ['two type URLs', any([1, 'x/protocol.Vote'], [1, transferUrl], [2, transferMessage()]), 'duplicate-field'],
    ['two messages', any([1, transferUrl], [2, transferMessage()], [2, transferMessage()]), 'duplicate-field'],
    ['two owners', ofMessage(message([1, owner], [1, owner], [2, to], [3, 1n])), 'duplicate-field'],
    ['two recipients', ofMessage(message([1, owner], [2, owner], [2, to], [3, 1n])), 'duplicate-field'],
    ['two amounts', ofMessage(message([1, owner], [2, to], [3, 1n], [3, 9n])), 'duplicate-field'],
    [
      'a TRC-10 message under the label of a transfer',
      any([1, 'type.googleapis.com/protocol.TransferAssetContract'], [2, transferMessage()]),
      'wrong-type-url',
    ],
    ['no type URL', any([2, transferMessage()]), 'wrong-type-url'],
    ['a type URL without a slash', any([1, 'protocol.TransferContract'], [2, transferMessage()]), 'wrong-type-url'],
    ['a type URL with an ending', any([1, `${transferUrl}2`], [2, transferMessage()]), 'wrong-type-url'],
    ['a type URL in other letters', any([1, transferUrl.toLowerCase()], [2, transferMessage()]), 'wrong-type-url'],
    ['an endless type URL', any([1, 'x'.repeat(100_000) + transferUrl], [2, transferMessage()]), 'malformed'],
    ['no parameter', rawData(message([1, 1n])), 'wrong-type-url'],
    ['no owner', ofMessage(message([2, to], [3, 1n])), 'bad-owner'],
    ['an owner of 20 bytes', ofMessage(message([1, owner.subarray(1)], [2, to], [3, 1n])), 'bad-owner'],
    [
      'an owner of another network',
      ofMessage(message([1, concatBytes(text('a0'), owner.subarray(1))], [2, to], [3, 1n])),
      'bad-owner',
    ],
    ['no recipient', ofMessage(message([1, owner], [3, 1n])), 'bad-recipient'],
    ['a recipient of 20 bytes', ofMessage(message([1, owner], [2, to.subarray(1)], [3, 1n])), 'bad-recipient'],
    [
      'a recipient of 22 bytes',
      ofMessage(message([1, owner], [2, concatBytes(to, text('00'))], [3, 1n])),
      'bad-recipient',
    ],
    [
      'a recipient of another network',
      ofMessage(message([1, owner], [2, concatBytes(text('a0'), to.subarray(1))], [3, 1n])),
      'bad-recipient',
    ],
    ['no amount', ofMessage(message([1, owner], [2, to])), 'amount-not-positive'],
    ['an amount of zero', ofMessage(message([1, owner], [2, to], [3, 0n])), 'amount-not-positive'],
    ['an amount of minus one', ofMessage(message([1, owner], [2, to], [3, -1n])), 'amount-not-positive'],
    ['the most negative amount', ofMessage(message([1, owner], [2, to], [3, -(2n ** 63n)])), 'amount-not-positive'],
    ['an amount as bytes', ofMessage(message([1, owner], [2, to], [3, text('01')])), 'wrong-wire-type'],
    [
      'an amount as 64 fixed bits',
      ofMessage(concatBytes(message([1, owner], [2, to]), text('19 01 00 00 00 00 00 00 00'))),
      'wrong-wire-type',
    ],
    ['an owner as a number', ofMessage(message([1, 1n], [2, to], [3, 1n])), 'wrong-wire-type'],
    ['a recipient as a group', ofMessage(concatBytes(message([1, owner], [3, 1n]), text('13 14'))), 'wrong-wire-type'],
    [
      'a type as bytes',
      rawData(message([1, text('01')], [2, message([1, transferUrl], [2, transferMessage()])])),
      'wrong-wire-type',
    ],
    ['a contract as a number', message([11, 1n]), 'wrong-wire-type'],
    ['a parameter as a number', rawData(message([1, 1n], [2, 1n])), 'wrong-wire-type'],
    ['a type of 2^32 + 1', rawData(contract(2n ** 32n + 1n, transferUrl, transferMessage())), 'type-out-of-range'],
    ['a type of -1', rawData(contract(-1n, transferUrl, transferMessage())), 'type-out-of-range'],
    ['a type written longer than needed', rawData(concatBytes(text('08 81 00'), transfer.subarray(2))), 'odd-varint'],
    ['a tag written longer than needed', rawData(concatBytes(text('88 00 01'), transfer.subarray(2))), 'odd-varint'],
    [
      'an amount written longer than needed',
      ofMessage(concatBytes(message([1, owner], [2, to]), text('18 81 80 00'))),
      'odd-varint',
    ],
    [
      'an amount past 64 bits',
      ofMessage(concatBytes(message([1, owner], [2, to]), text('18 81 80 80 80 80 80 80 80 80 02'))),
      'odd-varint',
    ],
    [
      'an amount of eleven bytes',
      ofMessage(concatBytes(message([1, owner], [2, to]), text('18 81 80 80 80 80 80 80 80 80 80 01'))),
      'malformed',
    ],
    [
      'a length of 2^32 + 21',
      ofMessage(concatBytes(text('0a 95 80 80 80 10'), owner, message([2, to], [3, 1n]))),
      'malformed',
    ],
    ['a length past the end', ofMessage(concatBytes(message([1, owner], [3, 1n]), text('12 7f'), to)), 'malformed'],
    ['field number zero', concatBytes(rawData(transfer), text('00 00')), 'malformed'],
    ['wire type seven', concatBytes(rawData(transfer), text('7f')), 'malformed'],
    ['a group that is never closed', concatBytes(rawData(transfer), text('9b 06 08 01')), 'malformed'],
    ['the end of a group that never began', concatBytes(rawData(transfer), text('9c 06')), 'malformed'],
    ['a thousand groups in each other', concatBytes(rawData(transfer), text('9b 06'.repeat(1000))), 'malformed'],
    ['an unfinished unknown number', concatBytes(rawData(transfer), text('98 06 ff')), 'malformed'],
  ] as const)('refuses %s', (_, bytes, why) => {
    expect(proveTransfer(bytes)).toEqual({ ok: false, error: { kind: 'unreadable', why } })
  })

  it('is refused wherever the bytes are cut off', () => {
    const bytes = rawData(transfer)
    const last = bytes.length - message([14, 1_777_448_940_000n]).length // only what follows the contract may be missing
    for (let length = 0; length < last; length += 1) expect(proveTransfer(bytes.subarray(0, length)).ok).toBe(false)
    expect(proveTransfer(bytes.subarray(0, last)).ok).toBe(true)
  })

  it('never throws, and never proves what random bytes do not hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(proveTransfer(bytes).ok).toBe(false)
      }),
    )
  })

  it('proves nothing but the transfer itself from bytes that were tampered with', () => {
    const honest = rawData(transfer)
    fc.assert(
      fc.property(fc.nat(honest.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = Uint8Array.from(honest)
        bytes[at] = (bytes[at] ?? 0) ^ flip
        const proof = proveTransfer(bytes)
        // One byte can change a party or the amount (the txid would change with it), never make one of nothing.
        if (proof.ok) {
          const { owner: from, to: recipient, amount } = proof.value
          const again = bytesToHex(transferMessage(recipient, amount, from))
          expect(bytesToHex(bytes)).toContain(again)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
