import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { ContractField, ContractName, ContractParameters } from '../support/contracts.ts'
import { contractSpecs } from '../support/contracts.ts'

const expiresAfterMs = 60_000
/** The maximum fee of a contract call, in sun. */
const feeLimit = 100_000_000n

/** Whether this type runs contract code: only such a transaction uses energy and can fail. */
export function runsCode(type: ContractName): boolean {
  return type === 'TriggerSmartContract' || type === 'CreateSmartContract'
}

/**
 * The bytes of `protocol.Transaction.raw` (PROTOCOL.md, Transaction bytes). `memo` is hex digits, another one for each transaction:
 * it makes the bytes, and so the txid, unique.
 */
export function encodeRaw(
  type: ContractName,
  parameters: ContractParameters,
  memo: string,
  timestamp: number,
): Uint8Array {
  const { id, fields } = contractSpecs[type]
  const parameter = new BinaryWriter()
  writeBytes(parameter, 1, utf8ToBytes(typeUrlOf(type)))
  writeBytes(parameter, 2, encode(fields, parameters))
  const contract = new BinaryWriter()
  writeInt(contract, 1, BigInt(id))
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

/** The contract of a transaction as the HTTP API prints it. */
export function contractJson(type: ContractName, parameters: ContractParameters): Record<string, unknown> {
  const value = toJson(contractSpecs[type].fields, parameters)
  return { parameter: { value, type_url: typeUrlOf(type) }, type }
}

const typeUrlOf = (type: ContractName) => `type.googleapis.com/protocol.${type}`

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
