import { createPublicKey, hash, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Checkpoint, type NoteKey, openCheckpoint, parseNoteKey, readNote } from '../../worker/archive/note.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { OptionError, ToolError } from '../tool-error.ts'

/** SHA-256 by Node, which answers hex digits in half the time that a buffer takes. */
export const sha256 = (bytes: Uint8Array): Uint8Array => Buffer.from(hash('sha256', bytes, 'hex'), 'hex')

/** The bytes of a public key in DER, before its own 32 (RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.concat([spkiPrefix, publicKey]), format: 'der', type: 'spki' })
  return signature.length === 64 && verify(null, message, key, signature)
}

/** The keys and notes that a person brings to check an archive with. */
export interface Seals {
  /**
   * By the origin whose notes they sign: those of one origin in the order in which they were used.
   */
  readonly keys: ReadonlyMap<string, readonly NoteKey[]>
  /** Checkpoints that were kept elsewhere, each with its file. */
  readonly kept: readonly { readonly file: string; readonly checkpoint: Checkpoint }[]
}

/**
 * Reads keys, and checkpoints that were kept elsewhere. Throws an `OptionError` or a `ToolError`.
 */
export function readSeals(keyTexts: readonly string[], files: readonly string[]): Seals {
  const keys = new Map<string, NoteKey[]>()
  for (const text of new Set(keyTexts)) {
    const key = parseNoteKey(text, sha256)
    if (key === null) throw new OptionError('--verifier: a verifier key, <name>+<8 hex digits>+<Base64>')
    keys.set(key.name, [...(keys.get(key.name) ?? []), key])
  }
  const seals = { keys, kept: [] }
  const kept = files.map((file) => {
    const read = openSealed(readNoteFile(file), seals)
    if (!read.ok) throw new ToolError(`${file}: ${read.error}`, 'name a file with a checkpoint as it was received')
    return { file, checkpoint: read.value.checkpoint }
  })
  return { ...seals, kept }
}

/** The note in a file that a person has named. Programs that save a text add a line break. */
function readNoteFile(file: string): string {
  try {
    return `${readFileSync(file, 'utf8').trimEnd()}\n`
  } catch {
    throw new ToolError(`${file} cannot be read`, 'name a file that this user may read')
  }
}

/** A checkpoint, and which of the keys of its origin has signed it, counted from 0. */
interface SealedCheckpoint {
  readonly checkpoint: Checkpoint
  readonly keyIndex: number
}

/**
 * The checkpoint of a note. Its signature is checked where a key of its origin is known. The error
 * is one sentence.
 */
export function openSealed(note: string, { keys }: Pick<Seals, 'keys'>): Result<SealedCheckpoint, string> {
  const read = readNote(note)
  if (!read.ok) return read
  const { checkpoint } = read.value
  const own = keys.get(checkpoint.origin)
  if (own === undefined) {
    return keys.size === 0 ? ok({ checkpoint, keyIndex: 0 }) : err(`no --verifier signs as ${checkpoint.origin}`)
  }
  let why = ''
  for (const [keyIndex, key] of own.entries()) {
    const opened = openCheckpoint(note, key, { sha256, verify: verifyEd25519 })
    if (opened.ok) return ok({ checkpoint: opened.value, keyIndex })
    why = opened.error
  }
  return err(why)
}
