import type { ChainFailure } from '../chain/chain.ts'
import type { QueryFailure } from '../common/result.ts'
import { explainHeld, explainRefused } from '../deposits/explain.ts'
import type { StoredTransfer } from '../deposits/transfer.ts'
import type { Currencies } from '../ledger/currencies.ts'

/** A failure of a transaction that cannot be decided now. */
export type Undecided = Extract<QueryFailure, { readonly kind: 'undecided' }>
/** A failure of a transaction that is worth nothing. */
export type Worthless = Extract<QueryFailure, { readonly kind: 'worthless' }>

/** Why nothing can be said about a transaction now. */
export const disputed: Undecided = {
  kind: 'undecided',
  reason: 'nodes-disagree',
  why: 'the nodes disagree about this transaction',
}
/** The nodes agree on it, and its bytes or its receipt cannot be read. An alarm names it. */
export const unreadable: Undecided = {
  kind: 'undecided',
  reason: 'transaction-unreadable',
  why: 'this service cannot read this transaction, so nothing of it is credited; ask the operator',
}

/** The chain is known to be forked. */
export const haltedFailure: Undecided = {
  kind: 'undecided',
  reason: 'chain-forked',
  why: 'the nodes show another chain than before; nothing is credited until an operator has checked it',
}

/** The configuration is not that of the stored data. */
export const misconfigured: Undecided = {
  kind: 'undecided',
  reason: 'configuration-differs',
  why: 'nothing is credited until an operator has corrected the configuration',
}

/** There is no room for it now. */
export const walletFull: Undecided = { kind: 'undecided', reason: 'wallet-full', why: explainHeld('wallet-full') }

/** Nothing at or below the height of an address's issue is ever its owner's. */
export const paidBeforeIssue: Undecided = {
  kind: 'undecided',
  reason: 'paid-before-issue',
  why: 'it was final before this address was issued to you, so it is not credited; ask the operator',
}

/** What of a transfer says why it is not credited. */
export type Uncredited = Pick<StoredTransfer, 'cuy' | 'raw' | 'state' | 'reason'>

/** Why a final transfer is not credited. */
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

/** What a caller gets where the chain cannot be read. A limit is said as such, with whose it is. */
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
