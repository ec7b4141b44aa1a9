import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import fc from 'fast-check'
import { utils } from 'tronweb'
import { describe, expect, it } from 'vitest'
import { deriveAddress, parseExtendedPublicKey, rememberedKeys } from '../../src/worker/addresses/derive.ts'
import { formatBase58, formatHex } from '../../src/worker/chain/address.ts'

const abandon = `${'abandon '.repeat(11)}about`
const junk = `${'test '.repeat(11)}junk`
const island = 'shoot island position soft burden budget tooth cruel issue economy destroy above'
const ripple = 'ripple scissors kick mammal hire column oak again sun offer wealth tomorrow wagon turn fatal'
const access = 'access before split cram spoon snap secret month sphere fog embark donor'
const accountXpub =
  'xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd'
const chainXpub =
  'xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq'
const junkXpub =
  'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr'
const base58check = createBase58check(sha256)

const nodeAt = (mnemonic: string, path: string, passphrase = '') =>
  HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic, passphrase)).derive(path)

function keyOf(xpub: string) {
  const key = parseExtendedPublicKey(xpub)
  if (!key.ok) throw new Error(key.error)
  return key.value
}

/** Replaces bytes of an extended key from byte `at` of its 78 on, and writes a valid checksum. */
function altered(xpub: string, at: number, bytes: readonly number[]): string {
  const payload = base58check.decode(xpub)
  payload.set(bytes, at)
  return base58check.encode(payload)
}

// The numbers in the first column are those of the test vectors in PROTOCOL.md, section Addresses
// and derivation.
describe('the published test vectors', () => {
  it.each([
    [1, abandon, '', 0, 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', '41c8599111f29c1e1e061265b4af93ea1f274ad78a'],
    [2, abandon, '', 1, 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK', '41b6e708a39781c96bd399c7657780ff9fe9f052a8'],
    [3, abandon, '', 2, 'TYJPRrdB5APNeRs4R7fYZSwW3TcrTKw2gx', '41f4f35fff5ca9ee43aca2c57ded9d9ec66ac42dd0'],
    [4, abandon, '', 3, 'TRhVWK5XEDkQBDevcdCWW7RW51aRncty4W', '41ac892261ed306c7c91ff84895811fa2e5e58333d'],
    [5, abandon, '', 4, 'TT2X2yyubp7qpAWYYNE5JQWBtoZ7ikQFsY', '41bb1a70862e804bfe2885f6c7efc8fdf3f0148b00'],
    [6, abandon, '', 100, 'TVjTLqXUzMUsHhjAPaWP3TpA7vvz2MuvU1', '41d8c8a9d9e623c36374c97009666b2efbd2cd2754'],
    [7, abandon, '', 2147483647, 'TVapZk5c7S7ARtSBi9jD13rhkbZke4F4sa', '41d726a2af95aba2b8c78890f03b928571d1e5f9f5'],
    [9, island, '', 0, 'TQ5NMqJjhpQGK7YJbESKtNCo86PJ89ujio', '419abc118d4c2ffa7775c1c22ae490c9df2358a163'],
    [10, ripple, 'TREZOR', 0, 'THJrqfbBhoB1vX97da6S6nXWkafCxpyCNB', '4150805e8f8719e6750a1f8d83deeb0af5be8c5e76'],
    [11, access, '', 0, 'TSAmbvDjDR69Rq7zFF82wLbXSD9f7sdSDP', '41b1b1cd5568ebcb5ac72aefb31b828d56ba7a4403'],
    [13, junk, '', 0, 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6', '41e2e1a54926527fbb4e4420de4c6bab82beaee24d'],
    [14, junk, '', 1, 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C', '419705bf55c3dcc6d277ebb8fe2a68762268822ba2'],
  ])(
    'give address %i, from the key of the account and from that of its external chain',
    (_, words, passphrase, index, t, hex) => {
      const account = nodeAt(words, "m/44'/195'/0'", passphrase)
      for (const xpub of [account.publicExtendedKey, account.derive('m/0').publicExtendedKey]) {
        const address = deriveAddress(keyOf(xpub), index)
        expect(formatBase58(address)).toBe(t)
        expect(formatHex(address)).toBe(hex)
      }
    },
  )

  it.each([
    [8, abandon, 'TLrpNTBuCpGMrB9TyVwgEhNVRhtWEQPHh4', '417773ff0ebd2d2c85761db01ae2b00c417bf15393'],
    [12, access, 'TEDuXkSHsK7Q7c1tBw4hHBAbVNjbMt7xMt', '412ea8289c0aeb9d8fd72cc47862ed5dfee972b124'],
  ])("give address %i of account 1'", (_, words, t, hex) => {
    const address = deriveAddress(keyOf(nodeAt(words, "m/44'/195'/1'").publicExtendedKey), 0)
    expect(formatBase58(address)).toBe(t)
    expect(formatHex(address)).toBe(hex)
  })

  it('give the published extended keys, and the same addresses at both depths', () => {
    const account = nodeAt(abandon, "m/44'/195'/0'")
    expect(account.publicExtendedKey).toBe(accountXpub)
    expect(account.derive('m/0').publicExtendedKey).toBe(chainXpub)
    expect(nodeAt(junk, "m/44'/195'/0'").publicExtendedKey).toBe(junkXpub)
    for (const index of [0, 1, 2, 3, 4, 99]) {
      expect(deriveAddress(keyOf(accountXpub), index)).toBe(deriveAddress(keyOf(chainXpub), index))
    }
  })
})

describe('deriveAddress', () => {
  it('derives the same address as TronWeb at any index', () => {
    const key = keyOf(junkXpub)
    // `TronWeb.fromMnemonic` uses the same two classes, but derives the seed anew for each index,
    // which is slow.
    const { Mnemonic, ethersHDNodeWallet } = utils.ethersUtils
    const chain = ethersHDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(junk), "m/44'/195'/0'/0")
    fc.assert(
      fc.property(fc.nat(0x7fffffff), (i) => {
        const expected = utils.crypto.pkToAddress(chain.deriveChild(i).privateKey.slice(2))
        expect(formatBase58(deriveAddress(key, i))).toBe(expected)
      }),
      { numRuns: 60, examples: [[0], [0x7fffffff]] },
    )
  })

  it('derives the same address however many were derived before', () => {
    const fresh = formatBase58(deriveAddress(keyOf(accountXpub), 7))
    const used = keyOf(accountXpub)
    for (let i = 0; i < 100; i += 1) expect(deriveAddress(used, i)).toBe(deriveAddress(used, i))
    expect(formatBase58(deriveAddress(used, 7))).toBe(fresh)
  })

  it.each([-1, 0.5, 2 ** 31, 2 ** 32, Number.NaN, Number.POSITIVE_INFINITY])('throws for the index %d', (index) => {
    expect(() => deriveAddress(keyOf(accountXpub), index)).toThrow(RangeError)
  })

  it('does not show the key as JSON', () => {
    expect(JSON.stringify(keyOf(accountXpub))).toBe('{}')
  })
})

describe('parseExtendedPublicKey', () => {
  const account = nodeAt(abandon, "m/44'/195'/0'")
  const at = (path: string) => nodeAt(abandon, path).publicExtendedKey
  it(`remembers ${rememberedKeys} keys, those of all cells, so that their first addresses are derived once`, () => {
    const ofCells = Array.from({ length: rememberedKeys }, (_, i) => at(`m/44'/195'/${100 + i}'`))
    const keys = ofCells.map(keyOf)
    for (const [i, text] of ofCells.entries()) expect(keyOf(text)).toBe(keys[i])
    keyOf(at(`m/44'/195'/99'`))
    expect(keyOf(ofCells[0] ?? '')).not.toBe(keys[0]) // the key that was remembered first was forgotten
  })

  it.each([
    ['an empty text', '', 'empty'],
    ['a thousand characters', 'x'.repeat(1000), 'too-long'],
    ['the account with a private key', account.privateExtendedKey, 'private-extended-key'],
    ['a mistyped private key', 'xprv9s21ZrQH143K', 'private-extended-key'],
    ['a private key of a test network', 'tprv8ZgxMBicQKsPd', 'private-extended-key'],
    [
      'a key with the version bytes of a private key and other first characters',
      altered(accountXpub, 0, [0x04, 0x88, 0xad, 0xe4]),
      'private-extended-key',
    ],
    ['a private key in hex', 'ab'.repeat(32), 'hex-key'],
    ['a private key in hex with 0x', `0x${'AB'.repeat(32)}`, 'hex-key'],
    ['a seed in hex', 'ab'.repeat(64), 'hex-key'],
    ['a mnemonic of 12 words', abandon, 'mnemonic'],
    ['a mnemonic longer than any key', `${'abandon '.repeat(23)}art`, 'mnemonic'],
    ['a mnemonic on several lines', abandon.replaceAll(' ', '\n'), 'mnemonic'],
    ['a mnemonic in Japanese', 'あいこくしん　あいさつ　あいだ', 'mnemonic'],
    ['a key with one character changed', accountXpub.replace('CupeiLM', 'CupeiLN'), 'not-base58check'],
    ['a key with characters that Base58 does not have', accountXpub.replace('6D1A', '6Dl0'), 'not-base58check'],
    ['a space at the start', ` ${accountXpub}`, 'not-base58check'],
    ['a line break at the end', `${accountXpub}\n`, 'not-base58check'],
    ['an address', 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', 'not-an-xpub'],
    ['the version bytes of a ypub', altered(accountXpub, 0, [0x04, 0x9d, 0x7c, 0xb2]), 'not-an-xpub'],
    ['the version bytes of a test network', altered(accountXpub, 0, [0x04, 0x35, 0x87, 0xcf]), 'not-an-xpub'],
    ['the master key', at('m'), 'wrong-depth'],
    ['the key of the coin type', at("m/44'/195'"), 'wrong-depth'],
    ['the key of an address', at("m/44'/195'/0'/0/0"), 'wrong-depth'],
    ['the key of account 0, not hardened', at("m/44'/195'/0"), 'wrong-child-number'],
    ['the key of the internal chain', at("m/44'/195'/0'/1"), 'wrong-child-number'],
    ["the key of chain 0', hardened", at("m/44'/195'/0'/0'"), 'wrong-child-number'],
    [
      'an x coordinate without a point on the curve',
      altered(accountXpub, 45, [2, ...new Array<number>(31).fill(0), 5]),
      'not-on-the-curve',
    ],
    ['the prefix of an uncompressed point', altered(accountXpub, 45, [4]), 'not-on-the-curve'],
    ['a private key with public version bytes', altered(accountXpub, 45, [0]), 'not-on-the-curve'],
  ])('refuses %s', (_, text, fault) => {
    expect(parseExtendedPublicKey(text)).toEqual({ ok: false, error: fault })
  })
})
