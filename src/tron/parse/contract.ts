import { bytesToHex } from '@noble/hashes/utils.js'
import { type Address, addressFromHex } from '../../chain/address.ts'
import { err, ok } from '../../common/result.ts'
import type { Parsed } from './fields.ts'
import { type Fields, readFields, type Shape } from './protobuf.ts'

/** What a transaction's own bytes say, whatever a node shows (PROTOCOL.md, Transaction bytes). */
export interface ContractFacts {
  /** Number of the contract type. */
  readonly type: number
  /** Who sent it, or null where the type has no owner. */
  readonly owner: Address | null
  /** A recipient, a receiver or a called contract, or null. */
  readonly target: Address | null
  /** Sun, positive, for a TRX transfer; null for every other type. */
  readonly amount: bigint | null
}

/** The contract types that the reading depends on, by their number in the chain's protocol. */
export const transferType = 1
/** Types that run code of a contract, and can have logs. */
export const callTypes: ReadonlySet<number> = new Set([30, 31])

// java-tron protocol/core/Tron.proto, google/protobuf/any.proto (PROTOCOL.md, Transaction bytes)
const rawField = { contract: 11 } as const
const rawShape: Shape = new Map([[rawField.contract, 'list']])
const contractField = { type: 1, parameter: 2 } as const
const contractShape: Shape = new Map([
  [contractField.type, 'number'],
  [contractField.parameter, 'message'],
])
const anyField = { typeUrl: 1, value: 2 } as const
const anyShape: Shape = new Map([
  [anyField.typeUrl, 'bytes'],
  [anyField.value, 'bytes'],
])
// java-tron protocol/core/contract/*.proto: the owner is field 1 but in these types, the target where a type has one.
const ownerFields: ReadonlyMap<number, number> = new Map([2, 10, 19].map((type) => [type, 2]))
const targetFields: ReadonlyMap<number, number> = new Map([
  ...[0, 1, 9, 31, 33, 45, 48].map((type) => [type, 2] as const),
  ...[[2, 3] as const, [11, 15] as const, [12, 15] as const, [51, 6] as const, [57, 4] as const, [58, 4] as const],
])
const amountField = 3
/** The part of the type URL that java-tron compares (`Any.is`): from the last slash to the end. */
const transferName = '/protocol.TransferContract'

/** Reads the bytes of `raw_data` as java-tron reads them. The SHA-256 of the bytes must have been compared with the txid. */
export function readContract(rawData: Uint8Array): Parsed<ContractFacts> {
  const counts = new Map<number, number>()
  const raw = readFields(rawData, rawShape, counts)
  if (raw === null) return err('bytes that are no transaction')
  if (counts.get(rawField.contract) !== 1) return err('a transaction without exactly one contract')
  const contract = readFields(bytesOf(raw, rawField.contract), contractShape)
  const any = contract && readFields(bytesOf(contract, contractField.parameter), anyShape)
  if (contract === null || any === null) return err('bytes that are no contract')
  const type = Number(BigInt.asIntN(32, numberOf(contract, contractField.type))) // an enum has 32 bits
  const message = bytesOf(any, anyField.value)
  if (type === transferType) return readTransfer(new TextDecoder().decode(bytesOf(any, anyField.typeUrl)), message)
  const ownerField = ownerFields.get(type) ?? 1
  const targetField = targetFields.get(type) ?? 0
  const shape: Shape = new Map([ownerField, targetField].map((field) => [field, 'bytes']))
  const fields: Fields = readFields(message, shape) ?? new Map()
  const [owner, target] = [accountOf(fields, ownerField), accountOf(fields, targetField)]
  return ok({ type, owner, target, amount: null })
}

function readTransfer(typeUrl: string, message: Uint8Array): Parsed<ContractFacts> {
  const shape: Shape = new Map([
    [1, 'bytes'],
    [2, 'bytes'],
    [amountField, 'number'],
  ])
  const fields = readFields(message, shape)
  if (fields === null || !typeUrl.endsWith(transferName)) return err('bytes that are no TRX transfer')
  const [owner, target, amount] = [accountOf(fields, 1), accountOf(fields, 2), numberOf(fields, amountField)]
  if (owner === null || target === null || amount <= 0n) return err('a TRX transfer without owner, recipient or amount')
  return ok({ type: transferType, owner, target, amount })
}

/** A field of bytes; empty where it is absent, as in proto3. */
function bytesOf(fields: Fields, field: number): Uint8Array {
  const value = fields.get(field)
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}

function numberOf(fields: Fields, field: number): bigint {
  const value = fields.get(field)
  return typeof value === 'bigint' ? value : 0n
}

/** The address in 21 bytes that start with 0x41, or null. */
function accountOf(fields: Fields, field: number): Address | null {
  const bytes = bytesOf(fields, field)
  return bytes.length === 21 && bytes[0] === 0x41 ? addressFromHex(bytesToHex(bytes.subarray(1))) : null
}
