import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { askMnemonic, writeEncrypted } from '../../../src/tools/keys/encrypted-file.ts'
import { parseMnemonic } from '../../../src/tools/keys/mnemonic.ts'
import type { Terminal } from '../../../src/tools/keys/terminal.ts'
import { testMnemonic, unwrap } from '../collect/harness.ts'

const mnemonic = unwrap(parseMnemonic(testMnemonic))
const passphrase = 'a long enough passphrase'
const quick = 10 // scrypt's cost, so that the tests do not wait
let path = ''
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'))
  path = join(folder, 'keys.age')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A terminal at which these secrets are typed. */
function typing(...secrets: string[]): Terminal {
  const next = async () => secrets.shift() ?? ''
  return { print: () => {}, ask: next, askSecret: next, isPrivate: true, clear: () => {} }
}

describe('an encrypted mnemonic', () => {
  it('is read back with its passphrase, and the file shows nothing of it', async () => {
    await writeEncrypted(typing(passphrase, passphrase), path, mnemonic, quick)
    const file = readFileSync(path, 'utf8')
    expect(file).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/)
    for (const word of ['junk', 'test', passphrase]) expect(file).not.toContain(word)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await askMnemonic(typing(passphrase), 'Mnemonic', path)).toBe(mnemonic)
  })

  it.each<[string, string[], string]>([
    ['a short passphrase', ['short', 'short'], 'at least 12 characters'],
    ['two different passphrases', [passphrase, `${passphrase}!`], 'the two passphrases differ'],
  ])('is not written with %s', async (_, secrets, sentence) => {
    await expect(writeEncrypted(typing(...secrets), path, mnemonic, quick)).rejects.toThrow(sentence)
    expect(() => statSync(path)).toThrow('ENOENT')
  })

  it('never replaces a file', async () => {
    writeFileSync(path, 'the only copy')
    await expect(writeEncrypted(typing(passphrase, passphrase), path, mnemonic, quick)).rejects.toThrow(
      'exists already',
    )
    expect(readFileSync(path, 'utf8')).toBe('the only copy')
  })

  it('is not read with another passphrase, or where it is something else', async () => {
    await writeEncrypted(typing(passphrase, passphrase), path, mnemonic, quick)
    await expect(askMnemonic(typing('another passphrase'), 'Mnemonic', path)).rejects.toThrow('wrong passphrase')
    writeFileSync(path, testMnemonic) // not encrypted
    await expect(askMnemonic(typing(passphrase), 'Mnemonic', path)).rejects.toThrow('not an encrypted mnemonic')
    await expect(askMnemonic(typing(passphrase), 'Mnemonic', `${path}.none`)).rejects.toThrow('cannot be read')
  })
})

it('a typed mnemonic is checked', async () => {
  expect(await askMnemonic(typing(testMnemonic), 'Mnemonic', undefined)).toBe(mnemonic)
  await expect(askMnemonic(typing('test test'), 'Mnemonic', undefined)).rejects.toThrow('2 words')
})
