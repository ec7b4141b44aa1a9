import type { ChainFailure } from '../chain/chain.ts'
import type { QueryFailure } from '../common/result.ts'
import { explainHeld, explainRefused } from '../deposits/explain.ts'
import type { StoredTransfer } from '../deposits/transfer.ts'
import type { Currencies } from '../ledger/currencies.ts'

/** The transaction cannot be decided now, but perhaps later. */
export type Undecided = Extract<QueryFailure, { readonly kind: 'undecided' }>
/** The transaction is final and credits nothing. */
export type Worthless = Extract<QueryFailure, { readonly kind: 'worthless' }>

/** The nodes contradict each other or themselves. */
export const disputed: Undecided = {
  kind: 'undecided',
  reason: 'nodes-disagree',
  why: 'the nodes disagree about this transaction',
}
/**
 * The nodes agree on the transaction, but its bytes or its receipt cannot be parsed. An alarm names
 * the transaction.
 */
export const unreadable: Undecided = {
  kind: 'undecided',
  reason: 'transaction-unreadable',
  why: 'this service cannot read this transaction, so nothing of it is credited; ask the operator',
}

/** The chain contradicts stored blocks, so nothing is credited. */
export const haltedFailure: Undecided = {
  kind: 'undecided',
  reason: 'chain-forked',
  why: 'the nodes show another chain than before; nothing is credited until an operator has checked it',
}

/**
 * The transfer is credited with another amount or to another user, by blocks that were wrong. A
 * credit is never taken back, so an operator decides.
 */
export const creditedOtherwise: Undecided = {
  kind: 'undecided',
  reason: 'credited-otherwise',
  why: 'it was credited otherwise before the final blocks were corrected; the operator of this service has been told, and must decide',
}

/** The configuration does not belong to the stored data. */
export const misconfigured: Undecided = {
  kind: 'undecided',
  reason: 'configuration-differs',
  why: 'nothing is credited until an operator has corrected the configuration',
}

/** The wallet has no room for the amount: a balance has at most 2^53 − 1 units. */
export const walletFull: Undecided = { kind: 'undecided', reason: 'wallet-full', why: explainHeld('wallet-full') }

/**
 * A transfer at or below the height at which its address was issued never belongs to the user of
 * the address.
 */
export const paidBeforeIssue: Undecided = {
  kind: 'undecided',
  reason: 'paid-before-issue',
  why: 'it was final before this address was issued to you, so it is not credited; ask the operator',
}

/** The members of a transfer that explain why it is not credited. */
export type Uncredited = Pick<StoredTransfer, 'cuy' | 'raw' | 'state' | 'reason'>

/**
 * Explains why a final transfer is not credited. `worthless`: it will not be credited. `undecided`:
 * it may still be credited.
 */
export function explainUncredited(
  { cuy, raw, state, reason }: Uncredited,
  currencies: Currencies,
): Undecided | Worthless {
  if (state === 'refused' && reason === 'review') {
    return { kind: 'worthless', reason, why: explainRefused({ cuy, raw, reason }, currencies) }
  }
  switch (reason) {
    case null:
      return disputed
    case 'below-minimum':
    case 'dust':
      return { kind: 'worthless', reason, why: explainRefused({ cuy, raw, reason }, currencies) }
    case 'retired':
      return { kind: 'worthless', reason, why: explainHeld(reason) }
    default:
      return { kind: 'undecided', reason, why: explainHeld(reason) }
  }
}

/**
 * Turns a failure of reading the chain into the answer for a user. If a limit is the cause, the
 * answer says whose it is.
 */
export function toQueryFailure(failure: ChainFailure): QueryFailure {
  switch (failure.kind) {
    case 'disagreement':
      return disputed
    case 'forked':
      return haltedFailure
    case 'limited':
      return { kind: 'limited', whose: failure.whose, seconds: failure.seconds }
    case 'no-answer':
    case 'out-of-time':
      return { kind: 'chain-unavailable' }
  }
}
