import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import type { Brand } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'

/**
 * An account or contract: its 20 bytes as 40 lower-case hex digits, as logs and topics have them.
 * The code keeps only this form, so that two equal addresses are equal texts. The functions below
 * make the other forms: Base58Check, and 21 bytes that start with 0x41.
 */
export type Address = Brand<string, 'Address'>
export type AddressFault = 'not-base58check' | 'not-21-bytes' | 'wrong-prefix'

// first byte of addresses on all public Tron networks (java-tron `Constant.java`:
// ADD_PRE_FIX_BYTE_MAINNET)
const prefix = 0x41
const textMax = 64 // an address has 34 characters
const base58check = createBase58check(sha256)
const hex40 = /^[0-9a-f]{40}$/

/** The address of 20 zero bytes. Nobody has its key: what is sent there is lost or burnt. */
export const zeroAddress = '0'.repeat(40) as Address // safe: 40 hex digits

/**
 * Parses an address in Base58Check (`T…`, 34 characters), and verifies its checksum and its first
 * byte. Any text may be given.
 */
export function parseAddress(text: string): Result<Address, AddressFault> {
  const bytes = decodeBase58Check(text, textMax)
  if (bytes === null) return err('not-base58check')
  if (bytes.length !== 21) return err('not-21-bytes')
  if (bytes[0] !== prefix) return err('wrong-prefix')
  return ok(bytesToHex(bytes.subarray(1)) as Address) // safe: these three checks are the definition
}

/**
 * Parses 20 bytes as 40 hex digits in any case, with or without `0x`; null for any other text, such
 * as 21 bytes that start with 41.
 */
export function addressFromHex(hex: string): Address | null {
  const digits = (hex.startsWith('0x') ? hex.slice(2) : hex).toLowerCase()
  return hex40.test(digits) ? (digits as Address) : null // safe: the test is the definition
}

/** Writes an address in Base58Check: `T…`, 34 characters. */
export function formatBase58(address: Address): string {
  return base58check.encode(hexToBytes(`41${address}`))
}

/** Writes the 21 bytes of an address as 42 lower-case hex digits that start with `41`. */
export function formatHex(address: Address): string {
  return `41${address}`
}

/**
 * Writes the exact integer value of an address's 21 bytes in decimal digits. The number is too
 * large for a double.
 */
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
