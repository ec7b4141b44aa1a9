import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { utils } from 'tronweb'
import { strip0x } from '../support/hex.ts'

/**
 * What a transaction costs, decided when the node accepts it: units of energy and bandwidth, and
 * fees in sun.
 */
export interface Settlement {
  readonly result: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY'
  readonly energyTotal: number
  /** The part of `energyTotal` that the sender's stake or a delegation pays. */
  readonly energyUsage: number
  readonly energyFee: number
  /** Bytes of free bandwidth that the transaction uses; 0 if `netFee` pays for all of its bytes. */
  readonly netUsage: number
  readonly netFee: number
  /** Sun, for the account that this transaction creates; 0 if it creates none. */
  readonly activationFee: number
}

/**
 * What the EVM chain keeps of a Tron transaction: the hex digits of `raw_data`, the signature (65
 * bytes) and what it costs.
 */
export interface EmbeddedTransaction {
  readonly rawHex: string
  readonly signature: string
  /** Null if the transaction costs nothing. */
  readonly settlement: Settlement | null
}

/**
 * The `raw_data` of a transaction. Addresses are 40 hex digits, times milliseconds, everything else
 * hex without `0x`.
 */
export interface RawTransaction {
  readonly txid: string
  readonly rawHex: string
  /** `raw_data` as the HTTP API prints it. */
  readonly json: RawJson
  readonly type: string
  readonly owner: string
  /** The other party: the recipient, the receiver of a delegation or the called contract. */
  readonly target: string | null
  /** Sun, or the smallest units of a TRC-10 token. */
  readonly amount: bigint
  /** Call data or creation code. */
  readonly code: string
}

export type TronTransaction = RawTransaction & EmbeddedTransaction

/** The used fields of anvil's transaction object. */
export interface EvmTransaction {
  readonly hash: string
  readonly input: string
}

interface RawJson {
  readonly contract: readonly [{ readonly type: string; readonly parameter: { readonly value: ContractValue } }]
  readonly ref_block_bytes?: string
  readonly ref_block_hash?: string
  readonly expiration?: number
  readonly fee_limit?: number
}

/**
 * The parameters of a transaction's contract (Tron's word for its operation), by their names in the
 * HTTP API.
 */
export type ContractValue = Readonly<Record<string, unknown>>

/**
 * The part of tronweb that is used: pure functions between JSON and protobuf, and the generated
 * parser of `raw_data`.
 */
const { transaction: encoder, deserializeTx: decoder } = utils as unknown as {
  readonly transaction: { txJsonToPb(json: object): unknown; txPbToRawDataHex(message: unknown): string }
  readonly deserializeTx: { deserializeTransaction(type: string, rawHex: string): unknown }
}
const { TronWebProto } = globalThis as unknown as {
  readonly TronWebProto: { Transaction: { raw: { deserializeBinary(bytes: Uint8Array): RawMessage } } }
}
interface RawMessage {
  getContractList(): { getParameter(): { getTypeUrl(): string } }[]
}

const expiresAfterMs = 60_000
const feeLimit = 100_000_000
const typeUrl = 'type.googleapis.com/protocol.'

/**
 * Hex digits of the `raw_data` of a transaction with this timestamp. `memo` is hex digits that make
 * the `raw_data`, and so its txid, unique.
 */
export function encodeRaw(type: string, value: ContractValue, memo: string, timestamp: number): string {
  const message = encoder.txJsonToPb({
    raw_data: {
      contract: [{ type, parameter: { value, type_url: `${typeUrl}${type}` } }],
      ref_block_bytes: memo.slice(0, 4),
      ref_block_hash: memo.slice(0, 16),
      data: memo,
      expiration: timestamp + expiresAfterMs,
      timestamp,
      ...(runsCode(type) ? { fee_limit: feeLimit } : {}),
    },
  })
  return encoder.txPbToRawDataHex(message).toLowerCase()
}

/** Whether this type runs contract code: only such a transaction uses energy and can fail. */
export function runsCode(type: string): boolean {
  return type === 'TriggerSmartContract' || type === 'CreateSmartContract'
}

/**
 * Parses the `raw_data` in these bytes. Throws if they are no such message, or of a type that
 * tronweb does not know.
 */
export function parseRaw(rawHex: string): RawTransaction {
  const bytes = hexToBytes(rawHex)
  const [contract] = TronWebProto.Transaction.raw.deserializeBinary(bytes).getContractList()
  const type = contract?.getParameter().getTypeUrl().replace(typeUrl, '') ?? ''
  const json = asPrinted(decoder.deserializeTransaction(type, rawHex)) as RawJson // as java-tron prints it
  const { value } = json.contract[0].parameter
  const textOf = (...names: readonly string[]) => names.map((name) => value[name]).find((one) => one !== undefined)
  const target = textOf('to_address', 'account_address', 'receiver_address', 'contract_address')
  const created = (value.new_contract ?? {}) as ContractValue // the fields of the created contract
  return {
    txid: bytesToHex(sha256(bytes)),
    rawHex,
    json,
    type,
    owner: String(value.owner_address).slice(2),
    target: target === undefined ? null : String(target).slice(2),
    amount: BigInt(Number(textOf('amount', 'balance', 'frozen_balance', 'call_value') ?? 0)),
    code: String(value.data ?? created.bytecode ?? ''),
  }
}

/**
 * Parses a `Transaction` message, as `broadcasthex` takes it. Throws if the bytes are no such
 * message.
 */
export function parseTransaction(bytes: Uint8Array): {
  readonly raw: RawTransaction
  readonly signatures: readonly Uint8Array[]
} {
  const reader = new BinaryReader(bytes)
  const signatures: Uint8Array[] = []
  let rawHex = ''
  while (reader.pos < reader.len) {
    const [no, wireType] = reader.tag()
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, no)
    else if (no === 1) rawHex = bytesToHex(reader.bytes())
    else if (no === 2) signatures.push(reader.bytes())
    else reader.bytes()
  }
  return { raw: parseRaw(rawHex), signatures }
}

/**
 * tronweb's JSON as java-tron prints it: hex digits in lower case, and nothing that is zero, false
 * or empty.
 */
function asPrinted(value: unknown): unknown {
  if (typeof value === 'string') return /^[0-9A-F]+$/.test(value) ? value.toLowerCase() : value
  if (Array.isArray(value)) return value.map(asPrinted)
  if (typeof value !== 'object' || value === null) return value
  const isShown = (one: unknown) => ![0, false, '', 'BANDWIDTH'].includes(one as string) && !isEmptyList(one)
  const shown = Object.entries(value).filter(([, one]) => isShown(one))
  return Object.fromEntries(shown.map(([name, one]) => [name, asPrinted(one)]))
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/**
 * Call data that stands for a call that runs out of energy. Here every call has enough gas, so this
 * one fails because no contract has the function.
 */
export const outOfEnergyCall = '0xffffffff'
/** Ends the call data of each EVM transaction: "tronpb01". */
const magic = '74726f6e70623031'
const lengthDigits = 8

/**
 * The bytes that are appended to the call data of the EVM transaction that executes a Tron
 * transaction. A contract ignores bytes after its parameters, and an account ignores all of them.
 * So the chain itself keeps the Tron bytes, without a second store.
 */
export function encodeEmbedded(transaction: EmbeddedTransaction): string {
  const payload = Buffer.from(JSON.stringify(transaction)).toString('hex')
  return payload + (payload.length / 2).toString(16).padStart(lengthDigits, '0') + magic
}

/** The Tron transaction that an EVM transaction carries. Throws if it carries none. */
export function toTron({ hash, input }: EvmTransaction): TronTransaction {
  const hex = strip0x(input)
  if (!hex.endsWith(magic)) throw new Error(`no Tron transaction in ${hash}`)
  const end = hex.length - magic.length - lengthDigits
  const start = end - 2 * Number.parseInt(hex.slice(end, end + lengthDigits), 16)
  const payload = Buffer.from(hex.slice(start, end), 'hex').toString('utf8')
  const embedded = JSON.parse(payload) as EmbeddedTransaction // from `encodeEmbedded`
  return { ...parseRaw(embedded.rawHex), ...embedded }
}
