import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Address, addressFromHex, formatBase58 } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { encodeSigned, encodeTransfer, type TransferContent, txidOf } from '../../src/worker/chain/transaction.ts'
import { usdtAddress } from './transaction-spec.ts'

/** The key of the payout address of tests. It protects nothing. */
const privateKey = sha256(utf8ToBytes('the payout address of tests'))
const publicKey = secp256k1.getPublicKey(privateKey, false)

/** The payout address of tests. */
export const payoutAddress = addressOfKey(publicKey)
/** The same as `T…`. */
export const payoutBase58 = formatBase58(payoutAddress)

function addressOfKey(point: Uint8Array): Address {
  const address = addressFromHex(bytesToHex(keccak_256(point.subarray(1)).subarray(12)))
  if (address === null) throw new Error('20 bytes are an address')
  return address
}

/** A signed transaction in the forms that tests need. */
export interface SignedPayout {
  readonly rawData: Uint8Array
  readonly txid: Txid
  /** The whole message, as hex digits. */
  readonly transaction: string
}

/** Signs any bytes of `raw_data` with the key of the payout address, or with another one. */
export function signBytes(rawData: Uint8Array, key: Uint8Array = privateKey): SignedPayout {
  return { rawData, txid: txidOf(rawData), transaction: encodeSigned(rawData, signatureOf(rawData, key)) }
}

/** `r ‖ s ‖ v` over the SHA-256 of the bytes. */
export function signatureOf(rawData: Uint8Array, key: Uint8Array = privateKey): Uint8Array {
  const recovered = secp256k1.sign(sha256(rawData), key, { prehash: false, format: 'recovered' })
  const signature = new Uint8Array(65) // the library writes recovery ‖ r ‖ s
  signature.set(recovered.subarray(1), 0)
  signature[64] = 27 + (recovered[0] ?? 0)
  return signature
}

/** Signs a transfer from the payout address. */
export const signTransfer = (content: Omit<TransferContent, 'from'>): SignedPayout =>
  signBytes(encodeTransfer({ ...content, from: payoutAddress }))

/** What the scan stores once nodes have agreed on the decimals of a token, for tests without a scan: no payout of it is asked for before. */
export const agreedDecimals = (contract: Address = usdtAddress) =>
  `INSERT INTO stored_setting (name, value, stored_at) VALUES ('DECIMALS.${contract}', '6', 1)`
