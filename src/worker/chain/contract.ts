import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from './address.ts'
import { callType, transferType } from './transaction.ts'

/**
 * What a transaction's own bytes say. A node cannot invent it, because the hash of the bytes is the
 * txid (PROTOCOL.md, Transaction bytes).
 */
export interface ParsedContract {
  /** Number of the contract type (PROTOCOL.md, Contract types). */
  readonly type: number
  /** The sender; null for contract types without one. */
  readonly owner: Address | null
  /**
   * The recipient, the receiver of a resource, or the called contract; null for contract types that
   * name none.
   */
  readonly target: Address | null
  /** Sun, positive, for a TRX transfer; null for every other type. */
  readonly amount: bigint | null
}

/**
 * Contract types that run a contract's code, so that the transaction may have logs: creating a
 * contract (30) and calling one.
 */
export const callTypes: ReadonlySet<number> = new Set([30, callType])

// By contract type: the number of the protobuf field with the owner, if it is not field 1, and of
// the field with the target, if there is one. Source: the files protocol/core/contract/*.proto of
// java-tron.
const ownerFields: ReadonlyMap<number, number> = new Map([2, 10, 19].map((type) => [type, 2]))
const targetFields: ReadonlyMap<number, number> = new Map([
  ...[0, 1, 9, 31, 33, 45, 48].map((type) => [type, 2] as const),
  ...[[2, 3] as const, [11, 15] as const, [12, 15] as const, [51, 6] as const, [57, 4] as const, [58, 4] as const],
])
/**
 * The end of the type URL of a TRX transfer. Java-tron compares only the part from the last slash
 * on (`Any.is`), so other beginnings are valid, too.
 */
const transferName = utf8ToBytes('/protocol.TransferContract')

/**
 * Parses the bytes of `raw_data` as java-tron does; null if java-tron would not accept them as a
 * transaction. The caller must have compared the SHA-256 of the bytes with the txid.
 */
export function readContract(rawData: Uint8Array): ParsedContract | null {
  try {
    // Field numbers: `Transaction.raw` and `Contract` in java-tron protocol/core/Tron.proto, `Any`
    // in google/protobuf/any.proto.
    const raw = readFields(rawData, { 11: 'once' })
    if (!raw.has(11)) return null
    const contract = readFields(bytesOf(raw, 11), { 1: 'number', 2: 'message' })
    const any = readFields(bytesOf(contract, 2), { 1: 'bytes', 2: 'bytes' })
    const type = Number(BigInt.asIntN(32, numberOf(contract, 1))) // protobuf cuts the value of an enum to 32 bits
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

/** The values of a message's fields, by field number. */
export type Fields = Map<number, bigint | Uint8Array>
/**
 * How `readFields` reads each field of interest, by field number; it skips all others. At most one
 * field may be a `message`.
 */
type Shape = Readonly<Record<number, 'number' | 'bytes' | 'message' | 'once'>>

/**
 * Parses the fields of one message by the rules of protobuf: if a field comes twice, the last value
 * counts, and the parts of a `message` are joined; a field with another wire type than expected is
 * skipped. Throws if the bytes are malformed, or if a field marked `once` comes twice.
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
        // one buffer for all parts, because copying the earlier parts for each further part could
        // take minutes
        merged = new Uint8Array(message.length)
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

/**
 * Skips a field without `BinaryReader.skip`, which makes a view of the skipped bytes: that would
 * take a third of the time of parsing a transaction.
 */
function skip(reader: BinaryReader, wireType: WireType, field: number): void {
  if (wireType !== WireType.LengthDelimited) {
    reader.skip(wireType, field)
    return
  }
  const length = reader.uint32()
  reader.pos += length
  if (reader.pos > reader.len) throw new Error('it ends early')
}

/**
 * Reads a varint as java-tron does (`CodedInputStream.readRawVarint64`): a varint of 10 bytes is
 * negative, whatever its last byte is.
 */
function readInt64(reader: BinaryReader): bigint {
  const start = reader.pos
  const value = BigInt(reader.int64())
  return reader.pos - start < 10 ? value : value | -(2n ** 63n)
}

/** Returns the bytes of a field; no bytes if it is absent, which is the default of proto3. */
export function bytesOf(fields: Fields, field: number): Uint8Array {
  const value = fields.get(field)
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}

/** Returns the number in a field; 0n if it is absent, which is the default of proto3. */
export function numberOf(fields: Fields, field: number): bigint {
  const value = fields.get(field)
  return typeof value === 'bigint' ? value : 0n
}

/** Returns the address in a field; null unless the field has 21 bytes and the first is 0x41. */
export function accountIn(fields: Fields, field: number): Address | null {
  const bytes = bytesOf(fields, field)
  return bytes.length === 21 && bytes[0] === 0x41 ? (bytesToHex(bytes.subarray(1)) as Address) : null // safe: 20 bytes
}

/**
 * Lists the numbers of all fields of a message in order, with repetitions, so that a caller can
 * refuse unexpected fields. Throws if it is malformed.
 */
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
