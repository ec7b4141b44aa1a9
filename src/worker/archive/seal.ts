import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base64urlnopad } from '@scure/base'
import { formatCheckpoint, formatNote, formatNoteKey } from './note.ts'
import { rootOf, type Tree } from './tree.ts'

/** A checkpoint as a signed note, and the key that verifies it, in one line. */
export interface Seal {
  readonly note: string
  readonly verifier: string
}

/**
 * Makes what signs checkpoints. `pkcs8` is a checked Ed25519 key (`config/archive.ts`). The same
 * tree gets the same bytes each time.
 */
export function createSealer(pkcs8: Uint8Array, origin: string): (tree: Tree) => Promise<Seal> {
  const opened = openKey(pkcs8)
  return async (tree) => {
    const { key, publicKey } = await opened
    const text = formatCheckpoint({ origin, size: tree.size, root: rootOf(tree, sha256) })
    const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', key, utf8ToBytes(text)))
    const noteKey = { name: origin, publicKey }
    return { note: formatNote(text, noteKey, signature, sha256), verifier: formatNoteKey(noteKey, sha256) }
  }
}

async function openKey(pkcs8: Uint8Array): Promise<{ readonly key: CryptoKey; readonly publicKey: Uint8Array }> {
  // extractable, because the public key is only in its JSON form
  const key = await crypto.subtle.importKey('pkcs8', pkcs8 as BufferSource, 'Ed25519', true, ['sign'])
  const { x = '' } = (await crypto.subtle.exportKey('jwk', key)) as JsonWebKey
  return { key, publicKey: base64urlnopad.decode(x) }
}
