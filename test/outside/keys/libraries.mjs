// biome-ignore-all lint/correctness/noUndeclaredDependencies: run.sh installs them
// npm's libraries: the addresses of an extended public key, and the wallet of a mnemonic in several
// spellings. See judge.ts.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const given = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const hex = (bytes) => Buffer.from(bytes).toString('hex')
const account = "m/44'/195'/0'"

/**
 * Prints what a library makes: the public keys below the account, and for each spelling what
 * `accountOf` returns, or null if it throws.
 */
function show(library, { path, keyAt, accountOf }) {
  const attempt = (make) => {
    try {
      return make()
    } catch {
      return null
    }
  }
  const keys = keyAt === undefined ? [] : given.indices.map((index) => keyAt(path.replace('i', index)))
  const spellings = Object.entries(given.spellings).map(([name, words]) => [name, attempt(() => accountOf(words))])
  process.stdout.write(
    `${JSON.stringify({ library, path, keys, spellings: accountOf && Object.fromEntries(spellings) })}\n`,
  )
}

const { HDNodeWallet, Mnemonic } = await import('ethers')
show('ethers 6.17.0 (npm)', {
  path: '0/i',
  keyAt: (path) => HDNodeWallet.fromExtendedKey(given.xpub).derivePath(path).publicKey.slice(2),
  accountOf: (words) => HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(words), account).neuter().extendedKey,
})

const { TronWeb } = await import('tronweb')
show('tronweb 6.5.1 (npm)', {
  path: `${account}/0/i`, // tronweb takes no extended key, so the keys come from the mnemonic
  keyAt: (path) => TronWeb.fromMnemonic(given.mnemonic, path).publicKey.slice(2),
  accountOf: (words) => TronWeb.fromMnemonic(words, `${account}/0/0`).address,
})

const bip39 = await import('bip39')
const bip32 = (await import('bip32')).BIP32Factory(await import('tiny-secp256k1'))
show('bip32 5.0.1 with bip39 3.1.2 (npm)', {
  path: '0/i',
  keyAt: (path) => hex(bip32.fromBase58(given.xpub).derivePath(path).publicKey),
  accountOf: (words) => bip32.fromSeed(bip39.mnemonicToSeedSync(words)).derivePath(account).neutered().toBase58(),
})

const scure = await import('@scure/bip32')
const { mnemonicToSeedSync } = await import('@scure/bip39')
show('@scure/bip32 2.4.0 with @scure/bip39 2.4.0 (npm)', {
  path: 'm/0/i',
  keyAt: (path) => hex(scure.HDKey.fromExtendedKey(given.xpub).derive(path).publicKey),
  accountOf: (words) => scure.HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive(account).publicExtendedKey,
})

const hdkey = require('hdkey')
const light = require('bip39-light')
show('hdkey 2.1.0 with bip39-light 1.0.7 (npm)', {
  path: 'm/0/i',
  keyAt: (path) => hex(hdkey.fromExtendedKey(given.xpub).derive(path).publicKey),
  accountOf: (words) => hdkey.fromMasterSeed(light.mnemonicToSeed(words)).derive(account).publicExtendedKey,
})

const bitcore = require('bitcore-lib')
const BitcoreMnemonic = require('bitcore-mnemonic')
show('bitcore-lib and bitcore-mnemonic 11.5.1 (npm)', {
  path: 'm/0/i',
  keyAt: (path) => new bitcore.HDPublicKey(given.xpub).deriveChild(path).publicKey.toString(),
  accountOf: (words) => new BitcoreMnemonic(words).toHDPrivateKey('', 'livenet').deriveChild(account).xpubkey,
})
