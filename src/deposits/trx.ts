import { bytesToHex } from '@noble/hashes/utils.js'
import { type Address, addressFromHex } from '../addresses/address.ts'
import type { Transaction } from '../chain/block.ts'
import { isZeroQuantity } from '../chain/quantity.ts'
import { err, ok, type Result } from '../common/result.ts'
import { contractTypes } from './contract-types.ts'
import {
  bytesOf,
  type MessageShape,
  readContract,
  readMessage,
  type UnreadableReason,
  varintOf,
} from './transaction-bytes.ts'

/** A transaction that looks like a TRX transfer. A TRC-10 transfer looks exactly the same: nothing here is proof. */
export interface NativeTransfer {
  readonly transaction: Transaction
  readonly from: Address
  readonly to: Address
}

/** What a transaction's own bytes say that it moved: `amount` sun, positive. */
export interface TransferProof {
  readonly owner: Address
  readonly to: Address
  readonly amount: bigint
}

/** Why the bytes prove no TRX transfer. */
export type TransferFault =
  /** They are a transaction of another type; `contract-type.ts` says what that one does. */
  | { readonly kind: 'other-contract'; readonly type: number }
  /** They can't be read as one TRX transfer, whatever they are. */
  | { readonly kind: 'unreadable'; readonly why: UnreadableReason | TransferDefect }

/** What can be wrong with a message that claims to be a TRX transfer. */
export type TransferDefect = 'wrong-type-url' | 'bad-owner' | 'bad-recipient' | 'amount-not-positive'

// java-tron protocol/core/contract/balance_contract.proto: message TransferContract (read November 2026)
const field = { owner: 1, to: 2, amount: 3 } as const
const shape: MessageShape = new Map([
  [field.owner, 'bytes'],
  [field.to, 'bytes'],
  [field.amount, 'varint'],
])
/** What java-tron compares (`Any.is`): the end of the type URL from its last slash on. */
const typeName = '/protocol.TransferContract'

/** A transaction as a TRX transfer if it looks like one (fact sheet, rule R9); null for calls, zero, and no recipient. */
export function nativeTransfer(transaction: Transaction): NativeTransfer | null {
  const { from, to, value, input, gas } = transaction
  if (to === null || input !== '0x' || isZeroQuantity(value) || !isZeroQuantity(gas)) return null
  return { transaction, from, to }
}

/**
 * The TRX transfer in a transaction's `raw_data`, the only proof there is (fact sheet, §5.3 and rule R12). The caller
 * has checked that the bytes' SHA-256 is the txid. Anything unusual about them is a fault, never a transfer.
 */
export function proveTransfer(rawData: Uint8Array): Result<TransferProof, TransferFault> {
  const contract = readContract(rawData)
  if (!contract.ok) return unreadable(contract.error)
  if (contract.value.type !== contractTypes.transfer) return err({ kind: 'other-contract', type: contract.value.type })
  if (!contract.value.typeUrl.endsWith(typeName)) return unreadable('wrong-type-url')
  const fields = readMessage(contract.value.value, shape)
  if (!fields.ok) return unreadable(fields.error)
  const owner = addressOf(bytesOf(fields.value, field.owner))
  if (owner === null) return unreadable('bad-owner')
  const to = addressOf(bytesOf(fields.value, field.to))
  if (to === null) return unreadable('bad-recipient')
  const amount = varintOf(fields.value, field.amount)
  return amount > 0n ? ok({ owner, to, amount }) : unreadable('amount-not-positive')
}

/** The address in 21 bytes, 0x41 first, or null. */
function addressOf(bytes: Uint8Array): Address | null {
  return bytes.length === 21 && bytes[0] === 0x41 ? addressFromHex(bytesToHex(bytes.subarray(1))) : null
}

function unreadable(why: UnreadableReason | TransferDefect): Result<never, TransferFault> {
  return err({ kind: 'unreadable', why })
}
