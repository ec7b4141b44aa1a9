import type { Receipt } from '../chain/block.ts'
import type { Uid } from '../common/ids.ts'
import { noAmount } from '../common/amount.ts'
import { depositValueOf, indexCurrencies } from '../ledger/currencies.ts'
import { explainContractType } from './contract-types.ts'
import type { Candidate, Deposit, Pending, PendingReason, Refusal, RefusalReason } from './deposit.ts'
import type { OwnedCandidate } from './detect-transfers.ts'
import { tokenAmount, tokenTransfer } from './trc20.ts'
import { proveTransfer, type TransferFault } from './trx.ts'

/** The answers of the nodes about the transaction of a candidate. */
export interface Evidence {
  readonly receipt: Receipt | 'disagreement'
  /**
   * The transaction's bytes (`raw_data`), whose SHA-256 is the txid. `no-api`: no node has an HTTP API configured.
   * `unavailable`: no API answered. TRX only.
   */
  readonly bytes: Uint8Array | 'no-api' | 'unavailable'
  /** The contract's `decimals()`, or null where it could not be read. Tokens only. */
  readonly decimals: number | null
}

/** The result of verifying a candidate. */
export type Verdict =
  /** Several where one transaction has the same transfer several times: each is a deposit of its own. */
  | { readonly kind: 'proven'; readonly deposits: readonly Deposit[] }
  /** Kept until it can be decided. */
  | { readonly kind: 'pending'; readonly pending: Pending }
  /** Worth nothing, finally. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Why a failed transaction is worth nothing. */
export const failedTransaction = 'the transaction failed, so it paid nothing'

/** Verifies a candidate of a finalized block that pays an address of a caller (PROTOCOL.md, Scanner rules). */
export function verifyDeposit(owned: OwnedCandidate, { receipt, bytes, decimals }: Evidence): Verdict {
  const { candidate } = owned
  if (receipt === 'disagreement' || !isReceiptOf(receipt, candidate)) return pending(owned, 'disagreement')
  if (!receipt.succeeded) return refused(owned, { kind: 'failed' })
  if (candidate.currency.retired) return pending(owned, 'retired')
  return candidate.currency.asset.kind === 'native' ? verifyNative(owned, bytes) : verifyToken(owned, receipt, decimals)
}

/** A proven transfer as the deposit that is stored, whatever its value is. */
export function toDeposit(candidate: Candidate, uid: Uid): Deposit {
  const { txid, position, block, currency, from, to, raw } = candidate
  const value = depositValueOf(currency, raw)
  const amount = value.kind === 'credited' ? value.amount : noAmount
  const isNative = currency.asset.kind === 'native'
  return { txid, position, block, cuy: currency.cuy, native: isNative, uid, from, to, raw, outcome: value.kind, amount }
}

/** The candidate as it is stored while it cannot be decided. */
export function toPending({ candidate, uid }: OwnedCandidate, reason: PendingReason): Pending {
  const { currency, ...rest } = candidate
  return { ...rest, cuy: currency.cuy, uid, reason }
}

/** Why a candidate is worth nothing: one sentence for the caller, without a full stop. */
export function explainRefusal(reason: RefusalReason): string {
  switch (reason.kind) {
    case 'failed':
      return failedTransaction
    case 'other-contract':
      return explainContractType(reason.type)
  }
}

/** Why these bytes prove no TRX deposit: one sentence for the caller. */
export function explainFault(fault: TransferFault): string {
  switch (fault.kind) {
    case 'other-contract':
      return explainContractType(fault.type)
    case 'unreadable':
      return `the transaction's bytes are not those of a single TRX transfer (${fault.why})`
  }
}

function isReceiptOf({ txid, block }: Receipt, candidate: Candidate): boolean {
  return txid === candidate.txid && block.height === candidate.block.height && block.hash === candidate.block.hash
}

function verifyToken(owned: OwnedCandidate, receipt: Receipt, decimals: number | null): Verdict {
  const { candidate, uid } = owned
  const positions = findTransfers(receipt, candidate)
  if (positions.length === 0) return pending(owned, 'disagreement')
  if (decimals === null) return pending(owned, 'decimals-unknown')
  if (decimals !== candidate.currency.decimals) return pending(owned, 'decimals-differ')
  return { kind: 'proven', deposits: positions.map((position) => toDeposit({ ...candidate, position }, uid)) }
}

/**
 * All positions of the transfer in the agreed receipt. The candidate's own position is not used: a node can number the
 * logs of a block in its own way, or leave one out.
 */
function findTransfers({ logs }: Receipt, { txid, currency, from, to, raw }: Candidate): readonly number[] {
  const currencies = indexCurrencies([currency])
  return logs.flatMap((log) => {
    const transfer = log.txid === txid ? tokenTransfer(log, currencies) : null
    const isSame = transfer?.from === from && transfer.to === to && tokenAmount(transfer) === raw
    return isSame ? [log.position] : []
  })
}

function verifyNative(owned: OwnedCandidate, bytes: Evidence['bytes']): Verdict {
  const { candidate, uid } = owned
  if (bytes === 'no-api') return pending(owned, 'no-api')
  if (bytes === 'unavailable') return pending(owned, 'api-unavailable')
  const proof = proveTransfer(bytes)
  if (!proof.ok) {
    return proof.error.kind === 'unreadable' ? pending(owned, 'bytes-unreadable') : refused(owned, proof.error)
  }
  const { owner, to, amount } = proof.value
  // The agreed block shows another transfer than the bytes: a disagreement as well.
  if (owner !== candidate.from || to !== candidate.to || amount !== candidate.raw) return pending(owned, 'disagreement')
  return { kind: 'proven', deposits: [toDeposit(candidate, uid)] }
}

function refused({ candidate, uid }: OwnedCandidate, reason: RefusalReason): Verdict {
  const { currency, ...rest } = candidate
  return { kind: 'refused', refusal: { ...rest, cuy: currency.cuy, uid, reason } }
}

function pending(owned: OwnedCandidate, reason: PendingReason): Verdict {
  return { kind: 'pending', pending: toPending(owned, reason) }
}
