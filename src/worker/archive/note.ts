import { bytesToHex, concatBytes } from '@noble/hashes/utils.js'
import { base64 } from '@scure/base'
import { err, ok, type Result } from '../common/result.ts'
import type { Sha256 } from './tree.ts'

// Signed notes by c2sp.org/signed-note, with Ed25519, and checkpoints by c2sp.org/tlog-checkpoint,
// as read in November 2026. Go's golang.org/x/mod/sumdb/note reads and writes the same.

/** A key that verifies notes: whose it is, and its 32 bytes. */
export interface NoteKey {
  /** The name in the signature line: not empty, and without spaces and plus signs. */
  readonly name: string
  readonly publicKey: Uint8Array
}

/** Verifies an Ed25519 signature (64 bytes) of a message. */
export type VerifySignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean

/** A statement about a tree: how many lines it has, and its root. */
export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string
  readonly size: number
  /** 32 bytes. */
  readonly root: Uint8Array
}

const ed25519 = 1 // the byte before a public key of this kind
const utf8 = new TextEncoder()
const nameForm = /^[^\s+]+$/u

/** The four bytes that identify a key beside its name. */
function keyIdOf({ name, publicKey }: NoteKey, sha256: Sha256): Uint8Array {
  return sha256(concatBytes(utf8.encode(`${name}\n`), Uint8Array.of(ed25519), publicKey)).slice(0, 4)
}

/** Writes a key in one line, as Go's `note.NewVerifier` reads it: `name+1234abcd+AQ…`. */
export function formatNoteKey(key: NoteKey, sha256: Sha256): string {
  return `${key.name}+${bytesToHex(keyIdOf(key, sha256))}+${base64.encode(concatBytes(Uint8Array.of(ed25519), key.publicKey))}`
}

/** Reads a key as `formatNoteKey` writes it; null for any other text. */
export function parseNoteKey(text: string, sha256: Sha256): NoteKey | null {
  const [, name = '', encoded = ''] = /^([^\s+]+)\+[0-9a-f]{8}\+([A-Za-z0-9+/=]+)$/u.exec(text) ?? []
  const bytes = decode(encoded)
  if (bytes?.length !== 33 || bytes[0] !== ed25519) return null
  const key = { name, publicKey: bytes.slice(1) }
  return formatNoteKey(key, sha256) === text ? key : null
}

/** The text that is signed, with its last line break. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64.encode(root)}\n`
}

/** Puts the signature of `text` (which ends in a line break) below it. */
export function formatNote(text: string, key: NoteKey, signature: Uint8Array, sha256: Sha256): string {
  return `${text}\n— ${key.name} ${base64.encode(concatBytes(keyIdOf(key, sha256), signature))}\n`
}

/**
 * The checkpoint in a note that this key has signed, or one sentence that says what is wrong with
 * it. Signatures of other keys, as witnesses add them, do not count.
 */
export function openCheckpoint(
  note: string,
  key: NoteKey,
  parts: { readonly sha256: Sha256; readonly verify: VerifySignature },
): Result<Checkpoint, string> {
  const read = readNote(note)
  if (!read.ok) return read
  const { text, signatures, checkpoint } = read.value
  const id = bytesToHex(keyIdOf(key, parts.sha256))
  const own = signatures.find((one) => one.name === key.name && one.id === id)
  if (own === undefined) return err(`the note is not signed by ${key.name} with this key`)
  if (!parts.verify(own.signature, utf8.encode(text), key.publicKey)) return err('the signature is wrong')
  return ok(checkpoint)
}

/** A note that is a checkpoint. Nothing says that its signatures are right. */
export interface ReadNote {
  /** The signed text. */
  readonly text: string
  /** `id`: 8 hex digits of the key. */
  readonly signatures: readonly { readonly name: string; readonly id: string; readonly signature: Uint8Array }[]
  readonly checkpoint: Checkpoint
}

/** Reads a note without checking its signatures. The error says why it is no checkpoint. */
export function readNote(note: string): Result<ReadNote, string> {
  const end = note.lastIndexOf('\n\n')
  if (end === -1 || !note.endsWith('\n')) return err('the note has no signature')
  const text = note.slice(0, end + 1)
  const lines = note.slice(end + 2, -1).split('\n')
  const signatures = lines.map(readSignature).filter((one) => one !== null)
  if (signatures.length < lines.length) return err('a signature line has another form')
  const keys = new Set(signatures.map(({ name, id }) => `${name}+${id}`))
  if (keys.size < lines.length) return err('a key has signed it twice')
  const checkpoint = parseCheckpoint(text)
  return checkpoint === null ? err('the signed text is no checkpoint') : ok({ text, signatures, checkpoint })
}

function readSignature(line: string) {
  const [, name = '', encoded = ''] = /^— (\S+) (\S+)$/u.exec(line) ?? []
  const bytes = decode(encoded)
  if (!nameForm.test(name) || bytes === null || bytes.length < 5) return null
  return { name, id: bytesToHex(bytes.subarray(0, 4)), signature: bytes.subarray(4) }
}

/** Lines after the third one are extensions, which other programs may add. */
function parseCheckpoint(text: string): Checkpoint | null {
  const [, origin = '', size = '', encoded = ''] =
    /^([^\n]+)\n(0|[1-9]\d{0,15})\n([^\n]+)\n(?:[^\n]+\n)*$/.exec(text) ?? []
  const root = decode(encoded)
  return origin === '' || root?.length !== 32 ? null : { origin, size: Number(size), root }
}

/** The bytes of a text in base64 with its padding; null for any other text, and for no bytes. */
function decode(text: string): Uint8Array | null {
  try {
    return text === '' ? null : base64.decode(text)
  } catch {
    return null // the library throws on any other form
  }
}
