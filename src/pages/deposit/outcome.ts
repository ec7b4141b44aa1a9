import type { UncreditedReason } from '../../worker/common/reasons.ts'
import type { Texts } from './languages/en.ts'

/**
 * Why a payment is not in the balance. `title` is the cause; `help` says whether the money is safe,
 * and what to do.
 */
export interface OutcomeWords {
  readonly title: string
  readonly help: string
}

/**
 * The words for a reason of the service; null for a reason that this page does not know. `isFinal`:
 * the payment is refused, and does not wait any more.
 */
export function outcomeWords(texts: Texts, reason: string | null, isFinal: boolean): OutcomeWords | null {
  const words = (title: string, help: string) => ({ title, help })
  const undecided = words(texts.askUndecided, texts.askUndecidedHelp)
  const foreign = words(texts.foreign, texts.foreignHelp)
  const nothing = words(texts.nothingSent, texts.nothingSentHelp)
  const internal = words(texts.internal, texts.internalHelp)
  const known: Readonly<Record<UncreditedReason, OutcomeWords>> = {
    'decimals-unknown': words(texts.held, texts.heldUnclear),
    'decimals-differ': words(texts.held, texts.heldOperator),
    'too-large': words(texts.held, texts.heldOperator),
    retired: words(texts.held, texts.heldRetired),
    'wallet-full': words(texts.held, texts.heldFull),
    review: isFinal ? words(texts.refused, texts.reviewRefused) : words(texts.held, texts.heldReview),
    'below-minimum': words(texts.refused, texts.belowMinimum),
    dust: words(texts.refused, texts.dust),
    'nodes-disagree': undecided,
    'transaction-unreadable': undecided,
    'chain-forked': undecided,
    'configuration-differs': undecided,
    'paid-before-issue': words(texts.early, texts.earlyHelp),
    'credited-otherwise': words(texts.held, texts.heldOperator),
    'transaction-failed': words(texts.failed, texts.failedHelp),
    'not-accepted': foreign,
    trc10: foreign,
    'not-a-transfer': nothing,
    'zero-amount': nothing,
    'no-transfer': words(texts.elsewhere, texts.elsewhereHelp),
    'from-own-address': internal,
    'internal-transfer': internal,
    'from-operator': internal,
  }
  const all: Readonly<Record<string, OutcomeWords>> = known
  return reason !== null && Object.hasOwn(all, reason) ? (all[reason] ?? null) : null
}
