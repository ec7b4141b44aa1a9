import { open, readFile } from 'node:fs/promises'
import { armor, Decrypter, Encrypter } from 'age-encryption'
import { type Mnemonic, parseMnemonic } from './mnemonic.ts'
import { type Terminal, ToolError } from './terminal.ts'

/** Fewer characters can be guessed by whoever has the file. */
const passphraseMin = 12
/** A mnemonic takes some 500 bytes. */
const fileBytesMax = 65_536

/**
 * Stores a mnemonic in a new file, encrypted with a passphrase in the format of age (age-encryption.org): the program
 * `age` decrypts it too. An existing file is never replaced. `workFactor` is the logarithm of scrypt's cost.
 */
export async function writeEncrypted(
  terminal: Terminal,
  path: string,
  mnemonic: Mnemonic,
  workFactor: number | null = null,
): Promise<void> {
  const passphrase = await terminal.askSecret('Passphrase for the file (not shown): ')
  if (passphrase.length < passphraseMin)
    throw new ToolError(`the passphrase needs at least ${passphraseMin} characters`)
  if ((await terminal.askSecret('The same passphrase again: ')) !== passphrase) {
    throw new ToolError('the two passphrases differ; nothing was written')
  }
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  if (workFactor !== null) encrypter.setScryptWorkFactor(workFactor)
  const text = armor.encode(await encrypter.encrypt(`${mnemonic}\n`))
  const file = await open(path, 'wx', 0o600).catch(() => null)
  if (file === null) throw new ToolError(`${path} cannot be created: it exists already, or the folder is not writable`)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}

/** The mnemonic in a file of `writeEncrypted` or of the program `age`, armored or not. */
async function readEncrypted(terminal: Terminal, path: string): Promise<Mnemonic> {
  const bytes = await readFile(path).catch(() => null)
  if (bytes === null || bytes.length > fileBytesMax) throw new ToolError(`${path} cannot be read`)
  const passphrase = await terminal.askSecret(`Passphrase of ${path} (not shown): `)
  const parsed = parseMnemonic((await decrypt(bytes, passphrase)) ?? '')
  if (parsed.ok) return parsed.value
  throw new ToolError(`${path}: wrong passphrase, or not an encrypted mnemonic`)
}

async function decrypt(bytes: Uint8Array, passphrase: string): Promise<string | null> {
  try {
    const text = new TextDecoder().decode(bytes)
    const decrypter = new Decrypter()
    decrypter.addPassphrase(passphrase)
    return await decrypter.decrypt(text.startsWith('-----BEGIN') ? armor.decode(text) : bytes, 'text')
  } catch {
    return null // the library's reasons do not help the person, and could contain a part of the file
  }
}

/** The mnemonic that the person types, or the one in an encrypted file. */
export async function askMnemonic(terminal: Terminal, what: string, file: string | undefined): Promise<Mnemonic> {
  if (file !== undefined) return readEncrypted(terminal, file)
  const parsed = parseMnemonic(await terminal.askSecret(`${what} (all words in one line, not shown): `))
  if (parsed.ok) return parsed.value
  throw new ToolError(parsed.error)
}
