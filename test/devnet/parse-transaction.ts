import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { type ContractName, type ContractParameters, contractSpecs } from '../support/contracts.ts'

/** The resource of a stake or a delegation. */
export type Resource = 'BANDWIDTH' | 'ENERGY'

/** The `raw_data` of a transaction, read from its bytes. Times are milliseconds, hex digits without `0x`. */
export interface RawTransaction {
  readonly txid: string
  readonly rawHex: string
  readonly refBlockBytes: string
  readonly refBlockHash: string
  readonly expiration: number
  readonly timestamp: number
  readonly feeLimit: number
  /** Null where the transaction has no contract, or one that this chain does not run. */
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
    expiration: Number(numberOf(raw, 8)),
    timestamp: Number(numberOf(raw, 14)),
    feeLimit: Number(numberOf(raw, 18)),
    contract: parseContract(allBytes(raw, 11)[0]),
  }
}

/** Where each type's message has what the chain needs of it; 0: no such field. */
const places = {
  AccountCreateContract: { target: 2, amount: 0, code: 0, resource: 0 },
  TransferContract: { target: 2, amount: 3, code: 0, resource: 0 },
  TriggerSmartContract: { target: 2, amount: 3, code: 4, resource: 0 },
  FreezeBalanceV2Contract: { target: 0, amount: 2, code: 0, resource: 3 },
  DelegateResourceContract: { target: 4, amount: 3, code: 0, resource: 2 },
  UnDelegateResourceContract: { target: 4, amount: 3, code: 0, resource: 2 },
} as const satisfies Partial<Record<ContractName, object>>

function parseContract(bytes: Uint8Array | undefined): RawTransaction['contract'] {
  if (bytes === undefined) return null
  const contract = readFields(bytes)
  const id = Number(numberOf(contract, 1))
  const type = (Object.keys(places) as (keyof typeof places)[]).find((name) => contractSpecs[name].id === id)
  if (type === undefined) return null
  const message = readFields(bytesOf(readFields(bytesOf(contract, 2)), 2))
  const place = places[type]
  const addressAt = (no: number) => bytesToHex(bytesOf(message, no)).replace(/^41/, '')
  return {
    type,
    parameters: {
      owner: addressAt(1),
      target: place.target === 0 ? null : addressAt(place.target),
      amount: place.amount === 0 ? 0n : numberOf(message, place.amount),
      code: place.code === 0 ? '' : bytesToHex(bytesOf(message, place.code)),
    },
    resource: place.resource !== 0 && numberOf(message, place.resource) === 1n ? 'ENERGY' : 'BANDWIDTH',
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
