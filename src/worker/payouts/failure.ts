import type { PayoutReason } from '../common/reasons.ts'
import type { BadPost } from '../ledger/parse-post.ts'

/**
 * Seconds after which a request that refers to an unknown block may be tried again: the default
 * interval between scans.
 */
export const headRetrySeconds = 20

/**
 * Why a request about payouts was refused; nothing is stored. `payout` is the number of the payout
 * in the request, from 1; `why` is for people.
 */
export type PayoutFailure =
  | (Omit<BadPost, 'entry'> & { readonly payout?: number })
  /** The state of the payout or of the service does not allow the request now. */
  | { readonly kind: 'conflict'; readonly payout?: number; readonly reason: PayoutReason; readonly why: string }
  /** The content is not acceptable, now or later. */
  | { readonly kind: 'refused'; readonly payout?: number; readonly reason: PayoutReason; readonly why: string }
  | { readonly kind: 'unknown-payout'; readonly why: string }
  /** The caller lacks a right, or has asked for the payout and so must not decide about it. */
  | { readonly kind: 'forbidden'; readonly why: string }
