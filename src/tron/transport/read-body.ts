import { bytesPerValueMin, initialBufferBytes, replyBytesMax, uncheckedValuesMax } from '../limits.ts'

/** The whole body of a response, or null as soon as it is longer than `replyBytesMax`. */
export async function readBody({ body }: Response): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array()
  const reader = createByteReader(body)
  return reader === null ? readChunks(body.getReader()) : readIntoBuffer(reader)
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

async function readChunks(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.byteLength
    chunks.push(read.value)
    if (size <= replyBytesMax) continue
    await reader.cancel()
    return null
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

const startsValue = new Uint8Array(256)
for (const mark of '[{,') startsValue[mark.charCodeAt(0)] = 1

/** Whether parsing would take far more memory than the bytes do. Each JSON value but the first follows one of these marks. */
export function isTooDense(bytes: Uint8Array): boolean {
  let values = 0
  for (let i = 0; i < bytes.length; i += 1) values += startsValue[bytes[i] ?? 0] ?? 0 // for…of takes many times as long
  return values > uncheckedValuesMax + bytes.byteLength / bytesPerValueMin
}
