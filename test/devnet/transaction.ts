import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import {
  type ContractField,
  type ContractName,
  type ContractParameters,
  type ContractSpec,
  contractSpecs,
} from '../support/contracts.ts'
import { strip0x } from '../support/hex.ts'
import { decodeEmbedded, type EmbeddedTransaction } from './embedded.ts'
import { parseRaw, type RawTransaction, type Resource } from './parse-transaction.ts'
import { decodeSynthetic } from './synthetic-transaction.ts'

/** The used fields of anvil's transaction object. */
export interface EvmTransaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly value: string
  readonly input: string
  readonly nonce: string
  readonly r: string
  readonly s: string
  readonly blockHash: string | null
  readonly blockNumber: string | null
  readonly transactionIndex: string | null
}

/** The Tron transaction that an EVM transaction represents. */
export interface TronTransaction {
  readonly evm: EvmTransaction
  /** SHA-256 of the raw bytes, 64 hex digits. */
  readonly txid: string
  readonly type: ContractName
  readonly parameters: ContractParameters
  readonly rawHex: string
  /** `raw_data` as the HTTP API prints it. */
  readonly rawJson: Readonly<Record<string, unknown>>
  /** Of a stake or a delegation. */
  readonly resource: Resource
  /** Null where no client broadcast it: a control sent it, without a Tron signature and without costs. */
  readonly embedded: EmbeddedTransaction | null
}

const timestampBase = 1_767_225_600_000 // constant, because the bytes must not depend on the block
const expiresAfterMs = 60_000
/** The maximum fee of a contract call, in sun; a block's `gasLimit` is the sum over its calls. */
export const feeLimit = 100_000_000n

/**
 * The Tron transaction that an EVM transaction represents. It depends only on fields that mining does not change, so
 * the txid is the same before mining, after mining and after a restart. The memo is the EVM hash, which makes the
 * bytes unique.
 */
export function toTron(evm: EvmTransaction): TronTransaction {
  const broadcast = decodeEmbedded(evm.input)
  if (broadcast !== null) return toBroadcast(evm, broadcast.embedded)
  const { type, parameters } = decodeSynthetic(evm) ?? toContract(evm)
  const memo = strip0x(evm.hash)
  const timestamp = timestampBase + Number(evm.nonce) * 1_000
  const content = { type, parameters, memo, timestamp }
  const bytes = encodeRaw(content)
  const rawHex = bytesToHex(bytes)
  const txid = bytesToHex(sha256(bytes))
  return { evm, type, parameters, txid, rawHex, rawJson: toRawJson(content), resource: 'ENERGY', embedded: null }
}

/** A transaction that was broadcast: its bytes are its own. */
function toBroadcast(evm: EvmTransaction, embedded: EmbeddedTransaction): TronTransaction {
  const { rawHex } = embedded
  const raw = parseRaw(hexToBytes(rawHex))
  if (raw.contract === null) throw new Error(`a broadcast transaction without a contract: ${raw.txid}`)
  const { type, parameters, resource } = raw.contract
  return { evm, type, parameters, txid: raw.txid, rawHex, rawJson: toBroadcastJson(raw), resource, embedded }
}

function toBroadcastJson(raw: RawTransaction): Record<string, unknown> {
  const { contract, refBlockBytes, refBlockHash, expiration, timestamp, feeLimit } = raw
  if (contract === null) return {}
  const { type, parameters, resource } = contract
  const value = { ...toJson(contractSpecs[type].fields, parameters), ...(resource === 'ENERGY' ? { resource } : {}) }
  return {
    contract: [{ parameter: { value, type_url: typeUrlOf(type) }, type }],
    ref_block_bytes: refBlockBytes,
    ref_block_hash: refBlockHash,
    expiration,
    timestamp,
    ...(feeLimit === 0 ? {} : { fee_limit: feeLimit }),
  }
}

/** Whether this type runs contract code: only such a transaction uses energy and can fail. */
export function runsCode(type: ContractName): boolean {
  return type === 'TriggerSmartContract' || type === 'CreateSmartContract'
}

/**
 * `r ‖ s ‖ v`. That of a transaction which no client broadcast is a signature of the EVM transaction: it does not verify
 * for the Tron bytes.
 */
export function signatureOf({ evm, embedded }: TronTransaction): string {
  if (embedded !== null) return embedded.signature
  return `${strip0x(evm.r).padStart(64, '0')}${strip0x(evm.s).padStart(64, '0')}1b`
}

interface RawContent {
  readonly type: ContractName
  readonly parameters: ContractParameters
  /** Hex digits. */
  readonly memo: string
  readonly timestamp: number
}

/** The bytes of `protocol.Transaction.raw` (PROTOCOL.md, Transaction bytes). */
function encodeRaw({ type, parameters, memo, timestamp }: RawContent): Uint8Array {
  const spec: ContractSpec = contractSpecs[type]
  const parameter = new BinaryWriter()
  writeBytes(parameter, 1, utf8ToBytes(typeUrlOf(type)))
  writeBytes(parameter, 2, encode(spec.fields, parameters))
  const contract = new BinaryWriter()
  writeInt(contract, 1, BigInt(spec.id))
  writeBytes(contract, 2, parameter.finish())

  const raw = new BinaryWriter()
  writeBytes(raw, 1, hexToBytes(memo.slice(0, 4)))
  writeBytes(raw, 4, hexToBytes(memo.slice(0, 16)))
  writeInt(raw, 8, BigInt(timestamp + expiresAfterMs))
  writeBytes(raw, 10, hexToBytes(memo))
  writeBytes(raw, 11, contract.finish())
  writeInt(raw, 14, BigInt(timestamp))
  if (runsCode(type)) writeInt(raw, 18, feeLimit)
  return raw.finish()
}

function toRawJson({ type, parameters, memo, timestamp }: RawContent): Record<string, unknown> {
  const value = toJson(contractSpecs[type].fields, parameters)
  return {
    data: memo,
    contract: [{ parameter: { value, type_url: typeUrlOf(type) }, type }],
    ref_block_bytes: memo.slice(0, 4),
    ref_block_hash: memo.slice(0, 16),
    expiration: timestamp + expiresAfterMs,
    timestamp,
    ...(runsCode(type) ? { fee_limit: Number(feeLimit) } : {}),
  }
}

const typeUrlOf = (type: ContractName) => `type.googleapis.com/protocol.${type}`

function toContract(evm: EvmTransaction): { type: ContractName; parameters: ContractParameters } {
  const parameters = {
    owner: strip0x(evm.from),
    target: evm.to === null ? null : strip0x(evm.to),
    amount: BigInt(evm.value),
    code: strip0x(evm.input),
  }
  if (parameters.target === null) return { type: 'CreateSmartContract', parameters }
  const isTransfer = parameters.code === '' && parameters.amount > 0n
  return { type: isTransfer ? 'TransferContract' : 'TriggerSmartContract', parameters }
}

function encode(fields: readonly ContractField[], parameters: ContractParameters): Uint8Array {
  const writer = new BinaryWriter()
  for (const field of fields) {
    if ('fields' in field) writeBytes(writer, field.no, encode(field.fields, parameters))
    else if ('text' in field) writeBytes(writer, field.no, utf8ToBytes(field.text))
    else if ('number' in field) writeInt(writer, field.no, BigInt(field.number))
    else if (field.from === 'amount') writeInt(writer, field.no, parameters.amount)
    else {
      const bytes = hexToBytes(hexOf(field.from, parameters))
      if (bytes.length > 0) writeBytes(writer, field.no, bytes)
    }
  }
  return writer.finish()
}

function toJson(fields: readonly ContractField[], parameters: ContractParameters): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      if ('fields' in field) {
        const inner = toJson(field.fields, parameters)
        return [[field.name, field.isList ? [inner] : inner]]
      }
      if ('text' in field) return [[field.name, bytesToHex(utf8ToBytes(field.text))]]
      if ('number' in field) return [[field.name, field.number]]
      if (field.from === 'amount') return parameters.amount === 0n ? [] : [[field.name, exactNumber(parameters.amount)]]
      const hex = hexOf(field.from, parameters)
      return hex === '' ? [] : [[field.name, hex]]
    }),
  )
}

/** A JSON number with all digits, above 2^53 too, as java-tron prints an int64. */
function exactNumber(value: bigint): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown } // in Node since 22
  return rawJSON(`${value}`)
}

/** The bytes of an address start with 0x41; an empty text means that the field is absent. */
function hexOf(source: 'owner' | 'target' | 'code', parameters: ContractParameters): string {
  if (source === 'code') return parameters.code
  const address = parameters[source]
  return address === null ? '' : `41${address}`
}

/** In proto3 a zero is not written. */
function writeInt(writer: BinaryWriter, no: number, value: bigint): void {
  if (value !== 0n) writer.tag(no, WireType.Varint).int64(value)
}

function writeBytes(writer: BinaryWriter, no: number, value: Uint8Array): void {
  writer.tag(no, WireType.LengthDelimited).bytes(value)
}
