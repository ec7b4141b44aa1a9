// The rows about payouts of the table of reasons (`reasons.ts`).

/**
 * Why a request or transfer gets a reason, and what its reader can do. For the OpenAPI document:
 * the Worker's bundle has only words, none of these texts.
 */
export interface ReasonText {
  readonly cause: string
  readonly cure: string
}
export type ReasonTexts = Readonly<Record<string, ReasonText>>

const anotherTo = 'The money was not taken. Ask for it with another `to` and another `osn`.'
const signAgain = 'Nothing was stored. Sign exactly what `/ledger/payouts/unsigned` shows, as a node would write it.'

/**
 * Why asking for a payout, approving it or cancelling it is refused, besides `ConflictReason`.
 * `insufficient` also refuses a post of entries.
 */
export const payoutReasons = {
  insufficient: {
    cause: 'The wallet holds less than the entry takes, the entries before it in the post included.',
    cure: 'Nothing of the post was stored. The message has what the wallet holds and what is needed.',
  },
  'to-user': {
    cause: 'The payout is to an address of a user here.',
    cure: 'Post a transfer (type 3) between the two instead.',
  },
  'to-payout-address': { cause: 'The payout is to the address that payouts are paid from.', cure: anotherTo },
  'to-contract': { cause: 'The payout is to the contract of a currency, where nobody can spend it.', cure: anotherTo },
  'to-nobody': { cause: 'The payout is to the address of 20 zero bytes, which has no key.', cure: anotherTo },
  'not-in-this-state': {
    cause: 'The payout is in a state from which this step does not lead.',
    cure: 'Look at the payout: its `state` has what it may become.',
  },
  'money-moved': {
    cause:
      'A transaction has moved money for the payout, although it did not end as paid: the message says what, and to whom.',
    cure: 'Decide who pays for that, and send `moved: true` with the same request.',
  },
  'stuck-since': {
    cause: 'The payout has other `attempts` than were sent: it has got stuck since.',
    cure: 'Look at the payout. To approve it once more, send the `attempts` that it shows beside `ids`.',
  },
  'payouts-stopped': {
    cause:
      'Money has left the payout address and no payout names the transaction, or an older copy of the database was restored.',
    cure: 'Hand in what was signed. For the operator: the alarm `payout-unknown` has what to do.',
  },
  'no-final-block': {
    cause:
      'The newest final block is not known for now: the scan has not started, or was corrected. Or a signed transaction refers to a block ' +
      'that can be newer.',
    cure: 'Try again after the seconds in `Retry-After`. A signer refers to `head` of `/ledger/payouts/unsigned`.',
  },
} satisfies ReasonTexts

/**
 * Why a signed transaction is refused because of its payout's state or of what the token's issuer
 * did.
 */
export const takenReasons = {
  'unknown-payout': {
    cause: 'No payout has this id.',
    cure: 'Look for it by `uid`, `cuy` and `osn`. If it is not there, ask for it again with these.',
  },
  'transaction-of-another': {
    cause: 'The transaction was handed in for another payout.',
    cure: 'Nothing was stored. Sign each payout by a transaction of its own.',
  },
  'transaction-ended': {
    cause: 'The transaction has paid, has failed, or has expired.',
    cure: 'Look at the payout. If it is approved again, sign a new transaction.',
  },
  'another-transaction': {
    cause: 'The payout has another transaction, which can still be mined.',
    cure: 'Wait until that one has paid or expired. Never sign a second one before.',
  },
  frozen: {
    cause: 'The issuer of the token has frozen the payout address: nothing of it leaves.',
    cure: 'Nothing was stored. The payout is offered and signed again once the address is released.',
  },
  paused: {
    cause: 'The issuer has paused the token: no transfer of it succeeds.',
    cure: 'Nothing was stored. The payout is offered and signed again once the token is not paused any more.',
  },
  'fee-unconfirmed': {
    cause: 'The issuer takes a fee that no operator has confirmed: less than asked for would arrive.',
    cure: 'For the operator: confirm the fee (`npm run operate -- fee confirm`), or wait until it is gone.',
  },
  deprecated: {
    cause: 'The issuer has replaced the contract of the token.',
    cure: 'For the operator: retire the currency, and cancel what is open in it.',
  },
} satisfies ReasonTexts

/**
 * Why a signed transaction is refused because of its bytes: they are no valid transaction, or not
 * the one that pays this payout.
 */
export const bytesReasons = {
  'not-a-transaction': { cause: 'The text is not the hex of a signed transaction.', cure: signAgain },
  'unknown-member': { cause: 'The bytes have a member that a payout does not have.', cure: signAgain },
  'repeated-member': {
    cause: 'A member of the bytes comes twice, for instance a second contract or signature.',
    cure: signAgain,
  },
  'not-canonical': {
    cause: 'The bytes are not those that a node would write, so a node would see another txid.',
    cure: signAgain,
  },
  'wrong-signature': {
    cause: 'The signature is none that a node takes, or is not that of the payout address.',
    cure: signAgain,
  },
  'wrong-type': { cause: 'The contract is of another type, or names another one.', cure: signAgain },
  'wrong-owner': { cause: 'The transaction is not from the payout address.', cure: signAgain },
  'wrong-recipient': { cause: 'It pays somebody else.', cure: signAgain },
  'wrong-amount': { cause: 'It pays another amount.', cure: signAgain },
  'wrong-contract': { cause: 'It calls another contract than that of the currency.', cure: signAgain },
  'wrong-call-data': {
    cause:
      "Its call data is not exactly `transfer(to, units)`, for instance by Tron's prefix `41` in the word of the recipient.",
    cure: signAgain,
  },
  'call-value': { cause: 'It sends TRX or a TRC-10 token to the contract.', cure: signAgain },
  memo: { cause: 'It has a memo.', cure: signAgain },
  permission: { cause: 'It names a permission.', cure: signAgain },
  'fee-limit': {
    cause:
      'Its `fee_limit` is more than `feeLimit` of `PAYOUTS`, or so little that no transfer of a token can succeed.',
    cure: signAgain,
  },
  expiration: {
    cause: 'It expires more than 60 minutes after the newest final block, or has expired more than a day before it.',
    cure: signAgain,
  },
  reference: {
    cause: 'Its reference block is not one of the last 65,536 final blocks of this chain.',
    cure: signAgain,
  },
} satisfies ReasonTexts
export type BytesReason = keyof typeof bytesReasons
