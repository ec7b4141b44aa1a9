// Reasons: codes for programs about why something is refused or not credited, one for each cause. A reason never changes its meaning. It is the same in
// `x-reason`, in errors over RPC, in events, in lists of transfers and in answers about a transaction. `openapi/reasons.ts` has the cause and cure of each. To
// add one, add it to its group: the compiler then asks for the rest.

/** Why a final transfer is held; stored with it. `too-large`: an operator must decide. `review`: a person must decide. */
export const heldReasons = [
  'decimals-unknown',
  'decimals-differ',
  'retired',
  'too-large',
  'wallet-full',
  'review',
] as const
/** One of `heldReasons`. */
export type HeldReason = (typeof heldReasons)[number]

/** Refused because of the amount. */
const smallReasons = ['below-minimum', 'dust'] as const
/** Why a final transfer is not credited; stored with it. `review`: a person has refused it. */
export const refusedReasons = [...smallReasons, 'review'] as const
/** One of `refusedReasons`. */
export type RefusedReason = (typeof refusedReasons)[number]

/** Why a transaction cannot be decided now, besides the reasons for holding a transfer. */
const undecidedReasons = [
  ...['nodes-disagree', 'transaction-unreadable', 'chain-forked', 'configuration-differs', 'paid-before-issue'],
] as const
/** Why a transaction is not decided now. */
export type UndecidedReason = Exclude<HeldReason, 'retired'> | (typeof undecidedReasons)[number]

/** Why a final transaction without a relevant transfer credits nothing to a user. */
const worthlessReasons = [
  ...['transaction-failed', 'not-accepted', 'trc10', 'not-a-transfer', 'zero-amount', 'no-transfer'],
  ...['from-own-address', 'internal-transfer', 'from-operator'],
] as const
/** Why a final transaction credits nothing to a user. */
export type WorthlessReason = RefusedReason | 'retired' | (typeof worthlessReasons)[number]

/** Why a transaction is not credited. */
export type UncreditedReason = UndecidedReason | WorthlessReason

/** Why a post is refused if some of its keys are stored already. */
const conflictReasons = ['content-differs', 'partly-known', 'backend-differs', 'key-in-use'] as const
/** One of `conflictReasons`. */
export type ConflictReason = (typeof conflictReasons)[number]

/** Why a decision about a deposit is refused. */
const decideReasons = ['not-in-review', 'decided-otherwise'] as const
/** Why decisions about deposits are refused. */
export type DecideReason = (typeof decideReasons)[number] | 'chain-forked'

/** Why no address is issued until an operator has acted, or a deployment has ended. */
const issueReasons = ['key-was-used', 'start-block-too-high', 'deploying'] as const
/** Why no address can be issued. */
export type IssueReason = (typeof issueReasons)[number] | 'configuration-differs'

/** Why a payout, or a step of it, is refused, besides the reasons of a post. */
const payoutSteps = [
  ...['to-user', 'to-payout-address', 'to-contract', 'to-nobody'],
  ...['not-in-this-state', 'money-moved', 'stuck-since', 'payouts-stopped', 'no-final-block'],
] as const
/** Why a signed transaction is refused for a payout, whatever its bytes say. */
const takenReasons = [
  ...['unknown-payout', 'transaction-of-another', 'transaction-ended', 'another-transaction'],
  ...['frozen', 'paused', 'fee-unconfirmed', 'deprecated'], // acts of the token's issuer
] as const
/** The difference between signed bytes and their payout. */
const bytesReasons = [
  ...['not-a-transaction', 'unknown-member', 'repeated-member', 'not-canonical', 'wrong-signature', 'wrong-type'],
  ...['wrong-owner', 'wrong-recipient', 'wrong-amount', 'wrong-contract', 'wrong-call-data', 'call-value', 'memo'],
  ...['permission', 'fee-limit', 'expiration', 'reference'],
] as const
/** One of `bytesReasons`. */
export type BytesReason = (typeof bytesReasons)[number]
/** Reasons that occur only in the results of signed transactions. */
export const handInReasons = [...takenReasons, ...bytesReasons] as const
/** Why a payout, or a step of one, is refused. */
export type PayoutReason =
  | ConflictReason
  | 'insufficient'
  | 'wallet-full'
  | 'configuration-differs'
  | 'chain-forked'
  | 'decimals-unknown'
  | 'decimals-differ'
  | (typeof payoutSteps)[number]
  | (typeof handInReasons)[number]

/** All reasons. */
export const reasons = [
  ...heldReasons,
  ...smallReasons,
  ...['not-final', 'finality-late'],
  ...undecidedReasons,
  ...worthlessReasons,
  ...conflictReasons,
  ...decideReasons,
  'insufficient',
  ...payoutSteps,
  ...handInReasons,
  ...['gap-limit', 'issuing-off'],
  ...issueReasons,
  ...['rate-limit', 'node-allowance', 'shared-allowance', 'own-allowance'],
  'other-cell',
  ...['not-configured', 'keys-unavailable', 'nodes-unavailable', 'scan-not-started', 'scan-stalled'],
] as const
/** One of `reasons`. */
export type Reason = (typeof reasons)[number]
