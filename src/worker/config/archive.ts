import { base64 } from '@scure/base'
import * as z from 'zod/mini'
import type { ArchiveBucket } from '../archive/bucket.ts'
import { optional, parsedBy, text } from './schemas.ts'

/** `ARCHIVE` and `SEAL_KEY`. */
export interface ArchiveConfig {
  readonly bucket: ArchiveBucket
  /** An Ed25519 private key as PKCS#8; null without `SEAL_KEY`. */
  readonly sealKey: Uint8Array | null
}

const archiveExpected = 'the name of an R2 bucket binding'
const keyExpected =
  'an Ed25519 private key as PKCS#8 in base64: openssl genpkey -algorithm ed25519 -outform DER | base64'
/** The bytes before the 32 bytes of the key (RFC 8410). */
const keyStart = '302e020100300506032b657004220420'

const sealKey = parsedBy(text(keyExpected), (value, refuse): Uint8Array => {
  const bytes = decode(value)
  const start = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return bytes.length === 48 && start === keyStart ? bytes : refuse(keyExpected)
})

/** The bytes of a text in base64; none for any other text. */
function decode(value: string): Uint8Array {
  try {
    return base64.decode(value)
  } catch {
    return new Uint8Array()
  }
}

const isBucket = (value: unknown): value is ArchiveBucket =>
  typeof value === 'object' && value !== null && ['put', 'get', 'list'].every((name) => name in value)

/** Parses `ARCHIVE` with the binding that it names; null without it. Its input is all bindings. */
export const archiveSchema = parsedBy(
  z.looseObject({ ARCHIVE: optional(text(archiveExpected)), SEAL_KEY: optional(sealKey) }),
  ({ ARCHIVE: name, SEAL_KEY: key, ...bindings }, refuse): ArchiveConfig | null => {
    if (name === null) return null
    const bucket = bindings[name]
    return isBucket(bucket) ? { bucket, sealKey: key } : refuse(archiveExpected, 'ARCHIVE')
  },
)
