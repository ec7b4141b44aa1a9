import type { AlarmKind } from '../../worker/platform/alarm-table.ts'
import { lookUp } from '../kit/look-up.ts'
import type { DeskContext } from './context.ts'
import { remedyOf } from './words.ts'

/** The words for a reason: why something is not credited, and what to do. */
export interface ReasonWords {
  readonly why: string
  /** Empty for an unknown reason. */
  readonly remedy: string
}

/** The words for a reason. For an unknown reason they are the service's, quoted. */
export function reasonWords(
  context: DeskContext,
  reason: string | null,
  why: string | null,
  cuy: number | null = null,
): ReasonWords {
  const known = lookUp<readonly [why: string, remedy?: string]>(context.texts.reasons, reason ?? '')
  if (known === undefined) return quoted(reason, why)
  // safe: a reason without a remedy of its own has that of the alarm of the same name
  return { why: known[0], remedy: known[1] ?? remedyOf(context, reason as AlarmKind, cuy) }
}

/** The words for the reason for which a payout is stuck. */
export function stuckWords({ texts }: DeskContext, reason: string | null, why: string | null): ReasonWords {
  const known = lookUp(texts.stuck, reason ?? '')
  return known === undefined ? quoted(reason, why) : { why: known[0], remedy: known[1] }
}

const quoted = (reason: string | null, why: string | null) => ({ why: `“${why ?? reason ?? ''}”`, remedy: '' })
