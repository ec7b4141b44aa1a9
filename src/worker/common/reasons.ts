// Why something is refused or not credited: one word for each cause, for programs. A word never changes its meaning, and it is the same in
// `x-reason`, in errors over RPC, in events, in lists of transfers and in what is said about a transaction. `openapi/reasons.ts` has the
// cause and the cure of each. To add one, add it to its group: the compiler then asks for the rest.

/** Why a final transfer cannot be decided for now: stored with it. `too-large`: an operator must decide. `review`: a person looks at it. */
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

/** What is worth nothing by its amount. */
const smallReasons = ['below-minimum', 'dust'] as const
/** Why a final transfer is worth nothing: stored with it. `review`: a person has refused it. */
export const refusedReasons = [...smallReasons, 'review'] as const
/** One of `refusedReasons`. */
export type RefusedReason = (typeof refusedReasons)[number]

/** Why nothing can be said about a transaction now, besides what is held. */
const undecidedReasons = [
  ...['nodes-disagree', 'transaction-unreadable', 'chain-forked', 'configuration-differs', 'paid-before-issue'],
] as const
/** Why a transaction is not decided now. */
export type UndecidedReason = Exclude<HeldReason, 'retired'> | (typeof undecidedReasons)[number]

/** Why a final transaction without a transfer that counts is worth nothing to a caller. */
const worthlessReasons = [
  ...['transaction-failed', 'not-accepted', 'trc10', 'not-a-transfer', 'zero-amount', 'no-transfer'],
  ...['from-own-address', 'internal-transfer', 'from-operator'],
] as const
/** Why a final transaction is worth nothing to a caller. */
export type WorthlessReason = RefusedReason | 'retired' | (typeof worthlessReasons)[number]

/** Why a transaction is not credited. */
export type UncreditedReason = UndecidedReason | WorthlessReason

/** Why a post is refused whose keys are known. */
const conflictReasons = ['content-differs', 'partly-known', 'backend-differs', 'key-in-use'] as const
/** One of them. */
export type ConflictReason = (typeof conflictReasons)[number]

/** Why nothing is decided about a deposit. */
const decideReasons = ['not-in-review', 'decided-otherwise'] as const
/** Why nothing is decided about deposits. */
export type DecideReason = (typeof decideReasons)[number] | 'chain-forked'

/** Why no address is issued until an operator has acted, or a deployment has ended. */
const issueReasons = ['key-was-used', 'start-block-too-high', 'deploying'] as const
/** Why no address can be issued. */
export type IssueReason = (typeof issueReasons)[number] | 'configuration-differs'

/** Why a payout is not taken, or why it takes no step: besides those of a post. */
const payoutSteps = [
  ...['to-user', 'to-payout-address', 'to-contract', 'to-nobody'],
  ...['not-in-this-state', 'money-moved', 'stuck-since', 'payouts-stopped', 'no-final-block'],
] as const
/** Why a signed transaction is not taken for a payout, whatever its bytes are. */
const takenReasons = [
  ...['unknown-payout', 'transaction-of-another', 'transaction-ended', 'another-transaction'],
  ...['frozen', 'paused', 'fee-unconfirmed', 'deprecated'], // the hand of the issuer of a token
] as const
/** Why signed bytes are not those of a payout: what differs. */
const bytesReasons = [
  ...['not-a-transaction', 'unknown-member', 'repeated-member', 'not-canonical', 'wrong-signature', 'wrong-type'],
  ...['wrong-owner', 'wrong-recipient', 'wrong-amount', 'wrong-contract', 'wrong-call-data', 'call-value', 'memo'],
  ...['permission', 'fee-limit', 'expiration', 'reference'],
] as const
/** One of them. */
export type BytesReason = (typeof bytesReasons)[number]
/** The words that only the results of signed transactions have. */
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

/** Every word. */
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
  ...['not-configured', 'keys-unavailable', 'nodes-unavailable', 'scan-not-started', 'scan-stalled'],
] as const
/** One of `reasons`. */
export type Reason = (typeof reasons)[number]
