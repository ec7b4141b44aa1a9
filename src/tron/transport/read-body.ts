import { readBytes } from '../../platform/read-bytes.ts'
import {
  bytesPerValueMin,
  initialBufferBytes,
  plainBytesMin,
  replyBytesMax,
  replyDepthMax,
  replyKeysMax,
  uncheckedValuesMax,
} from '../limits.ts'

/** The whole body of a response, or null as soon as it is longer than `replyBytesMax`. */
export async function readBody({ body }: Response): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array()
  const reader = createByteReader(body)
  return reader === null ? readBytes(body, replyBytesMax) : readIntoBuffer(reader)
}

function createByteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  if (!('readAtLeast' in ReadableStreamBYOBReader.prototype)) return null // not workerd
  try {
    return body.getReader({ mode: 'byob' })
  } catch {
    return null // not a stream of bytes
  }
}

/** Reads into one growing buffer. workerd's default chunks of 4 KiB take four times as long as parsing (November 2026). */
async function readIntoBuffer(reader: ReadableStreamBYOBReader): Promise<Uint8Array | null> {
  let buffer = new Uint8Array(initialBufferBytes)
  let size = 0
  for (;;) {
    // The read takes the buffer's memory away and gives it back with `value`.
    const { done, value } = await reader.readAtLeast(buffer.byteLength - size, buffer.subarray(size))
    if (value === undefined) throw new Error('the body was cancelled')
    buffer = new Uint8Array(value.buffer)
    size += value.byteLength
    if (done) return buffer.subarray(0, size)
    if (size > replyBytesMax) break
    if (size === buffer.byteLength) {
      const larger = new Uint8Array(Math.min(2 * size, replyBytesMax + 1))
      larger.set(buffer)
      buffer = larger
    }
  }
  await reader.cancel()
  return null
}

const codeOf = (mark: string) => mark.charCodeAt(0)
const [quote, backslash, colon] = [codeOf('"'), codeOf('\\'), codeOf(':')]

/** Whether a byte outside of strings begins a value, and by how much it changes the depth. */
const startsValue = new Uint8Array(256)
for (const mark of '[{,') startsValue[codeOf(mark)] = 1
const changesDepth = new Int8Array(256)
for (const mark of '[{') changesDepth[codeOf(mark)] = 1
for (const mark of ']}') changesDepth[codeOf(mark)] = -1

/**
 * Whether parsing would take far more memory than the bytes do: too many values for the length (each but the first follows
 * `[`, `{` or a comma), too deep, too many different keys, or a long reply with texts that are not plain ASCII.
 * `random` is from 0 to 1.
 */
export function isTooDense(bytes: Uint8Array, random: number): boolean {
  const valuesMax = uncheckedValuesMax + bytes.byteLength / bytesPerValueMin
  const keys = new Set<number>()
  const seed = Math.floor(random * 2 ** 32) // so that keys with the same hash cannot be prepared
  const isLong = bytes.length > plainBytesMin
  let values = 0
  let depth = 0
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0
    if (byte === quote) {
      const end = endOfString(bytes, i, isLong)
      if (end === null) return true
      if (isKey(bytes, end)) keys.add(hashOf(bytes, i + 1, end, seed))
      if (keys.size > replyKeysMax) return true
      i = end
    } else {
      values += startsValue[byte] ?? 0
      depth += changesDepth[byte] ?? 0
      if (depth > replyDepthMax) return true
    }
  }
  return values > valuesMax
}

/** The index of the closing quote of the string that begins at `start`. Null where it must be plain ASCII and is not. */
function endOfString(bytes: Uint8Array, start: number, mustBePlain: boolean): number | null {
  for (let i = start + 1; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0
    if (byte === quote) return i
    if (mustBePlain && (byte === backslash || byte > 0x7f)) return null
    if (byte === backslash) i += 1
  }
  return bytes.length
}

/** Whether a colon follows the string that ends at `end`. */
function isKey(bytes: Uint8Array, end: number): boolean {
  let i = end + 1
  while ((bytes[i] ?? colon) <= 0x20) i += 1
  return bytes[i] === colon
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193)
  return hash
}
