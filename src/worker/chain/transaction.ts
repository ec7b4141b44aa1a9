import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { type Address, addressFromHex, formatHex } from './address.ts'
import type { Asset, BlockHash, BlockHeight, Txid } from './block.ts'

/** A transfer of TRX or of a token, with the other content of its transaction. */
export interface TransferContent {
  readonly asset: Asset
  readonly from: Address
  readonly to: Address
  /** Chain units: at most 2^63 − 1 for TRX, and 2^256 − 1 for a token. */
  readonly amount: bigint
  readonly reference: ReferenceBlock
  /** Milliseconds since 1970. A block whose parent is as new as this cannot contain it. */
  readonly expiration: bigint
  /** Milliseconds since 1970. Nodes do not check it: it makes equal transfers different transactions. */
  readonly timestamp: bigint
  /** The most sun that a contract call may burn; 0n for TRX. */
  readonly feeLimit: bigint
}

/** A block that must be in the chain for a transaction to be mined, in the form in which the transaction names it. */
export interface ReferenceBlock {
  /** The last two bytes of its height, as 4 hex digits. */
  readonly bytes: string
  /** Bytes 8 to 16 of its hash, as 16 hex digits. */
  readonly hash: string
}

/** Bytes of a signature: `r ‖ s ‖ v`. */
export const signatureBytes = 65
/** Most bytes that nodes accept as a signature. They do not read beyond the 65th (java-tron 4.8.2, pull request 6782, read 2026-11-27). */
export const signatureBytesMax = 68
/** Most hex digits of a signed transfer that are stored. A usual transfer has about 700. */
export const signedDigitsMax = 2_000
/** Contract types (PROTOCOL.md, Contract types). */
export const transferType = 1
export const callType = 31
/** `transfer(address,uint256)`. */
const transferSelector = 'a9059cbb'
const wordDigits = 64

/** The parts of a block by which a transaction refers to it. */
export function referenceOf({ height, hash }: { readonly height: BlockHeight; readonly hash: BlockHash }) {
  return { bytes: (height & 0xffff).toString(16).padStart(4, '0'), hash: hash.slice(16, 32) } satisfies ReferenceBlock
}

/**
 * Encodes `raw_data` of a transfer exactly as java-tron does before hashing: fields in order, shortest numbers, no zeros (java-tron protocol/core/Tron.proto).
 * Equal content gives equal bytes.
 */
export function encodeTransfer(content: TransferContent): Uint8Array {
  const { reference, expiration, timestamp, feeLimit } = content
  const raw = bytesField(new BinaryWriter(), 1, hexToBytes(reference.bytes))
  bytesField(raw, 4, hexToBytes(reference.hash))
  numberField(raw, 8, expiration)
  bytesField(raw, 11, encodeContract(content))
  numberField(raw, 14, timestamp)
  return numberField(raw, 18, feeLimit).finish()
}

function encodeContract(content: TransferContent): Uint8Array {
  const isNative = content.asset.kind === 'native'
  const url = new TextEncoder().encode(isNative ? transferUrl : callUrl)
  const any = bytesField(bytesField(new BinaryWriter(), 1, url), 2, encodeMessage(content)).finish()
  return bytesField(numberField(new BinaryWriter(), 1, BigInt(isNative ? transferType : callType)), 2, any).finish()
}

/** The type URLs that nodes and libraries write. */
export const transferUrl = 'type.googleapis.com/protocol.TransferContract'
export const callUrl = 'type.googleapis.com/protocol.TriggerSmartContract'

function encodeMessage({ asset, from, to, amount }: TransferContent): Uint8Array {
  const message = bytesField(new BinaryWriter(), 1, accountBytes(from))
  if (asset.kind === 'native') return numberField(bytesField(message, 2, accountBytes(to)), 3, amount).finish()
  const data = hexToBytes(transferCallData(to, amount))
  return bytesField(bytesField(message, 2, accountBytes(asset.contract)), 4, data).finish()
}

/** Call data of a token's `transfer`, in hex digits. */
export function transferCallData(to: Address, amount: bigint): string {
  return `${transferSelector}${to.padStart(wordDigits, '0')}${amount.toString(16).padStart(wordDigits, '0')}`
}

/** The txid of these bytes of `raw_data`. */
export function txidOf(rawData: Uint8Array): Txid {
  return bytesToHex(sha256(rawData)) as Txid // safe: 32 bytes
}

/** Encodes the `Transaction` message with one signature, in the hex digits that `broadcasthex` expects. */
export function encodeSigned(rawData: Uint8Array, signature: Uint8Array): string {
  return bytesToHex(bytesField(bytesField(new BinaryWriter(), 1, rawData), 2, signature).finish())
}

/** The address whose key signed the SHA-256 of `rawData` with `r ‖ s ‖ v`, as nodes verify it. Null if a node refuses the signature, or if no key fits. */
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
 * Which of the four possible keys of `r` and `s` is meant (0 to 3), or null if a node accepts none. Libraries write it in several ways: a node adds 27 to a
 * byte below 27, and takes 31 to 34 for 27 to 30 (java-tron `TransactionCapsule`, `ECKey`, read 2026-11-27; TIP-935 keeps it).
 */
export function recoveryOf(signature: Uint8Array): number | null {
  if (signature.length < signatureBytes || signature.length > signatureBytesMax) return null
  const last = signature[signatureBytes - 1] ?? 0
  const header = last < 27 ? last + 27 : last
  const recovery = header < 31 ? header - 27 : header - 31
  return recovery > 3 ? null : recovery
}

const accountBytes = (address: Address) => hexToBytes(formatHex(address))

function bytesField(message: BinaryWriter, field: number, bytes: Uint8Array): BinaryWriter {
  return bytes.length === 0 ? message : message.tag(field, WireType.LengthDelimited).bytes(bytes)
}

function numberField(message: BinaryWriter, field: number, value: bigint): BinaryWriter {
  return value === 0n ? message : message.tag(field, WireType.Varint).int64(value)
}
