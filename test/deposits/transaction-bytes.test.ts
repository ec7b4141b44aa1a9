import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { proveTransfer } from '../../src/deposits/trx.ts'
import {
  alice,
  bob,
  bytes21,
  contract,
  message,
  parameterBytes,
  rawData,
  stranger,
  transferMessage,
  transferUrl,
} from './samples.ts'

const transfer = contract(1n, transferUrl, transferMessage())
const parameter = message([1, transferUrl], [2, transferMessage()])
const owner = bytes21(stranger)
const to = bytes21(alice.address)
const hex = (text: string) => hexToBytes(text.replaceAll(' ', ''))
/** A transfer with this message. */
const ofMessage = (value: Uint8Array) => rawData(contract(1n, transferUrl, value))

describe('the bytes of a TRX transfer', () => {
  it.each([
    ['other fields of the transaction', concatBytes(message([10, 'memo'], [99, 5n]), rawData(transfer))],
    ['a fee limit and a memo', concatBytes(rawData(transfer), message([18, 5n], [10, 'memo']))],
    ['other fields of the contract', rawData(message([1, 1n], [2, parameter], [3, 'p'], [5, 2n]))],
    ['other fields of the parameter', parameterBytes([1, transferUrl], [2, transferMessage()], [7, 7n])],
    ['other fields of the message', ofMessage(concatBytes(transferMessage(), message([4, 9n], [5, 'x'])))],
    ['an unknown group', concatBytes(rawData(transfer), hex('9b 06 08 01 9c 06'))],
    ['two types, the last one of a transfer', rawData(message([1, 2n], [1, 1n], [2, parameter]))],
    [
      'a parameter in two parts',
      rawData(message([1, 1n], [2, message([1, transferUrl])], [2, message([2, transferMessage()])])),
    ],
    ['two type URLs', parameterBytes([1, 'x/protocol.Vote'], [1, transferUrl], [2, transferMessage()])],
    ['two messages', parameterBytes([1, transferUrl], [2, transferMessage(bob.address, 9n)], [2, transferMessage()])],
    ['two owners', ofMessage(message([1, to], [1, owner], [2, to], [3, 1_000_000n]))],
    ['two recipients', ofMessage(message([1, owner], [2, owner], [2, to], [3, 1_000_000n]))],
    ['two amounts', ofMessage(message([1, owner], [2, to], [3, 1n], [3, 1_000_000n]))],
    ['a type in more bytes than needed', rawData(concatBytes(hex('08 81 00'), transfer.subarray(2)))],
    ['a tag in more bytes than needed', rawData(concatBytes(hex('88 00 01'), transfer.subarray(2)))],
    [
      'an amount in more bytes than needed',
      ofMessage(concatBytes(message([1, owner], [2, to]), hex('18 c0 84 bd 80 00'))),
    ],
    [
      'a length in more bytes than needed',
      ofMessage(concatBytes(hex('0a 95 80 00'), owner, message([2, to], [3, 1_000_000n]))),
    ],
    [
      'a long host in the type URL',
      parameterBytes([1, `${'x'.repeat(100_000)}/${transferUrl}`], [2, transferMessage()]),
    ],
    ['fields in another order', ofMessage(message([3, 1_000_000n], [2, to], [1, owner]))],
    ['another host in the type URL', parameterBytes([1, 'x/protocol.TransferContract'], [2, transferMessage()])],
  ])('may have %s', (_, bytes) => {
    const value = { owner: stranger, to: alice.address, amount: 1_000_000n }
    expect(proveTransfer(bytes)).toEqual({ ok: true, value })
  })

  it.each([
    ['no bytes', new Uint8Array(0), 'no-contract'],
    ['no contract', rawData(), 'no-contract'],
    ['two transfers', rawData(transfer, transfer), 'several-contracts'],
    ['a transfer and a vote', rawData(transfer, message([1, 4n])), 'several-contracts'],
    ['a transfer and an empty contract', rawData(transfer, new Uint8Array(0)), 'several-contracts'],
  ] as const)('are unreadable where there is not exactly one contract: %s', (_, bytes, why) => {
    expect(proveTransfer(bytes)).toEqual({ ok: false, error: { kind: 'unreadable', why } })
  })

  it.each([
    ['an amount as bytes', ofMessage(message([1, owner], [2, to], [3, hex('01')]))],
    [
      'an amount as 64 fixed bits',
      ofMessage(concatBytes(message([1, owner], [2, to]), hex('19 01 00 00 00 00 00 00 00'))),
    ],
    ['an owner as a number', ofMessage(message([1, 1n], [2, to], [3, 1n]))],
    ['a recipient as a group', ofMessage(concatBytes(message([1, owner], [3, 1n]), hex('13 14')))],
    ['a type as bytes', rawData(message([1, hex('01')], [2, parameter]))],
    ['a contract as a number', message([11, 1n])],
    ['a parameter as a number', rawData(message([1, 1n], [2, 1n]))],
  ])('are unreadable where a field has the wrong wire type: %s', (_, bytes) => {
    expect(proveTransfer(bytes)).toEqual({ ok: false, error: { kind: 'unreadable', why: 'wrong-wire-type' } })
  })

  it.each([
    [
      'an amount of eleven bytes',
      ofMessage(concatBytes(message([1, owner], [2, to]), hex('18 81 80 80 80 80 80 80 80 80 80 01'))),
    ],
    ['a length beyond the end', ofMessage(concatBytes(message([1, owner], [3, 1n]), hex('12 7f'), to))],
    ['a field with the number 0', concatBytes(rawData(transfer), hex('00 00'))],
    ['wire type 7', concatBytes(rawData(transfer), hex('7f'))],
    ['a group without an end', concatBytes(rawData(transfer), hex('9b 06 08 01'))],
    ['an end of a group without a start', concatBytes(rawData(transfer), hex('9c 06'))],
    ['a thousand nested groups', concatBytes(rawData(transfer), hex('9b 06'.repeat(1000)))],
    ['an incomplete number in an unknown field', concatBytes(rawData(transfer), hex('98 06 ff'))],
  ])('are malformed with %s', (_, bytes) => {
    expect(proveTransfer(bytes)).toEqual({ ok: false, error: { kind: 'unreadable', why: 'malformed' } })
  })

  it('are refused wherever they are truncated', () => {
    const bytes = rawData(transfer)
    const last = bytes.length - message([14, 1_777_448_940_000n]).length // only what follows the contract may be missing
    for (let length = 0; length < last; length += 1) expect(proveTransfer(bytes.subarray(0, length)).ok).toBe(false)
    expect(proveTransfer(bytes.subarray(0, last)).ok).toBe(true)
  })

  it('are refused without an exception where they are random', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(proveTransfer(bytes).ok).toBe(false)
      }),
    )
  })

  it('prove only a transfer that they contain, also where one byte was changed', () => {
    const original = rawData(transfer)
    fc.assert(
      fc.property(fc.nat(original.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = Uint8Array.from(original)
        bytes[at] = (bytes[at] ?? 0) ^ flip
        const proof = proveTransfer(bytes)
        // One byte can change a party or the amount (and with it the txid). It cannot make a transfer of other bytes.
        if (proof.ok) {
          const { owner: from, to: recipient, amount } = proof.value
          const again = bytesToHex(transferMessage(recipient, amount, from))
          // The amount can be written with more bytes than it needs: then the last one has its highest bit, and zeros follow.
          const last = (Number.parseInt(again.slice(-2), 16) | 0x80).toString(16)
          expect(bytesToHex(bytes)).toMatch(new RegExp(`${again}|${again.slice(0, -2)}${last}(?:80)*00`))
        }
      }),
      { numRuns: 2000 },
    )
  })
})
