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

/** A Tron transaction: its own bytes, its signature and what it costs. */
export interface EmbeddedTransaction {
  /** Hex digits of `raw_data`. */
  readonly rawHex: string
  /** 65 bytes, hex digits. */
  readonly signature: string
  /** Null where it costs nothing. */
  readonly settlement: Settlement | null
}

/** Call data of a call that runs out of energy. No contract has this function, so it fails: the EVM would have enough gas. */
export const outOfEnergyCall = '0xffffffff'
/** Ends the call data of each EVM transaction: "tronpb01". */
const magic = '74726f6e70623031'
const lengthDigits = 8

/**
 * What is appended to the call data of the EVM transaction that executes a Tron transaction. A contract ignores bytes after its
 * parameters, and an account ignores all of them. So the chain itself keeps the Tron bytes, without a second store.
 */
export function encodeEmbedded(transaction: EmbeddedTransaction): string {
  const payload = Buffer.from(utf8ToBytes(JSON.stringify(transaction))).toString('hex')
  return payload + (payload.length / 2).toString(16).padStart(lengthDigits, '0') + magic
}

/** The Tron transaction in an EVM transaction's call data, or null. */
export function decodeEmbedded(input: string): EmbeddedTransaction | null {
  const hex = strip0x(input)
  if (!hex.endsWith(magic)) return null
  const end = hex.length - magic.length - lengthDigits
  const start = end - 2 * Number.parseInt(hex.slice(end, end + lengthDigits), 16)
  return JSON.parse(Buffer.from(hex.slice(start, end), 'hex').toString('utf8')) as EmbeddedTransaction // from `encodeEmbedded`
}
