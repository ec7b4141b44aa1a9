// A reason is a word that tells a program why something is refused or not credited. It never
// changes its meaning, and it is the same in the header `x-reason`, in errors over RPC, in events,
// in lists of transfers and in answers about a transaction. This is the table of reasons, with
// `payout-reasons.ts`: a row is a word with its cause and its cure. Reasons of the same kind stand
// together, and types are made from their words. The HTTP status follows from the kind of the
// failure (`http/errors.ts`). The sentence is written where the reason is found, because it has the
// amounts, addresses and times of the case.

import { bytesReasons, payoutReasons, type ReasonText, type ReasonTexts, takenReasons } from './payout-reasons.ts'

const notForYou = 'This does not change. Compare the transaction with your address and the accepted currencies.'
const retryCure = 'Try again after the seconds in `Retry-After`.'
const operatorCure = 'For the operator: the alarm of the same name has what to do.'
const withoutAsking = 'Try again after the seconds in `Retry-After`. Deposits are credited without asking.'

/**
 * Why a final transfer is held: neither credited nor refused yet. Stored in its row. `review` waits
 * for a decision, `too-large` for an operator.
 */
export const heldReasons = [
  'decimals-unknown',
  'decimals-differ',
  'retired',
  'too-large',
  'wallet-full',
  'review',
] as const
export type HeldReason = (typeof heldReasons)[number]
const held: Readonly<Record<HeldReason, ReasonText>> = {
  'decimals-unknown': {
    cause: "The decimals of the token's contract could not be read yet, so the amount is not known.",
    cure: 'Wait: it is credited when they are read.',
  },
  'decimals-differ': {
    cause: "The decimals of the token's contract are not the configured ones, so none of it is credited.",
    cure: operatorCure,
  },
  retired: {
    cause: 'The currency is no longer accepted. The deposit is kept, and credited if the currency comes back.',
    cure: 'Ask the operator.',
  },
  'too-large': {
    cause: 'The amount does not fit into one entry of the ledger.',
    cure: 'For the operator: the alarm `deposit-too-large` has what to do.',
  },
  'wallet-full': {
    cause: 'The wallet would hold more than 2^53−1 smallest units.',
    cure: 'A deposit is credited when there is room. Nothing of a post was stored: use another wallet.',
  },
  review: {
    cause: 'A person looks at the deposit before it is credited (409), or has looked at it and refused it (422).',
    cure: 'Wait for the decision, or ask the operator. What was refused can still be credited.',
  },
}

/**
 * Why a final transfer to a user is refused. Stored in its row. `review`: a person or a backend has
 * refused it.
 */
export const refusedReasons = ['below-minimum', 'dust', 'review'] as const
export type RefusedReason = (typeof refusedReasons)[number]
const refused: Readonly<Record<Exclude<RefusedReason, 'review'>, ReasonText>> = {
  'below-minimum': {
    cause: 'The amount is below the smallest deposit that is credited (`minDeposit` in `/currencies`).',
    cure: 'This does not change. Send at least that much at once.',
  },
  dust: {
    cause: 'The amount is less than the smallest amount in a wallet.',
    cure: 'This does not change. Send more at once.',
  },
}

const unfinal = {
  'not-final': {
    cause: 'The transaction is found, and its block is not final, or it is in no block yet.',
    cure: retryCure,
  },
  'finality-late': {
    cause: 'The transaction is found and not final. The answers of the network are late, so nobody can say when it is.',
    cure: retryCure,
  },
} satisfies ReasonTexts

/**
 * Reasons, beyond those in `heldReasons`, for which nobody can say now whether a transaction is a
 * deposit.
 */
const undecided = {
  'nodes-disagree': {
    cause: 'The nodes give different answers about it.',
    cure: 'Try again later. If it stays, report it to the operator.',
  },
  'transaction-unreadable': {
    cause: 'The nodes agree on the transaction, and the service cannot read its bytes or its receipt.',
    cure: operatorCure,
  },
  'chain-forked': {
    cause:
      'The nodes show another chain than before. Nothing is credited, paid out or given back until an operator has checked it.',
    cure: operatorCure,
  },
  'configuration-differs': {
    cause: 'The chain, the key or a currency of the configuration is not that of the stored data.',
    cure: operatorCure,
  },
  'paid-before-issue': {
    cause: 'The transaction was final before the address was issued to you, so it can have been for somebody else.',
    cure: 'Ask the operator, who has an alarm of the same name.',
  },
  'credited-otherwise': {
    cause:
      'What this transaction pays you was credited with another amount, or to somebody else, by blocks that were wrong. A credit is never taken back, so it is not credited again.',
    cure: 'Ask the operator, whose alarm `corrected-credit` has what is credited and what the chain shows.',
  },
} satisfies ReasonTexts
/**
 * Why nobody can say now whether a transaction is a deposit. Not `retired` (the currency is not
 * accepted any more): then asking again does not help.
 */
export type UndecidedReason = Exclude<HeldReason, 'retired'> | keyof typeof undecided

/** Why a final transaction has no deposit of a user at all, not even a refused one. */
const worthless = {
  'transaction-failed': {
    cause: 'The transaction failed on the chain, so it paid nothing.',
    cure: 'This does not change. Send it again.',
  },
  'not-accepted': {
    cause: 'It transfers a token, an NFT or a currency that is not accepted.',
    cure: notForYou,
  },
  trc10: { cause: 'It transfers a TRC-10 token, which is not TRX.', cure: notForYou },
  'not-a-transfer': {
    cause: 'It names your address, and transfers neither TRX nor a token to it. The message says what it does.',
    cure: notForYou,
  },
  'zero-amount': { cause: 'It transfers 0 of a token.', cure: notForYou },
  'no-transfer': { cause: 'It has no transfer to one of your addresses.', cure: notForYou },
  'from-own-address': {
    cause: 'It was sent from one of your own deposit addresses, so it is not a deposit.',
    cure: 'This does not change.',
  },
  'internal-transfer': {
    cause: 'It was sent from an address of the service. Such transfers are not deposits.',
    cure: 'This does not change.',
  },
  'from-operator': {
    cause:
      "It was sent from one of the operator's own wallets (`OPERATOR_ADDRESSES`). Such transfers are not deposits.",
    cure: 'This does not change.',
  },
} satisfies ReasonTexts
/**
 * Why a final transaction credits nothing to a user, in cases in which asking again does not help.
 */
export type WorthlessReason = RefusedReason | 'retired' | keyof typeof worthless

export type UncreditedReason = UndecidedReason | WorthlessReason

/**
 * Why a post of entries or a request for payouts or orders is refused if some of its keys (`osn`,
 * `order`) are stored already, and it does not exactly repeat an earlier one.
 */
const conflicts = {
  'content-differs': {
    cause: 'An entry, payout or order of the request is known with another content.',
    cure: 'Look at the stored one by its `osn` or `order`. A different order needs another one.',
  },
  'partly-known': {
    cause: 'Some entries, payouts or orders of the request are known and others are not, so nothing of it was stored.',
    cure: 'Send the known ones as they were sent before, and the new ones by themselves.',
  },
  'backend-differs': {
    cause: 'Another backend has sent an entry, a payout or an order with these keys.',
    cure: 'Let that backend repeat its own request. A different order needs another `osn` or `order`.',
  },
  'key-in-use': {
    cause:
      'An entry has a key that the payout, its refund or an order with `take` would use; or an entry would have the key of one of them.',
    cure: 'A different order needs another `osn` or `order`.',
  },
} satisfies ReasonTexts
export type ConflictReason = keyof typeof conflicts

/**
 * Why a decision about a held deposit is refused, beside what is known to be wrong (`chain-forked`,
 * `from-operator`).
 */
const undecidable = {
  'not-in-review': {
    cause: 'The deposit does not wait for a decision.',
    cure: 'Nothing was decided. Look at the deposit by its txid.',
  },
  'decided-otherwise': {
    cause: 'It was decided to credit the deposit, so it cannot be refused any more.',
    cure: 'Look at who has decided, and why: `decided` in `GET /ledger/deposits`.',
  },
} satisfies ReasonTexts
export type DecideReason = keyof typeof undecidable | 'chain-forked' | 'from-operator'

/**
 * The reasons for refusing a signed transaction. They occur only in the answer to the signer that
 * hands it in.
 */
export const handInTexts = () => ({ ...takenReasons, ...bytesReasons })
export type PayoutReason =
  | ConflictReason
  | 'wallet-full'
  | 'configuration-differs'
  | 'chain-forked'
  | 'decimals-unknown'
  | 'decimals-differ'
  | keyof typeof payoutReasons
  | keyof ReturnType<typeof handInTexts>

/** Why asking for an order, or cancelling one, is refused, besides `ConflictReason`. */
const ofOrders = {
  'too-many-orders': {
    cause:
      'As many orders of the user as may hold an address do: open ones, and those that ended in the last 24 hours.',
    cure: 'Nothing was stored. Cancel orders that nobody will pay, or wait until addresses are free.',
  },
  'order-credited': {
    cause: 'A deposit counts for the order already, so it cannot be cancelled.',
    cure: 'Nothing was changed. Look at `credited` of the order; the money is in the wallet.',
  },
} satisfies ReasonTexts
/** A currency that takes no deposits now has the reason why these are held, or `chain-forked`. */
export type OrderReason =
  | ConflictReason
  | 'retired'
  | 'decimals-unknown'
  | 'decimals-differ'
  | 'chain-forked'
  | keyof typeof ofOrders

/**
 * Why no address is issued. `deploying` ends with the running deployment. The reasons after
 * `gap-limit` and `issuing-off` tell of a wrong configuration.
 */
const unissued = {
  'gap-limit': {
    cause: 'Too many addresses have no deposit yet. The gap scan of a wallet (BIP-44) would miss further ones.',
    cure: 'Use one of them: without `fresh` the response is the newest one.',
  },
  'issuing-off': {
    cause: 'The operator has stopped the issue of addresses, as while a database is restored.',
    cure: 'Try again later. Addresses that were issued before are shown and stay valid.',
  },
  'key-was-used': {
    cause: 'No address was issued yet, and addresses of the key hold or held something: another database has used it.',
    cure: operatorCure,
  },
  'start-block-too-high': {
    cause: 'The block that the scan should start at (`TRON_START_BLOCK`) is above the newest final one.',
    cure: 'For the operator: set a block that is final, or none.',
  },
  deploying: {
    cause: 'Another version of the service with another `TRON_FIRST_INDEX` is being deployed.',
    cure: retryCure,
  },
} satisfies ReasonTexts
export type IssueReason = Exclude<keyof typeof unissued, 'gap-limit' | 'issuing-off'> | 'configuration-differs'

/** A limit or an allowance of requests that is used up. */
const limits = {
  'rate-limit': {
    cause:
      'The caller or backend is over its rate limit. Callers have a low one for `/tron/balance`, `/tron/recharge` and `fresh=1`, and ' +
      'a high one for the rest.',
    cure: 'Try again after the seconds in `Retry-After`. A backend can send several entries in one post.',
  },
  'node-allowance': { cause: 'The requests that the Tron nodes allow are used up.', cure: withoutAsking },
  'shared-allowance': {
    cause: 'The requests to Tron nodes for all callers are used up: together they have half of what the scan leaves.',
    cure: withoutAsking,
  },
  'own-allowance': {
    cause: 'Your requests to Tron nodes are used up: one caller has a tenth of those for all callers.',
    cure: withoutAsking,
  },
} satisfies ReasonTexts

/** Why the service, or a part that it needs, answers nothing for now. */
const service = {
  'other-cell': {
    cause: 'The deployment has several databases, and the users of the request are not all in the one that answers.',
    cure: 'Send one request for each cell. A movement between two of them is two posts, each repeated until it is known.',
  },
  'not-configured': {
    cause: 'A variable or secret of the deployment is missing or wrong, or there is no key to verify tokens with.',
    cure: 'For the operator: the log names every wrong value.',
  },
  'database-unavailable': {
    cause:
      'The database is being reset or is overloaded, or cannot be reached for now. That usually ends within two minutes.',
    cure:
      'Send the same request again after the seconds in `Retry-After`, with the same keys. What it was to store may be stored already: ' +
      'then it is answered as the first time.',
  },
  'keys-unavailable': {
    cause:
      'The key set for tokens (`AUTH_JWKS_URL`, `BACKEND_JWKS_URL`, or that of the team of `DESK_ACCESS`) could not be fetched.',
    cure: retryCure,
  },
  'nodes-unavailable': {
    cause: 'No Tron node gave a usable response in time.',
    cure: 'Try again after the seconds in `Retry-After`. Nothing was lost or credited.',
  },
  'scan-not-started': {
    cause: 'No scan has run yet: the first one begins at once with the first address, or with the next cron.',
    cure: 'For the operator: issue an address. If that fails, its answer has the reason.',
  },
  'scan-stalled': {
    cause: 'The scan has not advanced for 3 minutes. Nothing is credited until it does; nothing is lost.',
    cure: operatorCure,
  },
} satisfies ReasonTexts

/** The texts of every reason that an answer, an event or a list can have. */
export const reasonTexts = () => ({
  ...{ ...held, ...refused, ...unfinal, ...undecided, ...worthless, ...conflicts, ...undecidable },
  ...{ ...payoutReasons, ...handInTexts(), ...ofOrders, ...unissued, ...limits, ...service },
})
export type Reason = keyof ReturnType<typeof reasonTexts>

/** Every reason, in the order of the table. */
export const allReasons = () => Object.keys(reasonTexts()) as Reason[] // safe: the keys of the table
