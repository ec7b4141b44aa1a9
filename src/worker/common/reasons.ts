// A reason is a word that tells a program why something is refused or not credited. It never changes its meaning, and it is the same in the header `x-reason`,
// in errors over RPC, in events, in lists of transfers and in answers about a transaction. `http/openapi/reasons.ts` has the cause and the cure of each. To add
// a reason, add it to its group here: the compiler then asks for its texts.

/** Why a final transfer is held: neither credited nor refused yet. Stored in its row. `review` waits for a decision, `too-large` for an operator. */
export const heldReasons = [
  'decimals-unknown',
  'decimals-differ',
  'retired',
  'too-large',
  'wallet-full',
  'review',
] as const
export type HeldReason = (typeof heldReasons)[number]

/** The amount is too small: below the currency's minimum, or less than one unit of the ledger (`dust`). */
const smallReasons = ['below-minimum', 'dust'] as const
/** Why a final transfer to a user is refused. Stored in its row. `review`: a person or a backend has refused it. */
export const refusedReasons = [...smallReasons, 'review'] as const
export type RefusedReason = (typeof refusedReasons)[number]

/** Reasons, beyond those in `heldReasons`, for which nobody can say now whether a transaction is a deposit. */
const undecidedReasons = [
  ...['nodes-disagree', 'transaction-unreadable', 'chain-forked', 'configuration-differs', 'paid-before-issue'],
  'credited-otherwise',
] as const
/** Why nobody can say now whether a transaction is a deposit. Not `retired` (the currency is not accepted any more): then asking again does not help. */
export type UndecidedReason = Exclude<HeldReason, 'retired'> | (typeof undecidedReasons)[number]

/** Why a final transaction has no deposit of a user at all, not even a refused one. */
const worthlessReasons = [
  ...['transaction-failed', 'not-accepted', 'trc10', 'not-a-transfer', 'zero-amount', 'no-transfer'],
  ...['from-own-address', 'internal-transfer', 'from-operator'],
] as const
/** Why a final transaction credits nothing to a user, in cases in which asking again does not help. */
export type WorthlessReason = RefusedReason | 'retired' | (typeof worthlessReasons)[number]

export type UncreditedReason = UndecidedReason | WorthlessReason

/** Why a post of entries or a request for payouts is refused if some of its keys (`osn`) are stored already, and it does not exactly repeat an earlier one. */
const conflictReasons = ['content-differs', 'partly-known', 'backend-differs', 'key-in-use'] as const
export type ConflictReason = (typeof conflictReasons)[number]

/** Why a decision about a held deposit is refused, beside what is known to be wrong (`chain-forked`, `from-operator`). */
const decideReasons = ['not-in-review', 'decided-otherwise'] as const
export type DecideReason = (typeof decideReasons)[number] | 'chain-forked' | 'from-operator'

/** Why no address is issued, besides `configuration-differs`. `deploying` ends with the running deployment. The other two last until an operator acts. */
const issueReasons = ['key-was-used', 'start-block-too-high', 'deploying'] as const
export type IssueReason = (typeof issueReasons)[number] | 'configuration-differs'

/** Why asking for a payout, approving it or cancelling it is refused, besides the reasons for refusing a post of entries. */
const payoutSteps = [
  ...['to-user', 'to-payout-address', 'to-contract', 'to-nobody'],
  ...['not-in-this-state', 'money-moved', 'stuck-since', 'payouts-stopped', 'no-final-block'],
] as const
/** Why a signed transaction is refused because of its payout's state or of the token's issuer. `bytesReasons` are about its bytes. */
const takenReasons = [
  ...['unknown-payout', 'transaction-of-another', 'transaction-ended', 'another-transaction'],
  ...['frozen', 'paused', 'fee-unconfirmed', 'deprecated'], // acts of the token's issuer
] as const
/** Why a signed transaction is refused because of its bytes: they are no valid transaction, or not the one that pays this payout. */
const bytesReasons = [
  ...['not-a-transaction', 'unknown-member', 'repeated-member', 'not-canonical', 'wrong-signature', 'wrong-type'],
  ...['wrong-owner', 'wrong-recipient', 'wrong-amount', 'wrong-contract', 'wrong-call-data', 'call-value', 'memo'],
  ...['permission', 'fee-limit', 'expiration', 'reference'],
] as const
export type BytesReason = (typeof bytesReasons)[number]
/** The reasons for refusing a signed transaction. They occur only in the answer to the signer that hands it in. */
export const handInReasons = [...takenReasons, ...bytesReasons] as const
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

/** Every reason that an answer, an event or a list can have. */
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
  ...[
    'not-configured',
    'database-unavailable',
    'keys-unavailable',
    'nodes-unavailable',
    'scan-not-started',
    'scan-stalled',
  ],
] as const
export type Reason = (typeof reasons)[number]
