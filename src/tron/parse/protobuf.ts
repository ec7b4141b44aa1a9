/** The fields of a message by number: the last value of each, as java-tron reads it. */
export type Fields = ReadonlyMap<number, bigint | Uint8Array>
/** The fields to read, by number. All others are skipped, and so is a field of these with another wire type. */
export type Shape = ReadonlyMap<number, 'number' | 'bytes' | 'message' | 'list'>

/** The bytes are no protobuf. */
class MalformedError extends Error {}

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, group: 3, endGroup: 4, fixed32: 5 } as const
const groupDepthMax = 100

/**
 * The fields of one message, by the rules of protobuf: of a field that comes twice the last value counts, messages are merged,
 * and a known number with another wire type is an unknown field. Of a `list` there is the last one, and `counts` has how
 * many there are. Null where the bytes are no message.
 */
export function readFields(message: Uint8Array, shape: Shape, counts?: Map<number, number>): Fields | null {
  const cursor = { bytes: message, at: 0 }
  const fields = new Map<number, bigint | Uint8Array>()
  try {
    while (cursor.at < message.length) {
      const tag = readVarint32(cursor)
      const [field, wireType] = [tag >>> 3, tag & 7]
      const kind = shape.get(field)
      const isExpected = wireType === (kind === 'number' ? wireTypes.varint : wireTypes.bytes)
      if (kind === undefined || !isExpected) skip(cursor, field, wireType, groupDepthMax)
      else if (kind === 'number') fields.set(field, readInt64(cursor))
      else {
        const value = readBytes(cursor)
        const before = fields.get(field)
        const isMerged = kind === 'message' && before instanceof Uint8Array
        fields.set(field, isMerged ? Uint8Array.of(...before, ...value) : value)
      }
      if (isExpected) counts?.set(field, (counts.get(field) ?? 0) + 1)
    }
    return fields
  } catch (error) {
    if (error instanceof MalformedError) return null
    throw error
  }
}

interface Cursor {
  readonly bytes: Uint8Array
  at: number
}

function readByte(cursor: Cursor): number {
  const byte = cursor.bytes[cursor.at]
  if (byte === undefined) throw new MalformedError('truncated')
  cursor.at += 1
  return byte
}

/** A tag or a length. Of more than 32 bits the lowest count, as in java-tron (`CodedInputStream.readRawVarint32`). */
function readVarint32(cursor: Cursor): number {
  let value = 0
  for (let i = 0; i < 10; i += 1) {
    const byte = readByte(cursor)
    if (i < 5) value |= (byte & 0x7f) << (7 * i)
    if (byte < 0x80) return value >>> 0
  }
  throw new MalformedError('a number of more than 10 bytes')
}

/**
 * A signed number of 64 bits. One of 10 bytes is negative whatever its last byte is, as in java-tron
 * (`CodedInputStream.readRawVarint64`); shorter ones can be padded.
 */
function readInt64(cursor: Cursor): bigint {
  let value = 0n
  for (let i = 0; i < 10; i += 1) {
    const byte = readByte(cursor)
    if (i < 9) value |= BigInt(byte & 0x7f) << BigInt(7 * i)
    if (byte < 0x80) return i === 9 ? BigInt.asIntN(64, value | (1n << 63n)) : value
  }
  throw new MalformedError('a number of more than 10 bytes')
}

function readBytes(cursor: Cursor): Uint8Array {
  const length = readVarint32(cursor)
  const start = cursor.at
  advance(cursor, length)
  return cursor.bytes.subarray(start, cursor.at)
}

function advance(cursor: Cursor, length: number): void {
  if (length > cursor.bytes.length - cursor.at) throw new MalformedError('truncated')
  cursor.at += length
}

function skip(cursor: Cursor, field: number, wireType: number, depth: number): void {
  if (field === 0 || depth === 0) throw new MalformedError('no field')
  switch (wireType) {
    case wireTypes.varint:
      readInt64(cursor)
      return
    case wireTypes.fixed64:
      advance(cursor, 8)
      return
    case wireTypes.bytes:
      readBytes(cursor)
      return
    case wireTypes.fixed32:
      advance(cursor, 4)
      return
    case wireTypes.group:
      for (;;) {
        const tag = readVarint32(cursor)
        if ((tag & 7) !== wireTypes.endGroup) skip(cursor, tag >>> 3, tag & 7, depth - 1)
        else if (tag >>> 3 === field) return
        else throw new MalformedError('the end of another group')
      }
    default:
      throw new MalformedError('an unknown wire type')
  }
}
