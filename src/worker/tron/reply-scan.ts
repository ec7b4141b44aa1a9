import * as limits from './limits.ts'

const codeOf = (mark: string) => mark.charCodeAt(0)
const [quote, backslash, colon, comma, zero] = [codeOf('"'), codeOf('\\'), codeOf(':'), codeOf(','), codeOf('0')]
const [openArray, closeArray, openObject, closeObject] = [codeOf('['), codeOf(']'), codeOf('{'), codeOf('}')]

/**
 * Members of a transaction that are left out, because they are not read. In a list of blocks a
 * transaction is at depth 5.
 */
const skippedKeys: ReadonlySet<string> = new Set(['raw_data', 'signature'])
const skippedDepthMin = 5
/** Bytes of a key that are compared. Nodes write at most 22. */
const keyBytesMax = 32

/**
 * Checks a reply while it arrives, and keeps the part to parse. The member `raw_data` of a
 * transaction in a list of blocks is replaced by a 0: anybody can make it large and dense, and its
 * bytes follow as `raw_data_hex`. The signatures are replaced, too.
 */
export function createReplyScan() {
  let kept = new Uint8Array(limits.smallReplyBytes / 4)
  const keys = createKeys()
  let [size, received, values, isFull] = [0, 0, 0, false]
  /**
   * `skipping`: the depth of the object whose member is left out, or 0. `textStart`: where the
   * newest text begins in the next bytes; below 0 if it began before them.
   */
  let state = { depth: 0, skipping: 0, textStart: 0, isText: false, isEscaped: false }

  /** Keeps the bytes in this memory of `replyBytesMax` from now on. */
  const moveTo = (memory: Uint8Array<ArrayBuffer>) => {
    memory.set(kept.subarray(0, size))
    kept = memory
  }
  const keep = (bytes: Uint8Array) => {
    const needed = size + bytes.length
    if (needed > limits.replyBytesMax) isFull = true
    if (isFull) return
    if (needed > kept.length) moveTo(new Uint8Array(Math.min(2 * needed, limits.replyBytesMax)))
    kept.set(bytes, size)
    size = needed
  }

  /** Takes the next bytes. Returns why the reply is refused, or null. */
  const push = (bytes: Uint8Array): 'too-large' | 'too-dense' | null => {
    received += bytes.length
    if (received > limits.receivedBytesMax) return 'too-large'
    const hasEscapes = bytes.includes(backslash)
    let { depth, skipping, textStart, isText, isEscaped } = state // members of `state` take three times as long
    let from = 0
    for (let i = 0; i < bytes.length; i += 1) {
      if (isText && !hasEscapes && !isEscaped) i = bytes.indexOf(quote, i) // jumps to the end of the text
      if (i === -1) break
      const byte = bytes[i]
      if (isText) {
        if (isEscaped || byte === backslash) isEscaped = !isEscaped
        else if (byte === quote) isText = false
        continue
      }
      const isOpen = byte === openArray || byte === openObject
      const isClose = byte === closeArray || byte === closeObject
      if (isOpen) depth += 1
      if (skipping > 0 && depth === skipping && (byte === comma || isClose)) [skipping, from] = [0, i]
      if (byte === quote) [isText, textStart] = [true, i + 1]
      else if (skipping === 0 && (isOpen || byte === comma)) values += 1
      else if (skipping === 0 && byte === colon) {
        const length = Math.min(i - 1 - textStart, keyBytesMax)
        if (textStart < from) {
          keep(bytes.subarray(from, i + 1)) // the key began in earlier bytes, which are kept
          from = i + 1
        }
        const key =
          from > textStart ? keys.read(kept, size - (i + 1 - textStart), length) : keys.read(bytes, textStart, length)
        if (keys.different() > limits.replyKeysMax) return 'too-dense'
        if (skippedKeys.has(key) && depth >= skippedDepthMin) {
          keep(bytes.subarray(from, i + 1))
          keep(Uint8Array.of(zero))
          skipping = depth
        }
      }
      if (isClose) depth -= 1
      if (depth > limits.replyDepthMax) return 'too-dense'
    }
    state = { depth, skipping, textStart: textStart - bytes.length, isText, isEscaped }
    if (skipping === 0) keep(bytes.subarray(from))
    return isFull ? 'too-large' : null
  }

  const isDense = () => values > limits.uncheckedValuesMax + size / limits.bytesPerValueMin
  /**
   * `text` is the text to parse, or null if parsing it would take far more memory than its bytes
   * do.
   */
  return { push, size: () => size, moveTo, text: () => (isDense() ? null : decode(kept.subarray(0, size))) }
}

/**
 * Keeps the texts of keys. The same keys come thousands of times, and making each text anew would
 * take as long as the rest of the scan.
 */
function createKeys() {
  const all = new Set<string>()
  const newest: string[] = [] // the newest key for each hash of the bytes
  const read = (bytes: Uint8Array, start: number, length: number): string => {
    let slot = 0
    for (let i = 0; i < length; i += 1) slot = (slot * 31 + (bytes[start + i] ?? 0)) & 1023
    const before = newest[slot]
    let isSame = before?.length === length
    for (let i = 0; isSame && i < length; i += 1) isSame = before?.charCodeAt(i) === bytes[start + i]
    if (isSame && before !== undefined) return before
    const key = String.fromCharCode(...bytes.subarray(start, start + length))
    newest[slot] = key
    all.add(key)
    return key
  }
  return { read, different: () => all.size }
}

/**
 * Decodes a reply. Null if it is longer than `plainBytesMin` bytes and is not plain ASCII without
 * backslashes.
 */
function decode(bytes: Uint8Array): string | null {
  const mustBePlain = bytes.length > limits.plainBytesMin
  if (mustBePlain && !isAscii(bytes)) return null // checked before the text is made, which would take twice the memory
  const text = new TextDecoder().decode(bytes)
  return mustBePlain && text.includes('\\') ? null : text
}

/**
 * Whether all bytes are ASCII. It tests many at a time: single bytes would take as long as parsing.
 */
function isAscii({ buffer, byteOffset, length }: Uint8Array): boolean {
  const words = new Uint32Array(buffer, byteOffset, Math.floor(length / 4))
  let all = 0
  for (const byte of new Uint8Array(buffer, byteOffset + words.byteLength, length % 4)) all |= byte
  for (let i = 0; i < words.length; i += 1) all |= words[i] ?? 0
  return (all & 0x80808080) === 0
}
