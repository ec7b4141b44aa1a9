import type { HeldReason, Reason, RefusedReason } from '../../common/reasons.ts'
import type { DepositTexts } from './texts.ts'

/** Why a payment is not in the balance: what has happened, and whether the money is safe and what to do now. */
export interface OutcomeWords {
  readonly title: string
  readonly help: string
}

/** The words for a reason, null for one that this page does not know. */
export function outcomeWords(texts: DepositTexts, reason: string | null): OutcomeWords | null {
  const words = (title: string, help: string) => ({ title, help })
  const known: Readonly<Record<HeldReason | RefusedReason, OutcomeWords> & Partial<Record<Reason, OutcomeWords>>> = {
    'decimals-unknown': words(texts.held, texts.heldUnclear),
    'decimals-differ': words(texts.held, texts.heldOperator),
    'too-large': words(texts.held, texts.heldOperator),
    retired: words(texts.held, texts.heldRetired),
    'wallet-full': words(texts.held, texts.heldFull),
    review: words(texts.held, texts.heldOperator),
    'below-minimum': words(texts.refused, texts.belowMinimum),
    dust: words(texts.refused, texts.dust),
    'transaction-failed': words(texts.failed, texts.failedHelp),
    'no-transfer': words(texts.elsewhere, texts.elsewhereHelp),
    'not-accepted': words(texts.foreign, texts.foreignHelp),
    'paid-before-issue': words(texts.early, texts.earlyHelp),
  }
  // safe: one of its own names
  return reason !== null && Object.hasOwn(known, reason) ? (known[reason as keyof typeof known] ?? null) : null
}
