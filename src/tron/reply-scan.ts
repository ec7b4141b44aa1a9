import * as limits from './limits.ts'

/** Checks a reply while it arrives, and keeps what is to be parsed. */
export interface ReplyScan {
  /** Takes the next bytes. Returns why the reply is refused, or null. */
  push(bytes: Uint8Array): 'too-large' | 'too-dense' | null
  /** Bytes that are kept. */
  size(): number
  /** Keeps them in this memory of `replyBytesMax` from now on. */
  moveTo(memory: Uint8Array<ArrayBuffer>): void
  /** The text to parse, or null where parsing it would take far more memory than its bytes do. */
  text(): string | null
}

const codeOf = (mark: string) => mark.charCodeAt(0)
const [quote, backslash, colon, comma, zero] = [codeOf('"'), codeOf('\\'), codeOf(':'), codeOf(','), codeOf('0')]
const [openArray, closeArray, openObject, closeObject] = [codeOf('['), codeOf(']'), codeOf('{'), codeOf('}')]

/** The members that are left out, where they are at least so deep: those of a transaction that are not read. */
const skippedKeys = ['raw_data', 'signature'].map((key) => new TextEncoder().encode(key))
const skippedDepthMin = 5
/** Bytes of a text that identify it as a key. */
const keyBytesMax = 32

/**
 * A scan of one reply. In place of the member `raw_data` of a transaction in a list of blocks it keeps a 0: anybody can make that
 * member large and dense, and its bytes follow as `raw_data_hex`. So with the signatures. `random` is from 0 to 1.
 */
export function createReplyScan(random: number): ReplyScan {
  const seed = Math.floor(random * 2 ** 32) // so that keys with the same hash cannot be prepared
  const skipped = skippedKeys.map((key) => key.reduce(addToHash, seed))
  const keys = new Set<number>()
  const kept = createKeptBytes()
  let [received, depth, values] = [0, 0, 0]
  let [isText, isEscaped, hash, hashed] = [false, false, seed, 0]
  /** Depth of the object whose member is being left out, or 0. */
  let skipping = 0

  /** Moves through a text from `start` on. Returns the index of its last byte in these bytes. */
  const scanText = (bytes: Uint8Array, start: number, hasEscapes: boolean): number => {
    let [i, newHash, left] = [start, hash, keyBytesMax - hashed]
    for (; i < bytes.length; i += 1) {
      if (left <= 0 && !hasEscapes) i = bytes.indexOf(quote, i) // many at a time
      const byte = bytes[i] ?? 0
      if (i === -1) i = bytes.length
      else if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) {
        isText = false
        break
      }
      if (left > 0) newHash = addToHash(newHash, byte)
      left -= 1
    }
    ;[hash, hashed] = [newHash, keyBytesMax - left]
    return i
  }

  const push: ReplyScan['push'] = (bytes) => {
    received += bytes.length
    if (received > limits.receivedBytesMax) return 'too-large'
    const hasEscapes = bytes.includes(backslash)
    let from = 0
    for (let i = 0; i < bytes.length; i += 1) {
      if (isText) {
        i = scanText(bytes, i, hasEscapes)
        continue
      }
      const byte = bytes[i]
      if (byte === quote) [isText, hash, hashed] = [true, seed, 0]
      else if (byte === openArray || byte === openObject) depth += 1
      else if (byte !== closeArray && byte !== closeObject && byte !== comma && byte !== colon) continue
      if (skipping > 0) {
        if (depth === skipping && (byte === comma || byte === closeObject)) [skipping, from] = [0, i]
        else {
          if (byte === closeArray || byte === closeObject) depth -= 1
          continue
        }
      }
      if (byte === openArray || byte === openObject || byte === comma) values += 1
      if (byte === closeArray || byte === closeObject) depth -= 1
      if (byte === colon) {
        keys.add(hash)
        if (skipped.includes(hash) && depth >= skippedDepthMin) {
          if (!kept.keep(bytes.subarray(from, i + 1)) || !kept.keep(Uint8Array.of(zero))) return 'too-large'
          skipping = depth
        }
      }
      if (depth > limits.replyDepthMax || keys.size > limits.replyKeysMax) return 'too-dense'
    }
    return skipping > 0 || kept.keep(bytes.subarray(from)) ? null : 'too-large'
  }

  const text = () => {
    const isDense = values > limits.uncheckedValuesMax + kept.size() / limits.bytesPerValueMin
    return isDense ? null : decode(kept.bytes())
  }
  return { push, size: kept.size, moveTo: kept.moveTo, text }
}

function createKeptBytes() {
  let kept = new Uint8Array(limits.smallReplyBytes / 4)
  let size = 0
  const moveTo = (memory: Uint8Array<ArrayBuffer>) => {
    memory.set(kept.subarray(0, size))
    kept = memory
  }
  /** Returns whether there is room for them. */
  const keep = (bytes: Uint8Array): boolean => {
    const needed = size + bytes.length
    if (needed > limits.replyBytesMax) return false
    if (needed > kept.length) moveTo(new Uint8Array(Math.min(2 * needed, limits.replyBytesMax)))
    kept.set(bytes, size)
    size = needed
    return true
  }
  return { keep, moveTo, size: () => size, bytes: () => kept.subarray(0, size) }
}

/** The text of a reply, or null where a long one is not plain. */
function decode(bytes: Uint8Array): string | null {
  const mustBePlain = bytes.length > limits.plainBytesMin
  if (mustBePlain && !isAscii(bytes)) return null // before the text, which would take twice the memory
  const text = new TextDecoder().decode(bytes)
  return mustBePlain && text.includes('\\') ? null : text
}

/** FNV-1a. */
function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/** Whether all bytes are ASCII. Many at a time: single bytes would take as long as parsing. */
function isAscii({ buffer, byteOffset, length }: Uint8Array): boolean {
  const words = new Uint32Array(buffer, byteOffset, Math.floor(length / 4))
  let all = 0
  for (const byte of new Uint8Array(buffer, byteOffset + words.byteLength, length % 4)) all |= byte
  for (let i = 0; i < words.length; i += 1) all |= words[i] ?? 0
  return (all & 0x80808080) === 0
}
