import type { DepositTexts } from './texts.ts'

/** Why a payment is not in the balance: what has happened, and whether the money is safe and what to do now. */
export interface OutcomeWords {
  readonly title: string
  readonly help: string
}

/** The words for a reason, null for one that this page does not know. */
export function outcomeWords(texts: DepositTexts, reason: string | null): OutcomeWords | null {
  const words = (title: string, help: string) => ({ title, help })
  const known: Readonly<Record<string, OutcomeWords>> = {
    'decimals-unknown': words(texts.held, texts.heldUnclear),
    'decimals-differ': words(texts.held, texts.heldOperator),
    'too-large': words(texts.held, texts.heldOperator),
    retired: words(texts.held, texts.heldRetired),
    'wallet-full': words(texts.held, texts.heldFull),
    'below-minimum': words(texts.refused, texts.belowMinimum),
    dust: words(texts.refused, texts.dust),
    failed: words(texts.failed, texts.failedHelp),
    elsewhere: words(texts.elsewhere, texts.elsewhereHelp),
    foreign: words(texts.foreign, texts.foreignHelp),
    early: words(texts.early, texts.earlyHelp),
  }
  return reason !== null && Object.hasOwn(known, reason) ? (known[reason] ?? null) : null
}
