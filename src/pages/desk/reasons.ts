import type { DeskContext } from './context.ts'
import { remedyOf } from './words.ts'

/** Why something is not credited, and what to do. */
export interface ReasonWords {
  readonly why: string
  /** Empty for a reason that this page does not know. */
  readonly remedy: string
}

/** The words for a reason. One that this page does not know has those of the service, as a quotation. */
export function reasonWords(
  context: DeskContext,
  reason: string | null,
  why: string | null,
  cuy: number | null = null,
): ReasonWords {
  const { texts } = context
  const known: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
    'decimals-unknown': [texts.decimalsUnknown, texts.decimalsUnknownDo],
    'decimals-differ': [texts.decimalsDiffer, remedyOf(context, 'decimals-differ', cuy)],
    retired: [texts.retired, texts.retiredDo],
    'too-large': [texts.tooLarge, texts.tooLargeDo],
    'wallet-full': [texts.walletFull, texts.walletFullDo],
    review: [texts.review, texts.reviewDo],
    'below-minimum': [texts.belowMinimum, texts.belowMinimumDo],
    dust: [texts.dust, texts.belowMinimumDo],
    'nodes-disagree': [texts.disagree, texts.undecidedDo],
    unreadable: [texts.unreadable, remedyOf(context, 'transaction-unreadable')],
    forked: [texts.forked, remedyOf(context, 'chain-forked')],
    misconfigured: [texts.misconfigured, texts.wrongSettingHelp],
    early: [texts.early, remedyOf(context, 'paid-before-issue')],
    failed: [texts.failed, texts.failedDo],
    elsewhere: [texts.elsewhere, texts.elsewhereDo],
    internal: [texts.internal, texts.internalDo],
    zero: [texts.zero, texts.zeroDo],
    foreign: [texts.foreign, texts.foreignDo],
    other: [texts.otherKind, texts.otherKindDo],
  }
  const words = reason !== null && Object.hasOwn(known, reason) ? known[reason] : undefined
  return { why: words?.[0] ?? `“${why ?? reason ?? ''}”`, remedy: words?.[1] ?? '' }
}
