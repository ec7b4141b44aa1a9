import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Address, addressFromHex, formatBase58 } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { encodeSigned, encodeTransfer, type TransferContent, txidOf } from '../../src/worker/chain/transaction.ts'
import { usdtAddress } from './transaction-spec.ts'

/** The private key of the tests' payout address. It protects nothing. */
const privateKey = sha256(utf8ToBytes('the payout address of tests'))
const publicKey = secp256k1.getPublicKey(privateKey, false)

/** The tests' payout address: `privateKey` signs for it. */
export const payoutAddress = addressOfKey(publicKey)
/** The payout address in Base58Check. */
export const payoutBase58 = formatBase58(payoutAddress)

function addressOfKey(point: Uint8Array): Address {
  const address = addressFromHex(bytesToHex(keccak_256(point.subarray(1)).subarray(12)))
  if (address === null) throw new Error('20 bytes are an address')
  return address
}

export interface SignedPayout {
  readonly rawData: Uint8Array
  readonly txid: Txid
  /** The signed transaction as hex digits, as it is sent to nodes. */
  readonly transaction: string
}

/** Signs the bytes of any `raw_data`, by default with the key of the payout address. */
export function signBytes(rawData: Uint8Array, key: Uint8Array = privateKey): SignedPayout {
  return { rawData, txid: txidOf(rawData), transaction: encodeSigned(rawData, signatureOf(rawData, key)) }
}

/** The 65 bytes `r ‖ s ‖ v` of a signature over the SHA-256 of the bytes. */
export function signatureOf(rawData: Uint8Array, key: Uint8Array = privateKey): Uint8Array {
  const recovered = secp256k1.sign(sha256(rawData), key, { prehash: false, format: 'recovered' })
  const signature = new Uint8Array(65) // the library puts the recovery byte first
  signature.set(recovered.subarray(1), 0)
  signature[64] = 27 + (recovered[0] ?? 0)
  return signature
}

/** Signs a transfer that the payout address sends. */
export const signTransfer = (content: Omit<TransferContent, 'from'>): SignedPayout =>
  signBytes(encodeTransfer({ ...content, from: payoutAddress }))

/**
 * SQL that stores the agreed decimals of a token, as the scan does: without them no payout in the
 * token is accepted.
 */
export const agreedDecimals = (contract: Address = usdtAddress) =>
  `INSERT INTO agreed_decimals (contract, decimals, stored_at) VALUES ('${contract}', 6, 1)`
