import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { concatBytes } from '@noble/hashes/utils.js'
import { err, ok, type Result } from '../common/result.ts'

/** Why a transaction's bytes cannot be read as one contract. */
export type UnreadableReason =
  /** Truncated, or not protobuf. */
  'malformed' | 'no-contract' | 'several-contracts' | 'wrong-wire-type'

/** The requested fields of a message, by field number; absent ones are missing. */
export type MessageFields = ReadonlyMap<number, bigint | Uint8Array>
/** The fields to read, by field number. Other fields are skipped. */
export type MessageShape = ReadonlyMap<number, 'number' | 'bytes' | 'message'>

/** The only contract of a transaction. `value` is its message, of the type that `typeUrl` names. */
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
  [contractField.parameter, 'message'],
])
const anyField = { typeUrl: 1, value: 2 } as const
const anyShape: MessageShape = new Map([
  [anyField.typeUrl, 'bytes'],
  [anyField.value, 'bytes'],
])

/** The one contract in a transaction's `raw_data`, read as java-tron reads it: by the rules of protobuf. */
export function readContract(bytes: Uint8Array): Result<TransactionContract, UnreadableReason> {
  return reading(() => {
    const contracts: Uint8Array[] = []
    forEachField(bytes, new Map([[rawField.contract, 'message']]), (_, value) => {
      if (value instanceof Uint8Array) contracts.push(value)
    })
    const [contract] = contracts
    if (contract === undefined) throw new UnreadableError('no-contract')
    if (contracts.length > 1) throw new UnreadableError('several-contracts')
    const fields = readFields(contract, contractShape)
    const any = readFields(bytesField(fields, contractField.parameter), anyShape)
    return {
      type: Number(BigInt.asIntN(32, numberField(fields, contractField.type))), // an enum has 32 bits
      typeUrl: new TextDecoder().decode(bytesField(any, anyField.typeUrl)),
      value: bytesField(any, anyField.value),
    }
  })
}

/** The fields of one message that `shape` names. */
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

/** Of a field that occurs twice the last value counts; messages are merged, which is what their joined bytes mean. */
function readFields(message: Uint8Array, shape: MessageShape): MessageFields {
  const fields = new Map<number, bigint | Uint8Array>()
  forEachField(message, shape, (field, value) => {
    const before = fields.get(field)
    const isMerged = shape.get(field) === 'message' && before instanceof Uint8Array && value instanceof Uint8Array
    fields.set(field, isMerged ? concatBytes(before, value) : value)
  })
  return fields
}

/** Visits the fields that `shape` names, and skips the others, to the last byte of a message. */
function forEachField(
  message: Uint8Array,
  shape: MessageShape,
  visit: (field: number, value: bigint | Uint8Array) => void,
): void {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    const kind = shape.get(field)
    if (kind === undefined) {
      reader.skip(wireType, field)
      continue
    }
    const expected = kind === 'number' ? WireType.Varint : WireType.LengthDelimited
    if (wireType !== expected) throw new UnreadableError('wrong-wire-type')
    visit(field, kind === 'number' ? BigInt(reader.int64()) : reader.bytes())
  }
}
