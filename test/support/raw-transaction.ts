import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../../src/worker/chain/address.ts'
import { type TransactionSpec, transferCallData } from './transaction-spec.ts'

interface ContractMessage {
  readonly type: number
  readonly message: Uint8Array
}

/**
 * The bytes of `Transaction.raw` (PROTOCOL.md, Transaction bytes). `timestamp` is in milliseconds
 * since 1970. Give each transaction another `timestamp`, so that its txid is unique.
 */
export function encodeRawTransaction(spec: TransactionSpec, timestamp: number): Uint8Array {
  if (spec.kind === 'bytes' || spec.kind === 'signed') return spec.rawData
  const { type, message } = encodeContract(spec)
  const any = new BinaryWriter()
    .tag(1, 2)
    .string(`type.googleapis.com/protocol.${type === 1 ? 'TransferContract' : 'OtherContract'}`)
    .tag(2, 2)
    .bytes(message)
    .finish()
  const contract = new BinaryWriter()
  if (type !== 0) contract.tag(1, 0).int32(type)
  contract.tag(2, 2).bytes(any)
  const raw = new BinaryWriter()
    .tag(1, 2)
    .bytes(hexToBytes('1ca0'))
    .tag(4, 2)
    .bytes(hexToBytes('5cf728c92ee79f5f'))
    .tag(8, 0)
    .int64(timestamp + 60_000)
    .tag(11, 2)
    .bytes(contract.finish())
    .tag(14, 0)
    .int64(timestamp)
  if (spec.kind === 'token' || spec.kind === 'call') raw.tag(18, 0).int64(100_000_000)
  return raw.finish()
}

function encodeContract(spec: Exclude<TransactionSpec, { kind: 'bytes' | 'signed' }>): ContractMessage {
  const message = new BinaryWriter()
  switch (spec.kind) {
    case 'trx':
      message.tag(1, 2).bytes(accountBytes(spec.from)).tag(2, 2).bytes(accountBytes(spec.to))
      return { type: 1, message: message.tag(3, 0).int64(spec.amount).finish() }
    case 'trc10':
      message.tag(1, 2).bytes(utf8ToBytes('1004777')).tag(2, 2).bytes(accountBytes(spec.from))
      message.tag(3, 2).bytes(accountBytes(spec.to)).tag(4, 0).int64(spec.amount)
      return { type: 2, message: message.finish() }
    case 'token':
      return encodeCall(spec.from, spec.contract, 0n, transferCallData(spec.to, spec.amount))
    case 'call':
      return encodeCall(spec.from, spec.contract, spec.value ?? 0n, '12345678')
    case 'other':
      return encodeOther(spec)
  }
}

function encodeCall(from: Address, contract: Address, value: bigint, data: string): ContractMessage {
  const message = new BinaryWriter().tag(1, 2).bytes(accountBytes(from)).tag(2, 2).bytes(accountBytes(contract))
  if (value !== 0n) message.tag(3, 0).int64(value)
  return { type: 31, message: message.tag(4, 2).bytes(hexToBytes(data)).finish() }
}

/**
 * For each contract type the field numbers of recipient and amount in its message (PROTOCOL.md,
 * Contract types). 0: the message has no such field.
 */
const messageFields: Readonly<Record<number, readonly [to: number, amount: number]>> = {
  0: [2, 0],
  1: [2, 3],
  9: [2, 4],
  11: [15, 2],
  12: [15, 0],
  31: [2, 3],
  33: [2, 3],
  45: [2, 3],
  48: [2, 0],
  51: [6, 7],
  57: [4, 3],
  58: [4, 3],
}

function encodeOther({ type, from, to, value }: TransactionSpec & { kind: 'other' }): ContractMessage {
  const [toField, amountField] = messageFields[type] ?? [0, 2]
  const message = new BinaryWriter().tag(1, 2).bytes(accountBytes(from))
  const writeTo = () => {
    if (toField !== 0 && to !== null) message.tag(toField, 2).bytes(accountBytes(to))
  }
  const writeAmount = () => {
    if (amountField !== 0 && value !== 0n) message.tag(amountField, 0).int64(value)
  }
  for (const write of toField < amountField ? [writeTo, writeAmount] : [writeAmount, writeTo]) write()
  return { type, message: message.finish() }
}

const accountBytes = (address: Address) => hexToBytes(`41${address}`)
