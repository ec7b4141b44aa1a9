import { utf8ToBytes } from '@noble/hashes/utils.js'
import { strip0x } from '../support/hex.ts'

/** What a transaction costs, decided when the node accepts it: units of energy and bandwidth, and fees in sun. */
export interface Settlement {
  readonly result: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY'
  readonly energyTotal: number
  readonly energyPenalty: number
  /** The part of `energyTotal` that the sender's stake or a delegation pays. */
  readonly energyUsage: number
  readonly energyFee: number
  /** Bandwidth: staked or free bytes, or else the fee for all of them. */
  readonly netUsage: number
  readonly isFreeNet: boolean
  readonly netFee: number
  /** For an account that this transaction creates. */
  readonly activationFee: number
}

/** A transaction that was broadcast: its own bytes, its signature and what it costs. */
export interface EmbeddedTransaction {
  /** Hex digits of `raw_data`. */
  readonly rawHex: string
  /** 65 bytes, hex digits. */
  readonly signature: string
  readonly settlement: Settlement
}

/** Ends the call data of an EVM transaction that carries a broadcast transaction: "tronpb01". */
const magic = '74726f6e70623031'
const lengthDigits = 8

/**
 * What is appended to the call data of the EVM transaction that executes a broadcast one. A contract ignores bytes after
 * its parameters, and an account ignores all of them. So the chain itself keeps the Tron bytes, without a second store.
 */
export function encodeEmbedded(transaction: EmbeddedTransaction): string {
  const payload = Buffer.from(utf8ToBytes(JSON.stringify(transaction))).toString('hex')
  return payload + (payload.length / 2).toString(16).padStart(lengthDigits, '0') + magic
}

/** The broadcast transaction in an EVM transaction's call data and the call data without it, or null. */
export function decodeEmbedded(
  input: string,
): { readonly embedded: EmbeddedTransaction; readonly code: string } | null {
  const hex = strip0x(input)
  if (!hex.endsWith(magic)) return null
  const end = hex.length - magic.length - lengthDigits
  const start = end - 2 * Number.parseInt(hex.slice(end, end + lengthDigits), 16)
  const text = Buffer.from(hex.slice(start, end), 'hex').toString('utf8')
  return { embedded: JSON.parse(text) as EmbeddedTransaction, code: hex.slice(0, start) } // from `encodeEmbedded`
}
