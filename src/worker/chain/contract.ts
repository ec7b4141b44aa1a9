import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from './address.ts'
import { callType, transferType } from './transaction.ts'

/** The content of a transaction's own bytes, whatever a node claims (PROTOCOL.md, Transaction bytes). */
export interface ParsedContract {
  /** Number of the contract type. */
  readonly type: number
  /** The sender, or null if the type has no owner. */
  readonly owner: Address | null
  /** A recipient, a receiver or a called contract, or null. */
  readonly target: Address | null
  /** Sun, positive, for a TRX transfer; null for every other type. */
  readonly amount: bigint | null
}

/** Contract types that run code and may have logs. */
export const callTypes: ReadonlySet<number> = new Set([30, callType])

// java-tron protocol/core/contract/*.proto: the owner is field 1, except in these types; then the target, for types that have one.
const ownerFields: ReadonlyMap<number, number> = new Map([2, 10, 19].map((type) => [type, 2]))
const targetFields: ReadonlyMap<number, number> = new Map([
  ...[0, 1, 9, 31, 33, 45, 48].map((type) => [type, 2] as const),
  ...[[2, 3] as const, [11, 15] as const, [12, 15] as const, [51, 6] as const, [57, 4] as const, [58, 4] as const],
])
/** The part of the type URL that java-tron compares (`Any.is`): from the last slash to the end. */
const transferName = utf8ToBytes('/protocol.TransferContract')

/**
 * Parses the bytes of `raw_data` as java-tron does; null if they are not a transaction. The caller must have compared the SHA-256 of the bytes with the txid.
 */
export function readContract(rawData: Uint8Array): ParsedContract | null {
  try {
    // java-tron protocol/core/Tron.proto, google/protobuf/any.proto
    const raw = readFields(rawData, { 11: 'once' })
    if (!raw.has(11)) return null
    const contract = readFields(bytesOf(raw, 11), { 1: 'number', 2: 'message' })
    const any = readFields(bytesOf(contract, 2), { 1: 'bytes', 2: 'bytes' })
    const type = Number(BigInt.asIntN(32, numberOf(contract, 1))) // an enum has 32 bits
    return type === transferType ? readTransfer(bytesOf(any, 1), bytesOf(any, 2)) : readParties(type, bytesOf(any, 2))
  } catch {
    return null // `BinaryReader` and the code below throw on malformed bytes
  }
}

function readTransfer(typeUrl: Uint8Array, message: Uint8Array): ParsedContract | null {
  const fields = readFields(message, { 1: 'bytes', 2: 'bytes', 3: 'number' })
  const [owner, target, amount] = [accountIn(fields, 1), accountIn(fields, 2), numberOf(fields, 3)]
  const isTransfer = transferName.every((byte, i) => byte === typeUrl[typeUrl.length - transferName.length + i])
  const isWhole = isTransfer && owner !== null && target !== null && amount > 0n
  return isWhole ? { type: transferType, owner, target, amount } : null
}

function readParties(type: number, message: Uint8Array): ParsedContract {
  const [ownerField, targetField] = [ownerFields.get(type) ?? 1, targetFields.get(type) ?? 0]
  const fields = readFields(message, { [ownerField]: 'bytes', [targetField]: 'bytes' })
  return { type, owner: accountIn(fields, ownerField), target: accountIn(fields, targetField), amount: null }
}

/** Field values by number, and how fields are read. Other fields are skipped. A shape has at most one message. */
export type Fields = Map<number, bigint | Uint8Array>
type Shape = Readonly<Record<number, 'number' | 'bytes' | 'message' | 'once'>>

/**
 * Parses the fields of one message by the rules of protobuf: if a field comes twice, the last value counts and messages are merged; a known number with another
 * wire type is an unknown field. A field marked `once` must not come twice.
 */
export function readFields(message: Uint8Array, shape: Shape): Fields {
  const reader = new BinaryReader(message)
  const fields: Fields = new Map()
  let [merged, size]: [Uint8Array | null, number] = [null, 0]
  while (reader.pos < reader.len) {
    const tag = reader.uint32() // `reader.tag()` refuses padded tags, which java-tron accepts
    const [field, wireType] = [tag >>> 3, tag & 7]
    if (field === 0) throw new Error('no field')
    const [kind, before] = [shape[field], fields.get(field)]
    if (kind === 'number' && wireType === WireType.Varint) fields.set(field, readInt64(reader))
    else if (kind !== undefined && kind !== 'number' && wireType === WireType.LengthDelimited) {
      if (kind === 'once' && before !== undefined) throw new Error('twice')
      const value = reader.bytes()
      if (kind !== 'message' || !(before instanceof Uint8Array)) {
        fields.set(field, value)
        continue
      }
      if (merged === null) {
        merged = new Uint8Array(message.length) // copying all parts for each further part would take minutes
        merged.set(before)
        size = before.length
      }
      merged.set(value, size)
      size += value.length
      fields.set(field, merged.subarray(0, size))
    } else skip(reader, wireType, field)
  }
  return fields
}

/** Skips a field. `BinaryReader.skip` makes a view of everything it skips, which takes a third of the time of parsing a transaction. */
function skip(reader: BinaryReader, wireType: WireType, field: number): void {
  if (wireType !== WireType.LengthDelimited) {
    reader.skip(wireType, field)
    return
  }
  const length = reader.uint32()
  reader.pos += length
  if (reader.pos > reader.len) throw new Error('it ends early')
}

/** A number of 10 bytes is negative whatever its last byte is, as in java-tron (`CodedInputStream.readRawVarint64`). */
function readInt64(reader: BinaryReader): bigint {
  const start = reader.pos
  const value = BigInt(reader.int64())
  return reader.pos - start < 10 ? value : value | -(2n ** 63n)
}

/** The bytes of a field; empty if it is absent, as in proto3. */
export function bytesOf(fields: Fields, field: number): Uint8Array {
  const value = fields.get(field)
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}

/** The number in a field; 0n if it is absent. */
export function numberOf(fields: Fields, field: number): bigint {
  const value = fields.get(field)
  return typeof value === 'bigint' ? value : 0n
}

/** The address in a field: 21 bytes that start with 0x41; else null. */
export function accountIn(fields: Fields, field: number): Address | null {
  const bytes = bytesOf(fields, field)
  return bytes.length === 21 && bytes[0] === 0x41 ? (bytesToHex(bytes.subarray(1)) as Address) : null // safe: 20 bytes
}

/** The numbers of all fields of a message, known or not, in order. It throws if the message is malformed. */
export function fieldNumbers(message: Uint8Array): readonly number[] {
  const reader = new BinaryReader(message)
  const numbers: number[] = []
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    numbers.push(tag >>> 3)
    skip(reader, tag & 7, tag >>> 3)
  }
  return numbers
}
