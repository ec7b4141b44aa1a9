import { readBytes } from '../../platform/read-bytes.ts'
import {
  bytesPerValueMin,
  initialBufferBytes,
  plainBytesMin,
  replyBytesMax,
  replyDepthMax,
  replyKeysMax,
  samplePartBytes,
  sampleParts,
  uncheckedValuesMax,
  unsampledBytesMax,
  usualBytesPerValue,
  usualKeyBytes,
  usualKeysMax,
} from '../limits.ts'

/** The memory of the newest reply, which the next one reuses: new memory for each takes a twentieth of the time of a scan. */
export interface SpareMemory {
  buffer: ArrayBuffer | null
}

/**
 * What `use` makes of the whole body of a response; undefined as soon as the body is longer than `replyBytesMax`. The bytes are
 * valid until `use` returns.
 */
export async function readBody<T>(
  { body }: Response,
  spare: SpareMemory,
  use: (bytes: Uint8Array) => T,
): Promise<T | undefined> {
  if (body === null) return use(new Uint8Array())
  const reader = createByteReader(body)
  const bytes = await (reader === null ? readBytes(body, replyBytesMax) : readIntoBuffer(reader, spare))
  if (bytes === null) return undefined
  const used = use(bytes)
  if (reader !== null && bytes.buffer.byteLength > (spare.buffer?.byteLength ?? 0)) spare.buffer = bytes.buffer
  return used
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
async function readIntoBuffer(
  reader: ReadableStreamBYOBReader,
  spare: SpareMemory,
): Promise<Uint8Array<ArrayBuffer> | null> {
  let buffer = new Uint8Array(spare.buffer ?? new ArrayBuffer(initialBufferBytes))
  spare.buffer = null // another reply can be read at the same time
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
 * The text of a reply, or null where parsing it would take far more memory than its bytes do. A long reply is judged by a random
 * sample, which takes a hundredth of the time; all of it is scanned only where the sample is not like what nodes write.
 * `random` is from 0 to 1.
 */
export function decodeReply(bytes: Uint8Array, random: number): string | null {
  const mustBePlain = bytes.length > plainBytesMin
  if (mustBePlain && !isAscii(bytes)) return null // before the text, which would take twice the memory
  const isSampled = bytes.length > unsampledBytesMax
  if (!(isSampled && isSampleUsual(bytes, random)) && isTooDense(bytes, random)) return null
  const text = new TextDecoder().decode(bytes)
  return mustBePlain && text.includes('\\') ? null : text
}

/** Whether all bytes are ASCII. Many at a time: an iterator or single bytes would take as long as parsing. */
function isAscii({ buffer, byteOffset, length }: Uint8Array): boolean {
  const words = new Uint32Array(buffer, byteOffset, 4 * Math.floor(length / 16))
  const rest = new Uint8Array(buffer, byteOffset + words.byteLength, length % 16)
  let all = 0
  for (let i = 0; i < words.length; i += 4) {
    all |= (words[i] ?? 0) | (words[i + 1] ?? 0) | (words[i + 2] ?? 0) | (words[i + 3] ?? 0)
  }
  for (const byte of rest) all |= byte
  return (all & 0x80808080) === 0
}

/**
 * Whether random parts of a reply have few values and few different keys. Marks inside of strings count as well: then the
 * reply is scanned. For a reply that takes half of the largest memory the chance to pass is below 1 in 10^12.
 */
function isSampleUsual(bytes: Uint8Array, random: number): boolean {
  const keys = new Set<number>()
  const seed = Math.floor(random * 2 ** 32)
  let place = seed
  let values = 0
  for (let part = 0; part < sampleParts; part += 1) {
    place = (Math.imul(place, 1664525) + 1013904223) >>> 0 // a linear congruential generator (Numerical Recipes)
    const start = Math.floor((place / 2 ** 32) * (bytes.length - samplePartBytes))
    for (let i = start; i < start + samplePartBytes; i += 1) {
      const byte = bytes[i] ?? 0
      values += startsValue[byte] ?? 0
      if (byte === colon) keys.add(hashOf(bytes, startOfKey(bytes, i), i, seed))
    }
  }
  return values <= (sampleParts * samplePartBytes) / usualBytesPerValue && keys.size <= usualKeysMax
}

/** The index of the opening quote of a key before the colon at `end`, at most `usualKeyBytes` before it. */
function startOfKey(bytes: Uint8Array, end: number): number {
  const first = Math.max(end - usualKeyBytes, 0)
  let i = end - 2 // the closing quote is not the opening one
  while (i > first && bytes[i] !== quote) i -= 1
  return i
}

/** Whether all of a reply has too many values for its length, too many different keys, or too deep levels. */
function isTooDense(bytes: Uint8Array, random: number): boolean {
  const valuesMax = uncheckedValuesMax + bytes.byteLength / bytesPerValueMin
  const keys = new Set<number>()
  const seed = Math.floor(random * 2 ** 32) // so that keys with the same hash cannot be prepared
  let values = 0
  let depth = 0
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0
    if (byte === quote) {
      const end = endOfString(bytes, i)
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

/** The index of the closing quote of the string that begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let i = start + 1; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0
    if (byte === quote) return i
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
