import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { HDKey } from '@scure/bip32'
import { type Address, addressFromHex, decodeBase58Check } from '../chain/address.ts'
import { err, ok, type Result } from '../common/result.ts'

/**
 * The external chain `m/44'/195'/n'/0` of an account. It derives deposit addresses and cannot sign.
 * The key itself is no member of this object, so that nobody logs it by mistake: an extended public
 * key is confidential.
 */
export interface ExtendedPublicKey {
  /** Call `deriveAddress` instead: it says which indices are allowed. */
  readonly addressAt: (index: number) => Address
}

export type ExtendedPublicKeyFault =
  | 'empty'
  | 'too-long'
  /** `xprv…` and its relatives: the service never accepts a private key. */
  | 'private-extended-key'
  /** A private key or seed in hex. */
  | 'hex-key'
  | 'mnemonic'
  | 'not-base58check'
  /** Base58Check, but not with the version bytes of an `xpub`. */
  | 'not-an-xpub'
  /**
   * The depth of the key is neither that of an account (3) nor that of an external chain (4), so no
   * wallet would find the addresses below it.
   */
  | 'wrong-depth'
  /** Not a hardened account at depth 3, or not chain 0 (the external one) at depth 4. */
  | 'wrong-child-number'
  /** The 33 key bytes are not a point of the curve. */
  | 'not-on-the-curve'

const textMax = 128 // an xpub has 111 characters
const xpubVersion = 0x0488b21e // BIP-32, mainnet public
const xprvVersion = 0x0488ade4
/** The BIP-32 depth of an account's key, `m/44'/195'/n'`. */
export const accountDepth = 3
/** BIP-32: child numbers from here on are hardened. Only a private key derives them. */
export const hardened = 0x80000000
const externalChain = { depth: 4, childNumber: 0 } // m/44'/195'/n'/0: its children are the deposit addresses
/** The highest index of an address: a step of a BIP-32 path that is not hardened has 31 bits. */
export const indexMax = 0x7fffffff

/**
 * Cache of parsed keys by their text. An isolate parses the same configuration for each Durable
 * Object, and should derive the first addresses only once.
 */
const parsed = new Map<string, ExtendedPublicKey>()
/** Most keys in the cache: a deployment has at most 50 cells (`cellsMax`), each with one key. */
export const rememberedKeys = 50
const rememberedIndices = 20 // the addresses of each key that the checks of a configuration derive

/**
 * Parses the extended public key of an account `m/44'/195'/n'` or of its external chain
 * `m/44'/195'/n'/0`. It checks the key's depth and child number. It cannot check that the levels
 * above are 44' and 195': a key does not contain them.
 */
export function parseExtendedPublicKey(text: string): Result<ExtendedPublicKey, ExtendedPublicKeyFault> {
  const known = parsed.get(text)
  if (known !== undefined) return ok(known)
  if (text === '') return err('empty')
  if (/\p{L}\s+\p{L}/u.test(text)) return err('mnemonic') // before the length: 24 words are longer than textMax
  if (/^(0x)?[0-9a-f]{32,}$/i.test(text)) return err('hex-key')
  // before the checksum: a mistyped private key is named as one, too
  if (/^[a-z]prv/i.test(text)) return err('private-extended-key')
  if (text.length > textMax) return err('too-long')
  const bytes = decodeBase58Check(text, textMax)
  if (bytes === null) return err('not-base58check')
  if (bytes.length !== 78) return err('not-an-xpub')
  // version 4 | depth 1 | parent fingerprint 4 | child number 4 | chain code 32 | key 33 (BIP-32,
  // serialization format)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = view.getUint32(0)
  if (version === xprvVersion) return err('private-extended-key')
  if (version !== xpubVersion) return err('not-an-xpub')
  const depth = view.getUint8(4)
  if (depth !== accountDepth && depth !== externalChain.depth) return err('wrong-depth')
  const childNumber = view.getUint32(9)
  const isExpected = depth === accountDepth ? childNumber >= hardened : childNumber === externalChain.childNumber
  if (!isExpected) return err('wrong-child-number')
  const key = keyOrNull(text)
  if (key === null) return err('not-on-the-curve')
  const remembered = { addressAt: addressesBelow(key, depth) }
  parsed.set(text, remembered)
  const [oldest] = parsed.keys()
  if (parsed.size > rememberedKeys && oldest !== undefined) parsed.delete(oldest)
  return ok(remembered)
}

/**
 * The address at `m/44'/195'/n'/0/index`, index 0 to 2^31−1. Throws on any other index, and on the
 * one index in about 2^127 for which BIP-32 has no child: an operator must skip that index.
 */
export function deriveAddress(key: ExtendedPublicKey, index: number): Address {
  return key.addressAt(index)
}

/** Derives the external chain on first use, because most requests derive nothing. */
function addressesBelow(key: HDKey, depth: number): (index: number) => Address {
  let chain: HDKey | null = null
  const first: Address[] = []
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index > indexMax) throw new RangeError('index: 0 to 2^31-1')
    if (first[index] !== undefined) return first[index]
    chain ??= depth === externalChain.depth ? key : childOf(key, externalChain.childNumber)
    const address = addressOf(childOf(chain, index))
    if (index < rememberedIndices) first[index] = address
    return address
  }
}

/**
 * Derives the child at an index. If an index has no child, the library returns the next child. This
 * function throws instead, because two indices must never share an address.
 */
function childOf(parent: HDKey, index: number): HDKey {
  const child = parent.deriveChild(index)
  if (child.index !== index) throw new Error(`BIP-32 has no child at index ${index}`)
  return child
}

/**
 * The last 20 bytes of Keccak-256 over the uncompressed public key (PROTOCOL.md, Addresses and
 * derivation).
 */
function addressOf({ publicKey }: HDKey): Address {
  if (publicKey === null) throw new Error('a derived key has a public key')
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false)
  const address = addressFromHex(bytesToHex(keccak_256(point.subarray(1)).subarray(12)))
  if (address === null) throw new Error('20 bytes are always an address')
  return address
}

function keyOrNull(text: string): HDKey | null {
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    return null // the library throws where the key bytes are not a point
  }
}
