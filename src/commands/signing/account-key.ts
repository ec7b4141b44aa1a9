import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { HDKey } from '@scure/bip32'
import { type Address, addressFromHex } from '../../worker/chain/address.ts'
import type { Brand } from '../../worker/common/ids.ts'
import { type Mnemonic, seedOf } from './mnemonic.ts'

/** The highest account number: a hardened step of a path has 31 bits. */
export const accountMax = 0x7fffffff

/** The derivation path of an account: 195 is Tron's coin type (SLIP-44). */
export const accountPath = (account: number) => `m/44'/195'/${account}'`

/** The path of a deposit address: index `index` of the external chain of an account. */
export const depositPath = (account: number, index: number) => `${accountPath(account)}/0/${index}`

/** A derivation path with at least one step. */
export type DerivationPath = Brand<string, 'DerivationPath'>

/**
 * The path of the payout address: no deployment issues it, and it is in an account that wallets
 * show.
 */
export const payoutPath = "m/44'/195'/2'/0/0" as DerivationPath // safe: a path with five steps

/**
 * Parses a path such as `m/44'/195'/2'/0/0`, or returns null. Each step is a number of 31 bits,
 * hardened or not.
 */
export function parsePath(text: string): DerivationPath | null {
  const isPath = /^m(\/\d{1,10}'?){1,10}$/.test(text)
  const steps = text.match(/\d+/g) ?? []
  // safe: just checked
  return isPath && steps.every((step) => Number(step) <= accountMax) ? (text as DerivationPath) : null
}

/** A private key that can only sign, so that it cannot be printed or stored by mistake. */
export interface SigningKey {
  readonly address: Address
  /** Signs a transaction's `raw_data`: `r ‖ s ‖ v` over its SHA-256, 65 bytes. */
  readonly sign: (rawData: Uint8Array) => Uint8Array
}

/** The private keys of a mnemonic, in memory only. */
export interface MnemonicKeys {
  /** The extended public key of the account `m/44'/195'/account'`, for `TRON_XPUB`. */
  readonly extendedPublicKey: (account: number) => string
  /** The key of a deposit address, at `depositPath(account, index)`. */
  readonly depositKey: (account: number, index: number) => SigningKey
}

/** Opens the keys of a mnemonic. They stay in memory as long as the returned object. */
export function openMnemonic(mnemonic: Mnemonic): MnemonicKeys {
  const master = HDKey.fromMasterSeed(seedOf(mnemonic))
  const accounts = new Map<number, HDKey>() // kept, because a plan has hundreds of keys in one account
  const accountAt = (account: number) => {
    const key = accounts.get(account) ?? master.derive(accountPath(account))
    accounts.set(account, key)
    return key
  }
  return {
    extendedPublicKey: (account) => accountAt(account).publicExtendedKey,
    depositKey: (account, index) => signingKey(accountAt(account).derive(`m/0/${index}`)),
  }
}

/** Derives the key at one path. For many keys, `openMnemonic` is faster. */
export function keyAt(mnemonic: Mnemonic, path: DerivationPath): SigningKey {
  return signingKey(HDKey.fromMasterSeed(seedOf(mnemonic)).derive(path))
}

function signingKey({ privateKey, publicKey }: HDKey): SigningKey {
  if (privateKey === null || publicKey === null) throw new Error('a derived key has both parts')
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false)
  const address = addressFromHex(bytesToHex(keccak_256(point.subarray(1)).subarray(12)))
  if (address === null) throw new Error('20 bytes are always an address')
  return { address, sign: (rawData) => signWith(privateKey, rawData) }
}

function signWith(privateKey: Uint8Array, rawData: Uint8Array): Uint8Array {
  const recovered = secp256k1.sign(sha256(rawData), privateKey, { prehash: false, format: 'recovered' })
  const signature = new Uint8Array(65) // the library writes recovery ‖ r ‖ s
  signature.set(recovered.subarray(1), 0)
  signature[64] = 27 + (recovered[0] ?? 0)
  return signature
}
