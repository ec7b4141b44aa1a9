/**
 * Reads the body of a request or a response. If it has more than `bytesMax` bytes, cancels the
 * stream and returns null. A null body counts as empty.
 */
export async function readBytes(
  body: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > bytesMax) return null // leaving the loop cancels the stream
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
