import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import type { Brand } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'

/**
 * An account or contract: its 20 bytes as 40 lower-case hex digits, the form of logs and topics. Every other form
 * (Base58Check, 21 bytes that start with 0x41) is made from this one, so that one address has one representation.
 */
export type Address = Brand<string, 'Address'>
/** Why a text is not a Tron address in Base58Check. */
export type AddressFault = 'not-base58check' | 'not-21-bytes' | 'wrong-prefix'

const prefix = 0x41 // all public Tron networks (java-tron `Constant.java`: ADD_PRE_FIX_BYTE_MAINNET)
const textMax = 64 // an address has 34 characters
const base58check = createBase58check(sha256)
const hex40 = /^[0-9a-f]{40}$/

/** Parses an address in Base58Check (`T…`, 34 characters) and verifies its checksum. */
export function parseAddress(text: string): Result<Address, AddressFault> {
  const bytes = decodeBase58Check(text, textMax)
  if (bytes === null) return err('not-base58check')
  if (bytes.length !== 21) return err('not-21-bytes')
  if (bytes[0] !== prefix) return err('wrong-prefix')
  return ok(bytesToHex(bytes.subarray(1)) as Address) // safe: these three checks are the definition
}

/** The address whose 20 bytes are `hex` (40 hex digits in any case, optionally prefixed with 0x), or null. */
export function addressFromHex(hex: string): Address | null {
  const digits = (hex.startsWith('0x') ? hex.slice(2) : hex).toLowerCase()
  return hex40.test(digits) ? (digits as Address) : null // safe: the test is the definition
}

/** `T…`, 34 characters. */
export function formatBase58(address: Address): string {
  return base58check.encode(hexToBytes(`41${address}`))
}

/** 42 hex digits, starting with `41`. */
export function formatHex(address: Address): string {
  return `41${address}`
}

/** The exact integer value of the 21 bytes, in decimal digits. */
export function formatNumber(address: Address): string {
  return BigInt(`0x41${address}`).toString()
}

/** Decodes Base58Check; null for any other text, and for one of more than `charsMax` characters. */
export function decodeBase58Check(text: string, charsMax: number): Uint8Array | null {
  if (text.length > charsMax) return null // decoding is quadratic
  try {
    return base58check.decode(text)
  } catch {
    return null // the library throws on a bad letter or checksum: both mean "not Base58Check"
  }
}
