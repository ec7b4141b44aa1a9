import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import type { Brand } from '../../worker/common/ids.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { orStop } from '../tool-error.ts'
import type { Terminal } from './terminal.ts'

/**
 * A BIP-39 mnemonic in English, in lower case with single spaces and a valid checksum. Whoever has
 * it can spend all that its addresses hold.
 */
export type Mnemonic = Brand<string, 'Mnemonic'>

const newWords = 24
const entropyBits = 256
const wordsInRow = 6
const wordCounts: readonly number[] = [12, 15, 18, 21, 24]
const words = new Set(wordlist)

/** A new mnemonic of 24 words, from the randomness of the machine. */
export function createMnemonic(): Mnemonic {
  return generateMnemonic(wordlist, entropyBits) as Mnemonic // safe: the library's own words and checksum
}

/**
 * Parses a typed mnemonic. The error is one sentence for the person. It names the positions of
 * wrong words, never the words, which are a part of the secret.
 */
export function parseMnemonic(text: string): Result<Mnemonic, string> {
  const typed = text.normalize('NFKD').trim().toLowerCase().split(/\s+/)
  if (typed[0] === '')
    return err(`no words: type all of them (${newWords} in a mnemonic of this tool), separated by spaces`)
  const wrong = typed.flatMap((word, i) => (words.has(word) ? [] : [i + 1]))
  if (wrong.length > 0) {
    const places = wrong.length === 1 ? `word ${wrong[0]} is` : `words ${wrong.join(', ')} are`
    return err(`${places} not in the BIP-39 list of English words: compare the spelling`)
  }
  if (!wordCounts.includes(typed.length)) {
    return err(`${typed.length} words: a mnemonic has ${wordCounts.join(', ')} of them`)
  }
  const mnemonic = typed.join(' ')
  if (!validateMnemonic(mnemonic, wordlist))
    return err('every word is in the list, but the checksum is wrong: compare words and order')
  return ok(mnemonic as Mnemonic) // safe: the text has passed all checks of a BIP-39 mnemonic
}

/**
 * Asks the person for a mnemonic, without echo. Throws a `ToolError` if the typed text is no valid
 * mnemonic.
 */
export async function askMnemonic(terminal: Terminal, what: string): Promise<Mnemonic> {
  const typed = await terminal.askSecret(`${what} (all words in one line, not shown): `)
  return orStop(parseMnemonic(typed), 'run the command again, and type all words in their order')
}

/** Shows a new mnemonic once, and returns it. No other part of this program prints it. */
export async function showNewMnemonic(terminal: Terminal): Promise<Mnemonic> {
  terminal.print(
    'The next screen shows 24 words, once. Whoever has them can spend all that the deposit addresses hold, and without them\n' +
      'it is lost. Have paper ready; no other person may see the screen; take no picture of it.',
  )
  await terminal.ask('Press Enter to see them. ')
  const mnemonic = createMnemonic()
  const words = mnemonic.split(' ').map((word, i) => `${`${i + 1}`.padStart(2)} ${word.padEnd(9)}`)
  for (let i = 0; i < words.length; i += wordsInRow)
    terminal.print(
      words
        .slice(i, i + wordsInRow)
        .join(' ')
        .trimEnd(),
    )
  try {
    await terminal.ask('Write them down, in order. Press Enter: the screen is then cleared. ')
  } finally {
    terminal.clear() // so that the words do not stay on the screen, even if the person ends the command
  }
  return mnemonic
}

/**
 * The seed of the BIP-32 tree. A second passphrase (BIP-39's "25th word") is not supported, because
 * wallets would not ask for it.
 */
export function seedOf(mnemonic: Mnemonic): Uint8Array {
  return mnemonicToSeedSync(mnemonic)
}
