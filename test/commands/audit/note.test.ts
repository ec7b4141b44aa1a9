import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  type Checkpoint,
  formatCheckpoint,
  formatNote,
  formatNoteKey,
  type NoteKey,
  openCheckpoint,
  parseNoteKey,
} from '../../../src/worker/archive/note.ts'

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())

/** An Ed25519 key with the name under which it signs. */
function makeKey(name: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key: NoteKey = { name, publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) }
  const noteOf = (text: string) => formatNote(text, key, sign(null, Buffer.from(text), privateKey), sha256)
  const parts = {
    sha256,
    verify: (signature: Uint8Array, message: Uint8Array) => verify(null, message, publicKey, signature),
  }
  return { key, noteOf, open: (note: string) => openCheckpoint(note, key, parts) }
}

const checkpoint: Checkpoint = { origin: 'shop.example/1', size: 1_234, root: sha256(Buffer.from('root')) }
const text = formatCheckpoint(checkpoint)

it("reads the key and the note that the documentation of Go's package has as its example", () => {
  const line = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
  const key = parseNoteKey(line, sha256)
  expect(key?.name).toBe('PeterNeumann')
  expect(key === null ? null : formatNoteKey(key, sha256)).toBe(line)
  expect(parseNoteKey(line.replace('c74f20a3', 'c74f20a4'), sha256)).toBeNull()
  expect(parseNoteKey(line.replace('+AR', '+BR'), sha256)).toBeNull()
})

it('opens a checkpoint that its key has signed, also beside signatures of others and with lines that others add', () => {
  const [own, witness] = [makeKey('shop.example/1'), makeKey('witness')]
  const [, other = ''] = witness.noteOf(text).split('\n\n')
  expect(own.open(own.noteOf(text))).toEqual({ ok: true, value: checkpoint })
  expect(own.open(own.noteOf(text) + other)).toEqual({ ok: true, value: checkpoint })
  expect(own.open(own.noteOf(`${text}an extension\n`))).toEqual({ ok: true, value: checkpoint })
})

it('opens no other note', () => {
  const [own, twin] = [makeKey('shop.example/1'), makeKey('shop.example/1')]
  const note = own.noteOf(text)
  const wrong: readonly (readonly [string, string])[] = [
    ['', 'the note has no signature'],
    [text, 'the note has no signature'],
    [note.slice(0, -1), 'the note has no signature'],
    [twin.noteOf(text), 'the note is not signed by shop.example/1 with this key'],
    [note.replace('1234', '1235'), 'the signature is wrong'],
    [note.replace('—', '-'), 'a signature line has another form'],
    [`${note}${note.split('\n\n')[1]}`, 'a key has signed it twice'],
    [`${note}x\n`, 'a signature line has another form'],
    [own.noteOf(text.replace('1234', '01234')), 'the signed text is no checkpoint'],
    [own.noteOf('a letter\n'), 'the signed text is no checkpoint'],
  ]
  for (const [given, why] of wrong) expect(own.open(given)).toEqual({ ok: false, error: why })
})
