import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatCheckpoint, formatNote, formatNoteKey, type NoteKey } from '../../../src/worker/archive/note.ts'
import { addLeaf, emptyTree, hashLeaf, rootOf } from '../../../src/worker/archive/tree.ts'

/** A line without the rules of one: tests write wrong ones, too. */
export type AnyLine = Readonly<Record<string, unknown>> & { readonly row: string }

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

export const cellName = 'TWd4WrZ9wn84f5x1hZhL4DHvk738ns5jwb'
const origin = `tron-wallet/${cellName}`
/** The private key of RFC 8032, test 1. */
const privateKey = createPrivateKey({
  key: Buffer.from(
    '302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
})
/** The private key of RFC 8032, test 2. */
const laterKey = createPrivateKey({
  key: Buffer.from(
    '302e020100300506032b6570042204204ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
})
const noteKeyOf = (key: KeyObject): NoteKey => ({ name: origin, publicKey: publicBytes(key) })
export const verifierKey = formatNoteKey(noteKeyOf(privateKey), sha256)
/** The key that verifies what `noteOf` signs with `isLater`. */
export const laterVerifierKey = formatNoteKey(noteKeyOf(laterKey), sha256)

function publicBytes(key: KeyObject): Uint8Array {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}

/** A signed checkpoint; `isLater`: by the key that has replaced the first one. */
export function noteOf(size: number, root: Uint8Array, isLater = false): string {
  const text = formatCheckpoint({ origin, size, root })
  const key = isLater ? laterKey : privateKey
  return formatNote(text, noteKeyOf(key), sign(null, Buffer.from(text), key), sha256)
}

/** How an archive is written. */
export interface WriteOptions {
  /** Lines of a segment beside its first one. A `scan` line ends one, too. */
  readonly rows: number
  readonly isSealed?: boolean
}

/**
 * Writes lines as the archive of one cell, in a folder: hashes, tree and checkpoints are right,
 * whatever the lines say. A line `{ row: 'epoch', common }` begins an epoch with the next segment.
 */
export function writeArchive(folder: string, lines: Iterable<AnyLine>, { rows, isSealed = true }: WriteOptions): void {
  const cell = join(folder, cellName)
  for (const name of ['segments', 'checkpoints']) mkdirSync(join(cell, name), { recursive: true })
  let [tree, before, event, epoch] = [emptyTree, '0'.repeat(64), 0, 1]
  let common: number | undefined
  let from = { event: 0 }
  let open: AnyLine[] = []
  const end = () => {
    if (open.length === 0) return
    const first = tree.size
    for (const line of open) if (line.row === 'entry' || line.row === 'event') event = Number(line.id)
    const to = { event }
    const head = {
      ...{ row: 'segment', format: 'tron-wallet-archive/1', name: origin, cell: 1, epoch, first },
      ...{ last: first + open.length, before, from, to },
      ...{ tree: tree.subtrees.map((one) => Buffer.from(one).toString('hex')), common },
    }
    const texts = [head, ...open].map((line) => JSON.stringify(line))
    for (const text of texts) tree = addLeaf(tree, hashLeaf(Buffer.from(text), sha256), sha256)
    const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
    writeFileSync(join(cell, 'segments', `${numbered(first)}.jsonl`), bytes)
    const note = noteOf(tree.size, rootOf(tree, sha256))
    if (isSealed) writeFileSync(join(cell, 'checkpoints', `${numbered(tree.size)}.checkpoint`), note)
    before = hash('sha256', bytes)
    from = to
    open = []
    common = undefined
  }
  for (const line of lines) {
    if (line.row === 'epoch') {
      end()
      epoch += 1
      common = Number(line.common)
      event = Number(line.event)
      from = { event }
      continue
    }
    open.push(line)
    if (open.length >= rows || line.row === 'scan') end()
  }
  end()
}

const numbered = (number: number) => String(number).padStart(15, '0')
