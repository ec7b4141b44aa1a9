import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { err, ok, type Result } from '../common/result.ts'

/** Why a transaction's bytes cannot be read. None of these is ever a deposit. */
export type UnreadableReason =
  /** Truncated, or not protobuf. */
  | 'malformed'
  | 'no-contract'
  | 'several-contracts'
  /** A single field occurs twice. */
  | 'duplicate-field'
  | 'wrong-wire-type'
  /** A number or length in more bytes than it needs, or of more than 64 bits. */
  | 'odd-varint'
  | 'type-out-of-range'

/** The requested fields of a message, by field number; absent ones are missing. */
export type MessageFields = ReadonlyMap<number, bigint | Uint8Array>
/** The fields to read, by field number. Other fields are skipped. */
export type MessageShape = ReadonlyMap<number, 'number' | 'bytes'>

/** The only contract of a transaction. `value` is its message, encoded as `typeUrl` says. */
export interface TransactionContract {
  readonly type: number
  readonly typeUrl: string
  readonly value: Uint8Array
}

// java-tron protocol/core/Tron.proto, google/protobuf/any.proto (PROTOCOL.md, Transaction bytes)
const rawField = { contract: 11 } as const
const contractField = { type: 1, parameter: 2 } as const
const contractShape: MessageShape = new Map([
  [contractField.type, 'number'],
  [contractField.parameter, 'bytes'],
])
const anyField = { typeUrl: 1, value: 2 } as const
const anyShape: MessageShape = new Map([
  [anyField.typeUrl, 'bytes'],
  [anyField.value, 'bytes'],
])
const int32Max = 0x7fffffffn
const typeUrlMax = 256

/**
 * The one contract in a transaction's `raw_data`. java-tron hashes its own encoding of these bytes, in which every single
 * field occurs once and every number is as short as possible: any other encoding is refused, not interpreted.
 */
export function readContract(bytes: Uint8Array): Result<TransactionContract, UnreadableReason> {
  return reading(() => {
    const contracts = readRepeated(bytes, rawField.contract)
    const [contract] = contracts
    if (contract === undefined) throw new UnreadableError('no-contract')
    if (contracts.length > 1) throw new UnreadableError('several-contracts')
    const fields = readFields(contract, contractShape)
    const type = numberField(fields, contractField.type)
    if (type < 0n || type > int32Max) throw new UnreadableError('type-out-of-range')
    const any = readFields(bytesField(fields, contractField.parameter), anyShape)
    const typeUrl = bytesField(any, anyField.typeUrl)
    if (typeUrl.length > typeUrlMax) throw new UnreadableError('malformed')
    return { type: Number(type), typeUrl: String.fromCharCode(...typeUrl), value: bytesField(any, anyField.value) }
  })
}

/** The fields of one message that `shape` names, each at most once. */
export function readMessage(message: Uint8Array, shape: MessageShape): Result<MessageFields, UnreadableReason> {
  return reading(() => readFields(message, shape))
}

/** A field of bytes; empty where it is absent, as in proto3. */
export function bytesField(fields: MessageFields, field: number): Uint8Array {
  const value = fields.get(field)
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}

/** A field of a signed 64-bit number; 0n where it is absent, as in proto3. */
export function numberField(fields: MessageFields, field: number): bigint {
  const value = fields.get(field)
  return typeof value === 'bigint' ? value : 0n
}

/** Carries the reason out of nested readers. It never leaves this file. */
class UnreadableError extends Error {
  readonly reason: UnreadableReason
  constructor(reason: UnreadableReason) {
    super(reason)
    this.reason = reason
  }
}

function reading<T>(read: () => T): Result<T, UnreadableReason> {
  try {
    return ok(read())
  } catch (error) {
    return err(error instanceof UnreadableError ? error.reason : 'malformed') // the library throws at the end of bytes
  }
}

function readFields(message: Uint8Array, shape: MessageShape): MessageFields {
  const fields = new Map<number, bigint | Uint8Array>()
  forEachField(message, (reader, field, wireType) => {
    const kind = shape.get(field)
    if (kind === undefined) return false
    if (fields.has(field)) throw new UnreadableError('duplicate-field')
    expectWireType(wireType, kind === 'number' ? WireType.Varint : WireType.LengthDelimited)
    fields.set(field, kind === 'number' ? BigInt.asIntN(64, readVarint(message, reader)) : readBytes(message, reader))
    return true
  })
  return fields
}

function readRepeated(message: Uint8Array, wanted: number): readonly Uint8Array[] {
  const values: Uint8Array[] = []
  forEachField(message, (reader, field, wireType) => {
    if (field !== wanted) return false
    expectWireType(wireType, WireType.LengthDelimited)
    values.push(readBytes(message, reader))
    return true
  })
  return values
}

/** Visits every field of a message to its last byte. `visit` returns false for a field that it does not read. */
function forEachField(
  message: Uint8Array,
  visit: (reader: BinaryReader, field: number, wireType: WireType) => boolean,
): void {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const start = reader.pos
    const [field, wireType] = reader.tag()
    expectShortest(message, start, reader.pos)
    if (!visit(reader, field, wireType)) reader.skip(wireType, field)
  }
}

function expectWireType(actual: WireType, expected: WireType): void {
  if (actual !== expected) throw new UnreadableError('wrong-wire-type')
}

/** An unsigned 64-bit varint. The library drops bits above 64 silently, so the last byte is checked here. */
function readVarint(message: Uint8Array, reader: BinaryReader): bigint {
  const start = reader.pos
  const value = BigInt(reader.uint64())
  expectShortest(message, start, reader.pos)
  if (reader.pos - start === 10 && message[reader.pos - 1] !== 1) throw new UnreadableError('odd-varint')
  return value
}

function readBytes(message: Uint8Array, reader: BinaryReader): Uint8Array {
  const length = readVarint(message, reader)
  const start = reader.pos
  if (length > BigInt(reader.len - start)) throw new UnreadableError('malformed')
  reader.pos = start + Number(length)
  return message.subarray(start, reader.pos)
}

function expectShortest(message: Uint8Array, start: number, end: number): void {
  if (end - start > 1 && message[end - 1] === 0) throw new UnreadableError('odd-varint')
}
