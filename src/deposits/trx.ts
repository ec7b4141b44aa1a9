import { bytesToHex } from '@noble/hashes/utils.js'
import { type Address, addressFromHex } from '../chain/address.ts'
import type { Transaction } from '../chain/block.ts'
import { isZeroQuantity } from '../chain/quantity.ts'
import { err, ok, type Result } from '../common/result.ts'
import { contractTypes } from './contract-types.ts'
import {
  bytesField,
  type MessageShape,
  numberField,
  readContract,
  readMessage,
  type UnreadableReason,
} from './transaction-bytes.ts'

/** A transaction that looks like a TRX transfer. A TRC-10 transfer looks the same, so this is no proof. */
export interface NativeTransfer {
  readonly transaction: Transaction
  readonly from: Address
  readonly to: Address
}

/** A TRX transfer as the transaction's own bytes define it. `amount` is in sun, positive. */
export interface TransferProof {
  readonly owner: Address
  readonly to: Address
  readonly amount: bigint
}

/** Why the bytes prove no TRX transfer. */
export type TransferFault =
  /** A transaction of another type; `contract-types.ts` describes what that type does. */
  | { readonly kind: 'other-contract'; readonly type: number }
  /** The bytes cannot be read as a single TRX transfer. */
  | { readonly kind: 'unreadable'; readonly why: UnreadableReason | TransferDefect }

/** What can be wrong with a message in place of a TRX transfer. */
export type TransferDefect = 'wrong-type-url' | 'bad-owner' | 'bad-recipient' | 'amount-not-positive'

// java-tron protocol/core/contract/balance_contract.proto: message TransferContract (PROTOCOL.md, Transaction bytes)
const field = { owner: 1, to: 2, amount: 3 } as const
const shape: MessageShape = new Map([
  [field.owner, 'bytes'],
  [field.to, 'bytes'],
  [field.amount, 'number'],
])
/** The part of the type URL that java-tron compares (`Any.is`): from the last slash to the end. */
const typeName = '/protocol.TransferContract'

/** A transaction as a TRX transfer, or null where it is a call, transfers zero, or has no recipient. */
export function nativeTransfer(transaction: Transaction): NativeTransfer | null {
  const { from, to, value, input } = transaction
  if (to === null || input !== '0x' || isZeroQuantity(value)) return null
  return { transaction, from, to }
}

/**
 * The TRX transfer in a transaction's bytes, the only proof there is (PROTOCOL.md, Look-alike transfers). The SHA-256 of
 * the bytes must have been compared with the txid.
 */
export function proveTransfer(bytes: Uint8Array): Result<TransferProof, TransferFault> {
  const contract = readContract(bytes)
  if (!contract.ok) return unreadable(contract.error)
  if (contract.value.type !== contractTypes.transfer) return err({ kind: 'other-contract', type: contract.value.type })
  if (!contract.value.typeUrl.endsWith(typeName)) return unreadable('wrong-type-url')
  const fields = readMessage(contract.value.value, shape)
  if (!fields.ok) return unreadable(fields.error)
  const owner = parseAccount(bytesField(fields.value, field.owner))
  if (owner === null) return unreadable('bad-owner')
  const to = parseAccount(bytesField(fields.value, field.to))
  if (to === null) return unreadable('bad-recipient')
  const amount = numberField(fields.value, field.amount)
  return amount > 0n ? ok({ owner, to, amount }) : unreadable('amount-not-positive')
}

/** The address in 21 bytes that start with 0x41, or null. */
function parseAccount(bytes: Uint8Array): Address | null {
  return bytes.length === 21 && bytes[0] === 0x41 ? addressFromHex(bytesToHex(bytes.subarray(1))) : null
}

function unreadable(why: UnreadableReason | TransferDefect): Result<never, TransferFault> {
  return err({ kind: 'unreadable', why })
}
