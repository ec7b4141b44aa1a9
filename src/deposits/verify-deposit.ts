import type { BlockRef, Receipt } from '../chain/block.ts'
import { noAmount } from '../ledger/amount.ts'
import { type Currency, depositValueOf, indexCurrencies } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'
import { describeContractType } from './contract-types.ts'
import type { Candidate, Deposit, Pending, PendingReason } from './deposit.ts'
import { tokenAmount, tokenTransfer } from './trc20.ts'
import { proveTransfer, type TransferFault } from './trx.ts'

/** What the nodes said about a candidate's transaction. */
export interface Evidence {
  /** Null where the nodes hold none: "can't tell", never "failed". */
  readonly receipt: Receipt | 'disagreement' | null
  /** `raw_data`, hashing to the txid. `no-api`: no node has an API configured; `silent`: none answered. TRX only. */
  readonly rawData: Uint8Array | 'no-api' | 'silent'
  /** What the contract's `decimals()` says, or null where it could not be read. Tokens only. */
  readonly decimals: number | null
}

/** What becomes of a candidate. */
export type Verdict =
  | { readonly kind: 'deposit'; readonly deposit: Deposit }
  /** Kept until it can be decided. */
  | { readonly kind: 'pending'; readonly pending: Pending }
  /** Worth nothing, for good. `why` is one sentence for the caller, without a full stop. */
  | { readonly kind: 'refused'; readonly why: string }
  /** What the nodes said does not fit together. Neither credited nor dropped: ask again, best another node. */
  | { readonly kind: 'ask-again'; readonly why: string }

/** Decides a candidate in a finalized block that pays an address of `uid` (rules R8, R12 and R15). */
export function verifyDeposit(candidate: Candidate, uid: Uid, evidence: Evidence): Verdict {
  const { receipt } = evidence
  if (receipt === 'disagreement') return hold(candidate, uid, 'disagreement')
  if (receipt === null) return askAgain('the nodes hold no receipt of this transaction')
  if (receipt.txid !== candidate.txid || !sameBlock(receipt.block, candidate.block)) {
    return askAgain('the receipt is that of another block')
  }
  if (!receipt.succeeded) return { kind: 'refused', why: failedTransaction }
  return candidate.currency.asset.kind === 'native'
    ? settleNative(candidate, uid, evidence.rawData)
    : settleToken(candidate, uid, receipt, evidence.decimals)
}

/** Why a failed transaction is worth nothing. */
export const failedTransaction = 'the transaction failed, so nothing in it was paid'

/** A proven transfer as the deposit that is recorded, whatever it is worth. */
export function toDeposit(candidate: Candidate, uid: Uid): Deposit {
  const { txid, position, block, currency, from, to, raw } = candidate
  const worth = depositValueOf(currency, raw)
  const amount = worth.kind === 'credited' ? worth.amount : noAmount
  const native = currency.asset.kind === 'native'
  return { txid, position, block, cuy: currency.cuy, native, uid, from, to, raw, outcome: worth.kind, amount }
}

/** Why these bytes are no TRX deposit: one sentence for the caller. */
export function explainFault(fault: TransferFault): string {
  switch (fault.kind) {
    case 'other-contract':
      return describeContractType(fault.type).why
    case 'unreadable':
      return `the transaction's bytes are not those of one TRX transfer (${fault.why})`
  }
}

/** Whether two references name one block. */
function sameBlock(a: BlockRef, b: BlockRef): boolean {
  return a.height === b.height && a.hash === b.hash
}

function settleToken(candidate: Candidate, uid: Uid, receipt: Receipt, decimals: number | null): Verdict {
  if (!holdsTransfer(receipt, candidate)) {
    return askAgain('the receipt does not hold the transfer that the block shows')
  }
  if (decimals === null) return hold(candidate, uid, 'decimals-unknown')
  if (decimals !== candidate.currency.decimals) return hold(candidate, uid, 'decimals-differ')
  return { kind: 'deposit', deposit: toDeposit(candidate, uid) }
}

/** Whether the receipt has, at the candidate's position, a log that says exactly what the candidate says. */
function holdsTransfer(receipt: Receipt, candidate: Candidate): boolean {
  const log = receipt.logs[candidate.position]
  if (log === undefined || log.position !== candidate.position || log.txid !== candidate.txid) return false
  const transfer = tokenTransfer(log, only(candidate.currency))
  // The shape leaves no other freedom: same contract, parties and amount are the same topics and data.
  return (
    transfer !== null &&
    transfer.from === candidate.from &&
    transfer.to === candidate.to &&
    tokenAmount(transfer) === candidate.raw
  )
}

function settleNative(candidate: Candidate, uid: Uid, rawData: Evidence['rawData']): Verdict {
  if (rawData === 'no-api') return hold(candidate, uid, 'no-api')
  if (rawData === 'silent') return hold(candidate, uid, 'api-silent')
  const proof = proveTransfer(rawData)
  if (!proof.ok) return { kind: 'refused', why: explainFault(proof.error) }
  const { owner, to, amount } = proof.value
  if (owner !== candidate.from || to !== candidate.to || amount !== candidate.raw) {
    return askAgain("the block shows another transfer than the transaction's own bytes")
  }
  return { kind: 'deposit', deposit: toDeposit(candidate, uid) }
}

function hold(candidate: Candidate, uid: Uid, reason: PendingReason): Verdict {
  const { txid, position, block, currency, from, to, raw } = candidate
  return { kind: 'pending', pending: { txid, position, block, cuy: currency.cuy, uid, from, to, raw, reason } }
}

function askAgain(why: string): Verdict {
  return { kind: 'ask-again', why }
}

function only(currency: Currency) {
  return indexCurrencies([currency])
}
