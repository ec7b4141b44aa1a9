import type { BadPost } from '../ledger/parse-post.ts'

/** Why a payout, or a step of one, is refused for now or for good: one word for each cause, for programs. */
export const payoutReasons = [
  // What is asked for.
  ...['content-differs', 'partly-known', 'backend-differs', 'key-in-use', 'insufficient', 'wallet-full'],
  ...['to-user', 'to-payout-address', 'to-contract', 'to-nobody'],
  // Steps.
  ...['unknown-payout', 'not-in-this-state', 'money-moved', 'payouts-stopped', 'no-final-block'],
  ...['transaction-of-another', 'transaction-ended', 'another-transaction'],
  // Bytes.
  ...['not-a-transaction', 'unknown-member', 'repeated-member', 'not-canonical', 'wrong-signature', 'wrong-type'],
  ...['wrong-owner', 'wrong-recipient', 'wrong-amount', 'wrong-contract', 'wrong-call-data', 'call-value', 'memo'],
  ...['permission', 'fee-limit', 'expiration', 'reference'],
] as const
/** One of `payoutReasons`. */
export type PayoutReason = (typeof payoutReasons)[number]

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
