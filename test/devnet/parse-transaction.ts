import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import {
  type ContractField,
  type ContractName,
  type ContractParameters,
  contractSpecs,
  isContractName,
} from '../support/contracts.ts'

/** The resource of a stake or a delegation. */
export type Resource = 'BANDWIDTH' | 'ENERGY'

/** The `raw_data` of a transaction, read from its bytes. Times are milliseconds, hex digits without `0x`. */
export interface RawTransaction {
  readonly txid: string
  readonly rawHex: string
  readonly refBlockBytes: string
  readonly refBlockHash: string
  readonly memo: string
  readonly expiration: number
  readonly timestamp: number
  readonly feeLimit: number
  /** Null where the transaction has no contract of a known type. */
  readonly contract: {
    readonly type: ContractName
    readonly parameters: ContractParameters
    readonly resource: Resource
  } | null
}

type Fields = ReadonlyMap<number, readonly (bigint | Uint8Array)[]>

/** A `Transaction` message, as `broadcasthex` takes it. Throws where the bytes are no such message. */
export function parseTransaction(bytes: Uint8Array): {
  readonly raw: RawTransaction
  readonly signatures: readonly Uint8Array[]
} {
  const fields = readFields(bytes)
  return { raw: parseRaw(bytesOf(fields, 1)), signatures: allBytes(fields, 2) }
}

/** The `raw_data` in these bytes. */
export function parseRaw(bytes: Uint8Array): RawTransaction {
  const raw = readFields(bytes)
  return {
    txid: bytesToHex(sha256(bytes)),
    rawHex: bytesToHex(bytes),
    refBlockBytes: bytesToHex(bytesOf(raw, 1)),
    refBlockHash: bytesToHex(bytesOf(raw, 4)),
    memo: bytesToHex(bytesOf(raw, 10)),
    expiration: Number(numberOf(raw, 8)),
    timestamp: Number(numberOf(raw, 14)),
    feeLimit: Number(numberOf(raw, 18)),
    contract: parseContract(allBytes(raw, 11)[0]),
  }
}

/** Where the message of a stake or a delegation has its resource. */
const resourceFields: Partial<Record<ContractName, number>> = {
  FreezeBalanceV2Contract: 3,
  DelegateResourceContract: 2,
  UnDelegateResourceContract: 2,
}

function parseContract(bytes: Uint8Array | undefined): RawTransaction['contract'] {
  if (bytes === undefined) return null
  const contract = readFields(bytes)
  const id = Number(numberOf(contract, 1))
  const type = Object.keys(contractSpecs).find((name) => isContractName(name) && contractSpecs[name].id === id)
  if (type === undefined || !isContractName(type)) return null
  const message = readFields(bytesOf(readFields(bytesOf(contract, 2)), 2))
  const parameters = { owner: '', target: null, amount: 0n, code: '' }
  readParameters(contractSpecs[type].fields, message, parameters)
  const resource = numberOf(message, resourceFields[type] ?? 0) === 1n ? 'ENERGY' : 'BANDWIDTH'
  return { type, parameters, resource }
}

function readParameters(
  fields: readonly ContractField[],
  message: Fields,
  into: { owner: string; target: string | null; amount: bigint; code: string },
): void {
  for (const field of fields) {
    if ('fields' in field) readParameters(field.fields, readFields(bytesOf(message, field.no)), into)
    if (!('from' in field)) continue
    if (field.from === 'amount') into.amount = numberOf(message, field.no)
    else if (field.from === 'code') into.code = bytesToHex(bytesOf(message, field.no))
    else if (message.has(field.no)) into[field.from] = bytesToHex(bytesOf(message, field.no)).replace(/^41/, '')
  }
}

function readFields(message: Uint8Array): Fields {
  const fields = new Map<number, (bigint | Uint8Array)[]>()
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [no, wireType] = reader.tag()
    const values = fields.get(no) ?? []
    fields.set(no, values)
    if (wireType === WireType.LengthDelimited) values.push(reader.bytes())
    else if (wireType === WireType.Varint) values.push(BigInt(reader.int64()))
    else reader.skip(wireType, no)
  }
  return fields
}

function allBytes(fields: Fields, no: number): readonly Uint8Array[] {
  return (fields.get(no) ?? []).flatMap((value) => (value instanceof Uint8Array ? [value] : []))
}

const bytesOf = (fields: Fields, no: number): Uint8Array => allBytes(fields, no).at(-1) ?? new Uint8Array(0)

function numberOf(fields: Fields, no: number): bigint {
  const value = fields.get(no)?.at(-1)
  return typeof value === 'bigint' ? value : 0n
}
