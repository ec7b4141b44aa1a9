import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { hexToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../../src/worker/chain/address.ts'
import { addressOf } from '../support/transaction-spec.ts'
import type { Random } from './random.ts'

/**
 * The parts of the bytes of a TRX transfer, from the inside out. Each is a list of encoded fields.
 */
interface Parts {
  readonly transfer: string[]
  readonly any: string[]
  readonly contract: string[]
  readonly raw: string[]
}

/** A known field number with another wire type: an unknown field, which protobuf skips. */
const skipped = { text3: '1a027878', fixed3: '190102030405060708', varint1: '0805', varint2: '1005' }

/** Each unusual encoding that java-tron mines and pays (PROTOCOL.md, Transaction bytes). */
const oddities: readonly ((parts: Parts, transfer: { to: Address; amount: bigint }) => void)[] = [
  ({ transfer }) => transfer.splice(2, 0, number(3, 1n)), // the last value of a field counts
  ({ transfer }) => transfer.splice(1, 0, account(2, addressOf(0x1001))),
  ({ transfer }, { amount }) => transfer.splice(2, 1, padded(3, amount)),
  ({ transfer }) => transfer.reverse(),
  ({ transfer }) => transfer.push(skipped.text3),
  ({ transfer }) => transfer.push(skipped.fixed3),
  ({ transfer }) => transfer.unshift(skipped.varint1),
  ({ transfer }) => transfer.splice(1, 0, skipped.varint2),
  ({ any }) => any.push(skipped.varint2),
  ({ contract }) => contract.unshift('0a027878'),
  ({ raw }) => raw.push('5805'),
]

/**
 * The bytes of a TRX transfer in one of the encodings that protobuf reads and few writers write.
 */
export function encodeOddly(
  random: Random,
  spec: { readonly from: Address; readonly to: Address; readonly amount: bigint },
  timestamp: number,
): Uint8Array {
  const parts: Parts = {
    transfer: [account(1, spec.from), account(2, spec.to), number(3, spec.amount)],
    any: [],
    contract: [],
    raw: [],
  }
  random.pick(oddities)(parts, spec)
  const type = new BinaryWriter().tag(1, 2).string('type.googleapis.com/protocol.TransferContract').finish()
  const any = [toHex(type), bytes(2, parts.transfer.join('')), ...parts.any]
  const contract = [...parts.contract, number(1, 1n), bytes(2, any.join(''))]
  const raw = [
    bytes(1, '1ca0'),
    bytes(4, '5cf728c92ee79f5f'),
    number(8, BigInt(timestamp + 60_000)),
    bytes(11, contract.join('')),
    number(14, BigInt(timestamp)),
    ...parts.raw,
  ]
  return hexToBytes(raw.join(''))
}

const toHex = (data: Uint8Array) => Buffer.from(data).toString('hex')
const bytes = (no: number, hex: string) => toHex(new BinaryWriter().tag(no, 2).bytes(hexToBytes(hex)).finish())
const account = (no: number, address: Address) => bytes(no, `41${address}`)
const number = (no: number, value: bigint) => toHex(new BinaryWriter().tag(no, 0).int64(value).finish())

/**
 * A varint of nine bytes, whatever the value is. java-tron reads a varint of ten bytes as a
 * negative number (CodedInputStream.readRawVarint64).
 */
function padded(no: number, value: bigint): string {
  const digits = Array.from({ length: 9 }, (_, i) => {
    const seven = Number((value >> BigInt(i * 7)) & 0x7fn)
    return (seven | (i < 8 ? 0x80 : 0)).toString(16).padStart(2, '0')
  })
  return toHex(new BinaryWriter().tag(no, 0).finish()) + digits.join('')
}
