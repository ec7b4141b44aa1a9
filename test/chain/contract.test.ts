import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readContract } from '../../src/worker/chain/contract.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import { addressOf } from '../support/transaction-spec.ts'

const [owner, target] = [addressOf(1), addressOf(2)]
const account = (address: string) => `0a15 1215`.split(' ').map((tag) => hexToBytes(`${tag}41${address}`))
const [ownerField = new Uint8Array(), toField = new Uint8Array()] = [account(owner)[0], account(target)[1]]
const amountField = hexToBytes('1807')
const bytesField = (field: number, bytes: Uint8Array) => new BinaryWriter().tag(field, 2).bytes(bytes).finish()
const type = hexToBytes('0801')
const typeUrl = bytesField(1, new TextEncoder().encode('type.googleapis.com/protocol.TransferContract'))

/**
 * How the bytes of a TRX transfer of 7 sun are built, from the inside to the outside. A test
 * replaces one step.
 */
interface Parts {
  message: readonly Uint8Array[]
  any: (message: Uint8Array) => readonly Uint8Array[]
  contract: (any: Uint8Array) => readonly Uint8Array[]
  raw: (contract: Uint8Array) => readonly Uint8Array[]
}
const usual: Parts = {
  message: [ownerField, toField, amountField],
  any: (message) => [typeUrl, bytesField(2, message)],
  contract: (any) => [type, bytesField(2, any)],
  raw: (contract) => [bytesField(11, contract)],
}
function encode(changes: Partial<Parts>): Uint8Array {
  const { message, any, contract, raw } = { ...usual, ...changes }
  return concatBytes(...raw(concatBytes(...contract(concatBytes(...any(concatBytes(...message)))))))
}
const hex = (digits: string) => [hexToBytes(digits.replaceAll(' ', ''))]
const paid = { type: 1, owner, target, amount: 7n }

describe('a TRX transfer is read as java-tron reads it', () => {
  it.each<[string, Partial<Parts>]>([
    ['in the usual way', {}],
    [
      'with a known number of another wire type in the message: bytes',
      { message: [...usual.message, ...hex('1a 02 78 78')] },
    ],
    [
      'with a known number of another wire type: 8 bytes',
      { message: [...usual.message, ...hex('19 01 02 03 04 05 06 07 08')] },
    ],
    ['with a number before the owner', { message: [...hex('08 05'), ...usual.message] }],
    ['with a number before the recipient', { message: [ownerField, ...hex('10 05'), toField, amountField] }],
    ['with a number as the value of Any', { any: (m) => [...hex('10 05'), ...usual.any(m)] }],
    ['with bytes as the type', { contract: (a) => [...hex('0a 02 78 78'), ...usual.contract(a)] }],
    ['with a number as a contract', { raw: (c) => [...hex('58 05'), ...usual.raw(c)] }],
    ['with an unknown group', { message: [...hex('9b 06 08 01 9c 06'), ...usual.message] }],
    ['with an amount that comes twice', { message: [ownerField, toField, ...hex('18 63'), amountField] }],
    ['with an amount padded to 9 bytes', { message: [ownerField, toField, ...hex('18 87 80 80 80 80 80 80 80 00')] }],
    ['with a tag padded to 10 bytes', { message: [ownerField, toField, ...hex('98 80 80 80 80 80 80 80 80 00 07')] }],
    [
      'with a length padded to 10 bytes',
      { message: [ownerField, toField, ...hex('a2 06 81 80 80 80 80 80 80 80 80 00 41'), amountField] },
    ],
    [
      'with a parameter in two parts, which are merged',
      {
        contract: (a) => [
          type,
          bytesField(2, a.subarray(0, typeUrl.length)),
          bytesField(2, a.subarray(typeUrl.length)),
        ],
      },
    ],
    [
      'with a parameter in 200,000 parts, the first of which is long',
      {
        contract: (a) => {
          const empty = concatBytes(...Array.from({ length: 100_000 }, () => hexToBytes('1200')))
          const long = bytesField(99, new Uint8Array(100_000))
          return [type, bytesField(2, long), bytesField(2, a), empty, empty]
        },
      },
    ],
  ])('%s', (_, parts) => {
    expect(readContract(encode(parts))).toEqual(paid)
  })

  it.each<[string, Partial<Parts>]>([
    ['an amount of zero', { message: [ownerField, toField, ...hex('18 00')] }],
    ['no amount', { message: [ownerField, toField] }],
    ['a negative amount', { message: [ownerField, toField, ...hex('18 ff ff ff ff ff ff ff ff ff 01')] }],
    [
      '10 bytes, which java-tron reads as negative',
      { message: [ownerField, toField, ...hex('18 87 80 80 80 80 80 80 80 80 7e')] },
    ],
    ['a number of 11 bytes', { message: [ownerField, toField, ...hex('18 87 80 80 80 80 80 80 80 80 80 00')] }],
    ['a truncated message', { message: [ownerField, toField.subarray(0, 9)] }],
    ['an owner of 20 bytes', { message: [bytesField(1, hexToBytes(owner)), toField, amountField] }],
    [
      'a recipient of another network',
      { message: [ownerField, bytesField(2, hexToBytes(`a0${target}`)), amountField] },
    ],
    [
      'another message type',
      { any: (m) => [bytesField(1, new TextEncoder().encode('x/protocol.TransferAssetContract')), bytesField(2, m)] },
    ],
    ['two contracts', { raw: (c) => [bytesField(11, c), bytesField(11, c)] }],
    ['no contract', { raw: () => [] }],
    ['the end of a group', { message: [...usual.message, ...hex('9c 06')] }],
    ['field 0', { message: [...usual.message, ...hex('00 00')] }],
    ['wire type 7', { message: [...usual.message, ...hex('27')] }],
  ])('and is refused with %s', (_, parts) => {
    expect(readContract(encode(parts))).toBeNull()
  })

  it('whatever owner, recipient and amount it has', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), fc.nat(2 ** 30), (amount, n) => {
        const spec = { kind: 'trx', from: addressOf(n), to: addressOf(n + 1), amount } as const
        const read = readContract(encodeRawTransaction(spec, 1_700_000_000_000 + n))
        expect(read).toEqual({ type: 1, owner: spec.from, target: spec.to, amount })
      }),
    )
  })
})

describe('bytes that are no transaction', () => {
  it('never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        readContract(bytes)
      }),
    )
  })
})
