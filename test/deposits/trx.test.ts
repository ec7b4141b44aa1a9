import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { utils } from 'tronweb'
import { describe, expect, it } from 'vitest'
import { formatHex } from '../../src/chain/address.ts'
import { nativeTransfer, proveTransfer } from '../../src/deposits/trx.ts'
import { anyAddress } from '../support/arbitraries.ts'
import {
  alice,
  bytes21,
  contract,
  type Field,
  message,
  otherBytes,
  parameterBytes,
  rawData,
  stranger,
  transaction,
  transferBytes,
  transferMessage,
  transferUrl,
  trc10Bytes,
} from './samples.ts'

const int64Max = 2n ** 63n - 1n
const owner = bytes21(stranger)
const to = bytes21(alice.address)
const otherNetwork = (address: Uint8Array) => concatBytes(hexToBytes('a0'), address.subarray(1))
const transferOf = (...fields: readonly Field[]) => rawData(contract(1n, transferUrl, message(...fields)))
const parameter = message([1, transferUrl], [2, transferMessage()])

/** The `raw_data` that TronWeb makes for a TRX transfer. */
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

describe('a transaction looks like a TRX transfer', () => {
  it.each([
    ['where it is a transfer', {}, true],
    ['where it is the smallest transfer', { value: '0x1' }, true],
    ['where its value has leading zeros', { value: '0x00f4240' }, true],
    ['unless it has no recipient', { to: null }, false],
    ['unless its value is 0', { value: '0x0' }, false],
    ['unless its value is 0 in several digits', { value: '0x0000' }, false],
    ['unless its value is absent', { value: '0x' }, false],
    ['unless it has call data', { input: '0xa9059cbb' }, false],
  ] as const)('%s', (_, over, expected) => {
    expect(nativeTransfer(transaction(over)) !== null).toBe(expected)
  })
})

describe('the proof of a TRX transfer', () => {
  it('has the parties and the amount of the bytes that TronWeb makes', () => {
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
    ['a TRC-10 transfer', trc10Bytes(), 2],
    ['a vote', otherBytes(4), 4],
    ['a contract without a type, which is type 0', rawData(message([2, parameter])), 0],
    ['a TRX transfer with the type of a TRC-10 transfer', rawData(contract(2n, transferUrl, transferMessage())), 2],
    ['an unknown type', otherBytes(4711), 4711],
    ['the largest type', otherBytes(0x7fffffff), 0x7fffffff],
  ])('does not accept %s', (_, bytes, type) => {
    expect(proveTransfer(bytes)).toEqual({ ok: false, error: { kind: 'other-contract', type } })
  })

  const url = 'type.googleapis.com/protocol.TransferAssetContract'
  it.each([
    ['the type URL of a TRC-10 transfer', parameterBytes([1, url], [2, transferMessage()]), 'wrong-type-url'],
    ['no type URL', parameterBytes([2, transferMessage()]), 'wrong-type-url'],
    [
      'a type URL without a slash',
      parameterBytes([1, 'protocol.TransferContract'], [2, transferMessage()]),
      'wrong-type-url',
    ],
    ['a type URL with a suffix', parameterBytes([1, `${transferUrl}2`], [2, transferMessage()]), 'wrong-type-url'],
    [
      'a type URL in lower case',
      parameterBytes([1, transferUrl.toLowerCase()], [2, transferMessage()]),
      'wrong-type-url',
    ],
    ['no parameter', rawData(message([1, 1n])), 'wrong-type-url'],
    ['no owner', transferOf([2, to], [3, 1n]), 'bad-owner'],
    ['an owner of 20 bytes', transferOf([1, owner.subarray(1)], [2, to], [3, 1n]), 'bad-owner'],
    ['an owner of another network', transferOf([1, otherNetwork(owner)], [2, to], [3, 1n]), 'bad-owner'],
    ['no recipient', transferOf([1, owner], [3, 1n]), 'bad-recipient'],
    ['a recipient of 20 bytes', transferOf([1, owner], [2, to.subarray(1)], [3, 1n]), 'bad-recipient'],
    [
      'a recipient of 22 bytes',
      transferOf([1, owner], [2, concatBytes(to, new Uint8Array(1))], [3, 1n]),
      'bad-recipient',
    ],
    ['a recipient of another network', transferOf([1, owner], [2, otherNetwork(to)], [3, 1n]), 'bad-recipient'],
    ['no amount', transferOf([1, owner], [2, to]), 'amount-not-positive'],
    ['an amount of 0', transferOf([1, owner], [2, to], [3, 0n]), 'amount-not-positive'],
    ['an amount of -1', transferOf([1, owner], [2, to], [3, -1n]), 'amount-not-positive'],
    ['the lowest negative amount', transferOf([1, owner], [2, to], [3, -(2n ** 63n)]), 'amount-not-positive'],
  ] as const)('does not accept a transfer with %s', (_, bytes, why) => {
    expect(proveTransfer(bytes)).toEqual({ ok: false, error: { kind: 'unreadable', why } })
  })
})
