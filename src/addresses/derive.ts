import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import { err, ok, type Result } from '../common/result.ts'
import { type Address, addressFromHex } from './address.ts'

type Point = ReturnType<typeof secp256k1.Point.fromBytes>

/**
 * The external chain `m/44'/195'/0'/0` of an account, ready to derive addresses from. It can see every address and
 * spend from none. It holds nothing that can be printed: an extended public key is confidential.
 */
export interface ExtendedPublicKey {
  /** The address at `/index`; see `deriveAddress`. */
  readonly addressAt: (index: number) => Address
}

/** Why a text is no key that deposit addresses can be derived from. */
export type ExtendedPublicKeyFault =
  | 'empty'
  | 'too-long'
  /** `xprv…` and its relatives: a private key has no business here. */
  | 'private-extended-key'
  /** A private key or seed written in hex. */
  | 'hex-key'
  | 'mnemonic'
  | 'not-base58check'
  /** Base58Check of something else, or version bytes other than a plain `xpub`'s. */
  | 'not-an-xpub'
  /** Neither the account (3) nor its external chain (4): addresses would be valid and belong to no wallet. */
  | 'wrong-depth'
  /** Not account 0' at depth 3, or not chain 0 (the external one) at depth 4. */
  | 'wrong-child-number'
  /** The 33 key bytes are no point of the curve. */
  | 'not-on-the-curve'

/** One public level of BIP-32: what the next level is computed from. */
interface Level {
  readonly key: Uint8Array
  readonly chainCode: Uint8Array
}

const textMax = 128 // an xpub has 111 letters; base58 decoding is quadratic
const xpubVersion = 0x0488b21e // BIP-32, mainnet public
const xprvVersion = 0x0488ade4
const account = { depth: 3, childNumber: 0x80000000 } // m/44'/195'/0'
const externalChain = { depth: 4, childNumber: 0 } // m/44'/195'/0'/0
const base58check = createBase58check(sha256)

/**
 * An extended public key: the account `m/44'/195'/0'` or its external chain `m/44'/195'/0'/0`. Its depth and child
 * number are checked; the levels above them can't be seen in it. About 0.2 ms: the rest is done when the first
 * address is asked for.
 */
export function parseExtendedPublicKey(text: string): Result<ExtendedPublicKey, ExtendedPublicKeyFault> {
  if (text === '') return err('empty')
  if (/\p{L}\s+\p{L}/u.test(text)) return err('mnemonic') // before the length: 24 words are longer than textMax
  if (/^(0x)?[0-9a-f]{32,}$/i.test(text)) return err('hex-key')
  if (/^[a-z]prv/i.test(text)) return err('private-extended-key') // even a mistyped one is named
  if (text.length > textMax) return err('too-long')
  const bytes = decodeOrNull(text)
  if (bytes === null) return err('not-base58check')
  if (bytes.length !== 78) return err('not-an-xpub')
  // version 4 | depth 1 | parent fingerprint 4 | child number 4 | chain code 32 | key 33 (BIP-32, serialization format)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = view.getUint32(0)
  if (version === xprvVersion) return err('private-extended-key')
  if (version !== xpubVersion) return err('not-an-xpub')
  const depth = view.getUint8(4)
  const expected = depth === account.depth ? account : externalChain
  if (depth !== expected.depth) return err('wrong-depth')
  if (view.getUint32(9) !== expected.childNumber) return err('wrong-child-number')
  const level = { chainCode: bytes.slice(13, 45), key: bytes.slice(45) }
  const point = pointOrNull(level.key)
  if (point === null) return err('not-on-the-curve')
  return ok({ addressAt: derivation(level, point, depth) })
}

/**
 * The address at `m/44'/195'/0'/0/index`, index 0 to 2^31−1. Throws on any other index, and on the one index in about
 * 2^127 for which BIP-32 has no child: there the index has to be skipped by a person.
 */
export function deriveAddress(key: ExtendedPublicKey, index: number): Address {
  return key.addressAt(index)
}

/** The address of a public key: the last 20 bytes of Keccak-256 over X‖Y. */
export function addressOfPoint(point: Point): Address {
  const hash = keccak_256(point.toBytes(false).subarray(1))
  const address = addressFromHex(bytesToHex(hash.subarray(12)))
  if (address === null) throw new Error('20 bytes are always an address')
  return address
}

/**
 * BIP-32's public child: `parent + tweak·G`. Null where there is none: a tweak not below the curve's order, or a sum
 * that is the point at infinity. `timesBase` multiplies the generator.
 */
export function childPoint(parent: Point, tweak: Uint8Array, timesBase: (scalar: bigint) => Point): Point | null {
  const { Fn, ZERO } = secp256k1.Point
  const scalar = Fn.fromBytes(tweak, true) // true: not refused here; the next line is BIP-32's own check
  if (!Fn.isValid(scalar)) return null
  const child = parent.add(timesBase(scalar))
  return child.equals(ZERO) ? null : child
}

/**
 * The derivation below one parsed key. What can be computed once is, when it is first needed: the external chain's
 * point, so that an address costs one HMAC, one multiplication and one addition, and no decompression.
 */
function derivation(level: Level, point: Point, depth: number): (index: number) => Address {
  const timesBase = baseMultiplier()
  let chain: { readonly level: Level; readonly point: Point } | null = null
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index > 0x7fffffff) throw new RangeError('index: 0 to 2^31-1')
    chain ??= depth === externalChain.depth ? { level, point } : step({ level, point }, 0, timesBase)
    return addressOfPoint(stepPoint(chain, index, timesBase).point)
  }
}

function step(
  from: { readonly level: Level; readonly point: Point },
  index: number,
  timesBase: (scalar: bigint) => Point,
): { readonly level: Level; readonly point: Point } {
  const { point, chainCode } = stepPoint(from, index, timesBase)
  return { level: { key: point.toBytes(true), chainCode }, point }
}

function stepPoint(
  from: { readonly level: Level; readonly point: Point },
  index: number,
  timesBase: (scalar: bigint) => Point,
): { readonly point: Point; readonly chainCode: Uint8Array } {
  const data = new Uint8Array(37)
  data.set(from.level.key)
  new DataView(data.buffer).setUint32(33, index)
  const hash = hmac(sha512, from.level.chainCode, data)
  const point = childPoint(from.point, hash.subarray(0, 32), timesBase)
  if (point === null) throw new Error(`BIP-32 has no child at index ${index}`)
  return { point, chainCode: hash.subarray(32) }
}

/**
 * Multiplies the generator. Tweaks are public, so the library's variable-time methods are right here; its constant-time
 * `multiply` also wants random bytes. Measured November 2026: without a table 2 ms on a cold start and 0.9 ms after it,
 * with one 0.25 ms after 25 ms of building. So the table comes once it pays: a cold isolate's first address from a key of
 * depth 3 costs about 12 ms of CPU (one step more than from depth 4), each further one 1 to 3 ms.
 */
function baseMultiplier(): (scalar: bigint) => Point {
  const { Point } = secp256k1
  const tableAfter = 32
  const tableWidth = 6 // 8 gains a fifth and takes twice as long to build
  let uses = 0
  let plain: Point | null = null
  let tabled: Point | null = null
  return (scalar) => {
    if (tabled !== null) return tabled.multiplyUnsafe(scalar)
    // Points of our own: tables hang on the object, and the library's BASE comes with one that is built at first use.
    plain ??= Point.fromAffine(Point.BASE.toAffine())
    uses += 1
    if (uses <= tableAfter) return plain.multiplyUnsafe(scalar)
    uses = 0 // if the platform stops this request while it builds, the next ones go on without a table
    const point = Point.fromAffine(Point.BASE.toAffine()).precompute(tableWidth, true)
    const product = point.multiplyUnsafe(scalar) // builds the table
    tabled = point
    return product
  }
}

function pointOrNull(bytes: Uint8Array): Point | null {
  try {
    return secp256k1.Point.fromBytes(bytes)
  } catch {
    return null // the library throws on a bad prefix and on an x without a y: both mean "no point"
  }
}

function decodeOrNull(text: string): Uint8Array | null {
  try {
    return base58check.decode(text)
  } catch {
    return null // the library throws on a bad letter or checksum: both mean "not Base58Check"
  }
}
