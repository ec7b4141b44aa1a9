import type { PayoutReason } from '../common/reasons.ts'
import type { BadPost } from '../ledger/parse-post.ts'

/** When what refers to a block that is not known yet can be tried again: a scan begins as often, by default. */
export const headRetrySeconds = 20

/** Why nothing of a request about payouts was done. `payout` is its number in the request, from 1; `why` is for people. */
export type PayoutFailure =
  | (Omit<BadPost, 'entry'> & { readonly payout?: number })
  /** Not now, or no longer. */
  | { readonly kind: 'conflict'; readonly payout?: number; readonly reason: PayoutReason; readonly why: string }
  /** Never in this form. */
  | { readonly kind: 'refused'; readonly payout?: number; readonly reason: PayoutReason; readonly why: string }
  | { readonly kind: 'unknown-payout'; readonly why: string }
  /** Another name is needed. */
  | { readonly kind: 'forbidden'; readonly why: string }
