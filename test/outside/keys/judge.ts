import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { openMnemonic } from '../../../src/commands/signing/account-key.ts'
import { parseMnemonic } from '../../../src/commands/signing/mnemonic.ts'
import { deriveAddress, parseExtendedPublicKey } from '../../../src/worker/addresses/derive.ts'
import { printLine, root } from '../../support/project.ts'

/**
 * `judge.ts case <file>` writes the input of the library programs beside this file: a public test
 * mnemonic, its extended public key, and spellings of the mnemonic. Without `case` it reads from
 * stdin a line of JSON for each library, and prints the library's row for the table in
 * docs/guides/signers.md. It fails if the guide lacks this row.
 */
const mnemonic = `${'test '.repeat(11)}junk`
const parsed = parseMnemonic(mnemonic)
if (!parsed.ok) throw new Error('a public test mnemonic')
const xpub = openMnemonic(parsed.value).extendedPublicKey(0)
const indices = [0, 1, 19, 1_000]
const spellings = {
  plain: mnemonic,
  capital: mnemonic.replace('test', 'Test'),
  spaces: mnemonic.replace(' ', '  '),
  newline: `${mnemonic}\n`,
}

interface Made {
  readonly library: string
  readonly path: string
  /** Compressed public keys at `indices`, as hex digits. */
  readonly keys: readonly string[]
  /**
   * For each spelling, the account's extended public key or an address of it, or null if the
   * library refuses the mnemonic.
   */
  readonly spellings: Readonly<Record<keyof typeof spellings, string | null>> | null
}

const addressOf = (key: string) => {
  const point = secp256k1.Point.fromBytes(hexToBytes(key)).toBytes(false)
  return bytesToHex(keccak_256(point.subarray(1)).subarray(12))
}

function rowOf({ library, path, keys, spellings: made }: Made): string {
  const ours = parseExtendedPublicKey(xpub)
  if (!ours.ok) throw new Error('a public key')
  const isSame = keys.every((key, i) => addressOf(key) === deriveAddress(ours.value, indices[i] ?? 0))
  const wallet = (name: keyof typeof spellings) => {
    const one = made?.[name]
    if (one === undefined) return '–'
    return one === null ? 'refused' : one === made?.plain ? 'the same' : '**another wallet**'
  }
  const isPlain = made === null || made.plain === xpub || made.plain?.startsWith('T') === true
  const addresses = keys.length === 0 ? '–' : isSame && isPlain ? 'the same' : '**others**'
  const cells = [library, `\`${path}\``, addresses, wallet('capital'), wallet('spaces'), wallet('newline')]
  return `| ${cells.join(' | ')} |`
}

const [, , word, path] = process.argv
if (word === 'case' && path !== undefined) {
  writeFileSync(path, JSON.stringify({ mnemonic, xpub, indices, spellings }))
} else {
  const columns = (line: string) =>
    line
      .split('|')
      .map((part) => part.trim())
      .join('|')
  const guide = new Set(readFileSync(`${root}docs/guides/signers.md`, 'utf8').split('\n').map(columns))
  for (const line of (await text(process.stdin)).split('\n').filter((one) => one.startsWith('{'))) {
    const row = rowOf(JSON.parse(line) as Made)
    printLine(row)
    if (guide.has(columns(row))) continue
    process.stderr.write('docs/guides/signers.md has not this row\n')
    process.exitCode = 1
  }
}
