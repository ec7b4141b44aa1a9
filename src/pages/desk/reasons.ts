import type { UncreditedReason } from '../../common/reasons.ts'
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
  const internal = [texts.internal, texts.internalDo] as const
  const otherKind = [texts.otherKind, texts.otherKindDo] as const
  const known: Readonly<Record<UncreditedReason, readonly [why: string, remedy: string]>> = {
    'decimals-unknown': [texts.decimalsUnknown, texts.decimalsUnknownDo],
    'decimals-differ': [texts.decimalsDiffer, remedyOf(context, 'decimals-differ', cuy)],
    retired: [texts.retired, texts.retiredDo],
    'too-large': [texts.tooLarge, texts.tooLargeDo],
    'wallet-full': [texts.walletFull, texts.walletFullDo],
    review: [texts.review, texts.reviewDo],
    'below-minimum': [texts.belowMinimum, texts.belowMinimumDo],
    dust: [texts.dust, texts.belowMinimumDo],
    'nodes-disagree': [texts.disagree, texts.undecidedDo],
    'transaction-unreadable': [texts.unreadable, remedyOf(context, 'transaction-unreadable')],
    'chain-forked': [texts.forked, remedyOf(context, 'chain-forked')],
    'configuration-differs': [texts.misconfigured, texts.wrongSettingHelp],
    'paid-before-issue': [texts.early, remedyOf(context, 'paid-before-issue')],
    'transaction-failed': [texts.failed, texts.failedDo],
    'no-transfer': [texts.elsewhere, texts.elsewhereDo],
    'from-own-address': internal,
    'internal-transfer': internal,
    'from-operator': internal,
    'zero-amount': [texts.zero, texts.zeroDo],
    'not-accepted': [texts.foreign, texts.foreignDo],
    trc10: otherKind,
    'not-a-transfer': otherKind,
  }
  // safe: one of its own names
  const words = reason !== null && Object.hasOwn(known, reason) ? known[reason as keyof typeof known] : undefined
  return { why: words?.[0] ?? `“${why ?? reason ?? ''}”`, remedy: words?.[1] ?? '' }
}

/** The words for why a payout is stuck, as those for a reason. */
export function stuckWords({ texts }: DeskContext, reason: string | null, why: string | null): ReasonWords {
  const { stuckFailed, stuckFailedDo, stuckOther, stuckOtherDo, stuckExpired, stuckExpiredDo } = texts
  if (reason === 'failed') return { why: stuckFailed, remedy: stuckFailedDo }
  if (reason === 'other') return { why: stuckOther, remedy: stuckOtherDo }
  if (reason === 'expired') return { why: stuckExpired, remedy: stuckExpiredDo }
  return { why: `“${why ?? reason ?? ''}”`, remedy: '' }
}
