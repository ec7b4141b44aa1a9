import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { type ContractFacts, type ContractSpec, type ContractType, contractSpecs, type Field } from './contracts.ts'
import { strip } from './hex.ts'
import { readCarried } from './synthetic-transaction.ts'

/** A transaction as anvil shows it, as far as it is needed. */
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

/** The same transaction as Tron has it. */
export interface TronTransaction {
  readonly evm: EvmTransaction
  /** SHA-256 of the raw bytes, 64 hex digits. */
  readonly txid: string
  readonly type: ContractType
  readonly facts: ContractFacts
  readonly rawHex: string
  /** `raw_data` as the HTTP API prints it. */
  readonly rawJson: Readonly<Record<string, unknown>>
}

const timestampBase = 1_767_225_600_000 // the bytes must not depend on the block: a txid is known before it is mined
const expiresAfterMs = 60_000
/** Most that a contract call may burn, in sun: what `gasLimit` of a block adds up. */
export const feeLimit = 100_000_000n

/**
 * The Tron transaction that an EVM one stands for. A pure function of the transaction, so the txid is the same before and
 * after it is mined and after a restart. The EVM hash is the memo: it makes the bytes unique.
 */
export function toTron(evm: EvmTransaction): TronTransaction {
  const { type, facts } = readCarried(evm) ?? readReal(evm)
  const spec: ContractSpec = contractSpecs[type]
  const memo = strip(evm.hash)
  const timestamp = timestampBase + Number(evm.nonce) * 1_000
  const typeUrl = `type.googleapis.com/protocol.${type}`

  const parameter = new BinaryWriter()
  writeBytes(parameter, 1, utf8ToBytes(typeUrl))
  writeBytes(parameter, 2, encode(spec.fields, facts))
  const contract = new BinaryWriter()
  writeInt(contract, 1, BigInt(spec.id))
  writeBytes(contract, 2, parameter.finish())

  const raw = new BinaryWriter() // protocol.Transaction.raw, java-tron `core/Tron.proto`
  writeBytes(raw, 1, hexToBytes(memo.slice(0, 4)))
  writeBytes(raw, 4, hexToBytes(memo.slice(0, 16)))
  writeInt(raw, 8, BigInt(timestamp + expiresAfterMs))
  writeBytes(raw, 10, hexToBytes(memo))
  writeBytes(raw, 11, contract.finish())
  writeInt(raw, 14, BigInt(timestamp))
  if (runsCode(type)) writeInt(raw, 18, feeLimit)
  const bytes = raw.finish()

  const value = toJson(spec.fields, facts)
  return {
    evm,
    type,
    facts,
    txid: bytesToHex(sha256(bytes)),
    rawHex: bytesToHex(bytes),
    rawJson: {
      data: memo,
      contract: [{ parameter: { value, type_url: typeUrl }, type }],
      ref_block_bytes: memo.slice(0, 4),
      ref_block_hash: memo.slice(0, 16),
      expiration: timestamp + expiresAfterMs,
      timestamp,
      ...(runsCode(type) ? { fee_limit: Number(feeLimit) } : {}),
    },
  }
}

/** Whether a transaction of this type runs a contract's code: only then it uses energy, can fail, and shows its input. */
export function runsCode(type: ContractType): boolean {
  return type === 'TriggerSmartContract' || type === 'CreateSmartContract'
}

/** `r ‖ s ‖ v`. It signs the EVM transaction, so it has a signature's shape and no more. */
export function signatureOf(evm: EvmTransaction): string {
  return `${strip(evm.r).padStart(64, '0')}${strip(evm.s).padStart(64, '0')}1b`
}

function readReal(evm: EvmTransaction): { type: ContractType; facts: ContractFacts } {
  const facts = {
    owner: strip(evm.from),
    target: evm.to === null ? null : strip(evm.to),
    amount: BigInt(evm.value),
    code: strip(evm.input),
  }
  if (facts.target === null) return { type: 'CreateSmartContract', facts }
  const isTransfer = facts.code === '' && facts.amount > 0n
  return { type: isTransfer ? 'TransferContract' : 'TriggerSmartContract', facts }
}

function encode(fields: readonly Field[], facts: ContractFacts): Uint8Array {
  const writer = new BinaryWriter()
  for (const field of fields) {
    if ('fields' in field) writeBytes(writer, field.no, encode(field.fields, facts))
    else if ('text' in field) writeBytes(writer, field.no, utf8ToBytes(field.text))
    else if ('number' in field) writeInt(writer, field.no, BigInt(field.number))
    else if (field.from === 'amount') writeInt(writer, field.no, facts.amount)
    else {
      const bytes = hexToBytes(hexOf(field.from, facts))
      if (bytes.length > 0) writeBytes(writer, field.no, bytes)
    }
  }
  return writer.finish()
}

function toJson(fields: readonly Field[], facts: ContractFacts): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      if ('fields' in field) {
        const inner = toJson(field.fields, facts)
        return [[field.name, field.isList ? [inner] : inner]]
      }
      if ('text' in field) return [[field.name, bytesToHex(utf8ToBytes(field.text))]]
      if ('number' in field) return [[field.name, field.number]]
      if (field.from === 'amount') return facts.amount === 0n ? [] : [[field.name, exactNumber(facts.amount)]]
      const hex = hexOf(field.from, facts)
      return hex === '' ? [] : [[field.name, hex]]
    }),
  )
}

/** A JSON number with every digit: java-tron prints int64 so, past 2^53 as well. */
function exactNumber(value: bigint): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown } // in Node since 22, not in TypeScript's library
  return rawJSON(`${value}`)
}

/** Addresses stand in the bytes with their 0x41; an absent one is no field at all. */
function hexOf(source: 'owner' | 'target' | 'code', facts: ContractFacts): string {
  if (source === 'code') return facts.code
  const address = facts[source]
  return address === null ? '' : `41${address}`
}

/** Proto3: a zero is not written. */
function writeInt(writer: BinaryWriter, no: number, value: bigint): void {
  if (value !== 0n) writer.tag(no, WireType.Varint).int64(value)
}

function writeBytes(writer: BinaryWriter, no: number, value: Uint8Array): void {
  writer.tag(no, WireType.LengthDelimited).bytes(value)
}
