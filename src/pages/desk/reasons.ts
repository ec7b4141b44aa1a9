import type { AlarmKind } from '../../worker/platform/alarm-table.ts'
import { lookUp } from '../kit/look-up.ts'
import type { DeskContext } from './context.ts'
import type { DeskPayout, OwnedDeposit } from './data.ts'
import { remedyOf } from './words.ts'

/**
 * What the page says about a reason that the service gives: why something is not credited or paid,
 * and what to do.
 */
export interface ReasonWords {
  readonly why: string
  /** Empty for a reason that this page does not know. */
  readonly remedy: string
}

/**
 * The words for a reason why something is not credited. For a reason that this page does not know,
 * `why`, the service's sentence, is quoted.
 */
export function reasonWords(
  context: DeskContext,
  reason: string | null,
  why: string | null,
  cuy: number | null = null,
): ReasonWords {
  const known = lookUp<readonly [why: string, remedy?: string]>(context.texts.reasons, reason ?? '')
  if (known === undefined) return quoted(reason, why)
  // safe: a reason without a remedy in the texts is also the name of an alarm, whose remedy is
  // shown
  return { why: known[0], remedy: known[1] ?? remedyOf(context, reason as AlarmKind, cuy) }
}

/**
 * The words for the reason for which a deposit is held or refused. The reason `review` has other
 * words for a refused deposit than for a held one.
 */
export function depositReason(
  context: DeskContext,
  { state, reason, why, cuy }: Pick<OwnedDeposit, 'state' | 'reason' | 'why'> & { readonly cuy?: number },
): ReasonWords {
  if (state !== 'refused' || reason !== 'review') return reasonWords(context, reason, why, cuy)
  const [words = '', remedy = ''] = context.texts.reviewRefused
  return { why: words, remedy }
}

/**
 * The words for the reason why a payout is stuck. For a reason that this page does not know, `why`,
 * the service's sentence, is quoted.
 */
export function stuckWords({ texts }: DeskContext, reason: string | null, why: string | null): ReasonWords {
  const known = lookUp(texts.stuck, reason ?? '')
  return known === undefined ? quoted(reason, why) : { why: known[0], remedy: known[1] }
}

/** Why a payout waits for a person. A service of an earlier version does not say it. */
export const waitText = ({ texts }: DeskContext, { waits_for }: DeskPayout): string =>
  lookUp(texts.waits, waits_for ?? '') ?? texts.approvedNot

const quoted = (reason: string | null, why: string | null) => ({ why: `“${why ?? reason ?? ''}”`, remedy: '' })
