import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { type Address, addressFromHex, formatHex } from './address.ts'
import type { Asset, BlockHash, BlockHeight, Txid } from './block.ts'

/** What a transaction says besides its contract message. */
export interface TransactionContext {
  readonly reference: ReferenceBlock
  /**
   * Milliseconds since 1970. A block whose parent has this time or a later one cannot contain the
   * transaction.
   */
  readonly expiration: bigint
  /**
   * Milliseconds since 1970. Nodes do not check it. Two payments of equal content need different
   * timestamps, because otherwise they are one transaction.
   */
  readonly timestamp: bigint
  /** The most sun that a contract call may burn; 0n for all others. */
  readonly feeLimit: bigint
}

/** All that a transfer's transaction says: equal content gives equal bytes and one txid. */
export interface TransferContent extends TransactionContext {
  readonly asset: Asset
  readonly from: Address
  readonly to: Address
  /** Chain units: at most 2^63 − 1 for TRX, and 2^256 − 1 for a token. */
  readonly amount: bigint
}

/** What a transaction does: in Tron's words, its contract. */
export interface ContractMessage {
  /** Number of the contract type (PROTOCOL.md, Contract types). */
  readonly type: number
  /** The protobuf type URL of the message, as nodes and libraries write it. */
  readonly url: string
  readonly fields: FieldValues
}

/** The values of a message's fields, by field number. */
type FieldValues = Readonly<Record<number, Uint8Array | bigint>>

/**
 * A block as a transaction names it. If the block is not in the chain, the transaction cannot be
 * mined.
 */
export interface ReferenceBlock {
  /** The last two bytes of the block's height, as 4 hex digits. */
  readonly bytes: string
  /** Bytes 8 to 15 of the block's hash, counted from 0, as 16 hex digits. */
  readonly hash: string
}

/** Length of a signature `r ‖ s ‖ v` in bytes. */
export const signatureBytes = 65
/**
 * Most bytes that nodes accept as a signature. They ignore those after the 65th (java-tron 4.8.2,
 * pull request 6782, read 2026-11-27).
 */
export const signatureBytesMax = 68
/** Most hex digits of a signed transfer that are stored. A usual transfer has about 700. */
export const signedDigitsMax = 2_000
/** The contract type of a TRX transfer (PROTOCOL.md, Contract types). */
export const transferType = 1
/** The contract type of a contract's call, such as a token's transfer. */
export const callType = 31
/**
 * The selector of `transfer(address,uint256)` in call data: the first 4 bytes of its Keccak-256.
 */
const transferSelector = 'a9059cbb'
const wordDigits = 64

/** Returns what a transaction must contain to refer to this block. */
export function referenceOf({ height, hash }: { readonly height: BlockHeight; readonly hash: BlockHash }) {
  return { bytes: (height & 0xffff).toString(16).padStart(4, '0'), hash: hash.slice(16, 32) } satisfies ReferenceBlock
}

/**
 * The least energy of a token's transfer: it writes two balances (`SSTORE`, 5,000 or more each) and
 * logs three topics and 32 bytes (`LOG3`, 375 + 3 × 375 + 8 × 32). java-tron `EnergyCost`, checked
 * in 4.8.0 in November 2026.
 */
export const transferEnergyMin = 11_756n

/**
 * Encodes `raw_data` of a transfer: of TRX, or a call of the token's contract. Throws as
 * `encodeTransaction` does.
 */
export function encodeTransfer(content: TransferContent): Uint8Array {
  const { asset, from, to, amount } = content
  const isNative = asset.kind === 'native'
  const message = isNative
    ? transferOfTrx(from, to, amount)
    : callOf(from, asset.contract, transferCallData(to, amount))
  return encodeTransaction(message, content)
}

/**
 * Encodes `raw_data` exactly as java-tron does before hashing (java-tron protocol/core/Tron.proto):
 * fields in order, shortest numbers, and no field that is zero or empty. The SHA-256 of the bytes
 * is the txid, so a signer and this service find the same txid. Throws if a number is outside
 * int64.
 */
export function encodeTransaction(
  { type, url, fields }: ContractMessage,
  { reference, expiration, timestamp, feeLimit }: TransactionContext,
): Uint8Array {
  const any = encodeFields({ 1: new TextEncoder().encode(url), 2: encodeFields(fields) })
  return encodeFields({
    1: hexToBytes(reference.bytes),
    4: hexToBytes(reference.hash),
    8: expiration,
    11: encodeFields({ 1: BigInt(type), 2: any }),
    14: timestamp,
    18: feeLimit,
  })
}

const urlOf = (name: string) => `type.googleapis.com/protocol.${name}`
export const transferUrl = urlOf('TransferContract')
export const callUrl = urlOf('TriggerSmartContract')

// The fields of each message: the files protocol/core/contract/*.proto of java-tron.

function transferOfTrx(from: Address, to: Address, sun: bigint): ContractMessage {
  return { type: transferType, url: transferUrl, fields: { ...parties(from, to), 3: sun } }
}

/** Calls a contract with this call data, in hex digits. */
function callOf(from: Address, contract: Address, data: string): ContractMessage {
  return { type: callType, url: callUrl, fields: { ...parties(from, contract), 4: hexToBytes(data) } }
}

/**
 * Creates an account, which an address that has only received tokens does not have. `from` pays for
 * it.
 */
export function accountCreation(from: Address, account: Address): ContractMessage {
  return { type: 0, url: urlOf('AccountCreateContract'), fields: parties(from, account) }
}

/** Delegates the energy that a stake of `sun` gives to another account, without a lock. */
export function energyDelegation(from: Address, to: Address, sun: bigint): ContractMessage {
  return { type: 57, url: urlOf('DelegateResourceContract'), fields: delegated(from, to, sun) }
}

/** Takes a delegation of `energyDelegation` back. */
export function energyReturn(from: Address, to: Address, sun: bigint): ContractMessage {
  return { type: 58, url: urlOf('UnDelegateResourceContract'), fields: delegated(from, to, sun) }
}

const parties = (from: Address, other: Address) => ({ 1: accountBytes(from), 2: accountBytes(other) })

/** The enum `ResourceCode` has 1 for energy. */
const delegated = (from: Address, to: Address, sun: bigint) => {
  return { 1: accountBytes(from), 2: 1n, 3: sun, 4: accountBytes(to) }
}

/** Encodes the call data of a token's `transfer`, as hex digits without `0x`. */
export function transferCallData(to: Address, amount: bigint): string {
  return `${transferSelector}${transferArguments(to, amount)}`
}

/** Encodes the arguments of a token's `transfer`: its call data without the selector. */
export function transferArguments(to: Address, amount: bigint): string {
  return `${to.padStart(wordDigits, '0')}${amount.toString(16).padStart(wordDigits, '0')}`
}

/** Returns the txid of a transaction with this `raw_data`: its SHA-256. */
export function txidOf(rawData: Uint8Array): Txid {
  return bytesToHex(sha256(rawData)) as Txid // safe: 32 bytes
}

/**
 * Encodes the `Transaction` message with one signature, as the hex digits that a node's
 * `/wallet/broadcasthex` expects.
 */
export function encodeSigned(rawData: Uint8Array, signature: Uint8Array): string {
  return bytesToHex(encodeFields({ 1: rawData, 2: signature }))
}

/**
 * Recovers the address whose key has signed `rawData`, as nodes do. Null if nodes would refuse the
 * signature (`r ‖ s ‖ v`), or if no key fits it.
 */
export function signerOf(rawData: Uint8Array, signature: Uint8Array): Address | null {
  const recovery = recoveryOf(signature)
  if (recovery === null) return null
  try {
    const recovered = new Uint8Array(signatureBytes) // the library expects recovery ‖ r ‖ s
    recovered[0] = recovery
    recovered.set(signature.subarray(0, 64), 1)
    const key = secp256k1.recoverPublicKey(recovered, sha256(rawData), { prehash: false })
    const point = secp256k1.Point.fromBytes(key).toBytes(false)
    return addressFromHex(bytesToHex(keccak_256(point.subarray(1)).subarray(12)))
  } catch {
    return null // the library throws if there is no such key
  }
}

/**
 * Reads from a signature's last byte `v` which of the four keys that fit `r` and `s` has signed (0
 * to 3); null if nodes refuse the signature. Libraries write `v` in several ways, and nodes accept
 * 0 to 3, 27 to 30 and 31 to 34 (java-tron `TransactionCapsule`, `ECKey`, read 2026-11-27; TIP-935
 * keeps it).
 */
export function recoveryOf(signature: Uint8Array): number | null {
  if (signature.length < signatureBytes || signature.length > signatureBytesMax) return null
  const last = signature[signatureBytes - 1] ?? 0
  const header = last < 27 ? last + 27 : last
  const recovery = header < 31 ? header - 27 : header - 31
  return recovery > 3 ? null : recovery
}

const accountBytes = (address: Address) => hexToBytes(formatHex(address))

/**
 * Encodes the fields of a message. Omits zeros and empty bytes, as proto3 does. Throws if a number
 * is outside int64.
 */
function encodeFields(fields: FieldValues): Uint8Array {
  const message = new BinaryWriter()
  // An object's integer keys come in ascending order, as fields must.
  for (const [key, value] of Object.entries(fields)) {
    const field = Number(key)
    if (typeof value !== 'bigint') {
      if (value.length > 0) message.tag(field, WireType.LengthDelimited).bytes(value)
    } else if (value !== BigInt.asIntN(64, value)) {
      throw new Error(`no int64: ${value}`) // the library would cut it
    } else if (value !== 0n) message.tag(field, WireType.Varint).int64(value)
  }
  return message.finish()
}
