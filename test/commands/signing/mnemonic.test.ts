import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMnemonic, parseMnemonic, seedOf } from '../../../src/commands/signing/mnemonic.ts'
import { testMnemonic, unwrap } from '../collect/harness.ts'

const art = `${'abandon '.repeat(23)}art`

describe('a typed mnemonic', () => {
  it.each([
    ['12 words', testMnemonic],
    ['24 words', art],
    ['more spaces, a line break and capitals', `  ABANDON ${'abandon\t '.repeat(11)}\n${'abandon '.repeat(11)} Art `],
  ])('of %s is accepted', (_, text) => {
    expect(parseMnemonic(text)).toMatchObject({ ok: true })
  })

  it.each<[string, string, string]>([
    ['nothing', '', 'no words'],
    ['a wrong word', testMnemonic.replace('junk', 'junc'), 'word 12 is not in'],
    ['two wrong words', testMnemonic.replace('test', 'tesst').replace('junk', 'trunk'), 'words 1, 12 are not in'],
    ['a word too few', `${'test '.repeat(10)}junk`, '11 words'],
    ['a word of the list that is the wrong one', testMnemonic.replace('junk', 'test'), 'the checksum is wrong'],
    ['words in another order', `junk ${'test '.repeat(11)}`, 'the checksum is wrong'],
    ['words of another language', `${'abaisser '.repeat(11)}abaisser`, 'not in the BIP-39 list of English words'],
    [
      'an extended private key',
      'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNK',
      'word 1 is not in',
    ],
  ])('that is %s is refused with the place, never with the words', (_, text, sentence) => {
    const parsed = parseMnemonic(text)
    if (parsed.ok) throw new Error('it was accepted')
    expect(parsed.error).toContain(sentence)
    for (const word of text.split(/\s+/).filter((one) => one.length > 4)) expect(parsed.error).not.toContain(word)
  })

  it('has the seed of the published vector', () => {
    expect(Buffer.from(seedOf(unwrap(parseMnemonic(art)))).toString('hex')).toMatch(/^408b285c123836004f4b8842c89324c1/)
  })
})

it('any generated mnemonic is accepted, and refused with one word exchanged', () => {
  const place = fc.nat(11)
  fc.assert(
    fc.property(fc.constantFrom(...wordlist), place, (word, at) => {
      const words = generateMnemonic(wordlist).split(' ')
      expect(parseMnemonic(words.join(' ')).ok).toBe(true)
      const changed = words.with(at, `${word}x`)
      expect(parseMnemonic(changed.join(' ')).ok).toBe(false)
    }),
    { numRuns: 50 },
  )
})

it('new mnemonics have 24 words, a checksum, and differ', () => {
  const all = Array.from({ length: 20 }, () => createMnemonic())
  expect(new Set(all).size).toBe(20)
  for (const one of all) {
    expect(one.split(' ')).toHaveLength(24)
    expect(parseMnemonic(one)).toEqual({ ok: true, value: one })
  }
})
