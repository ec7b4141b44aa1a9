import type { BytesReason, PayoutReason } from '../../common/reasons.ts'

/** What a word means, and what to do. */
export interface ReasonText {
  readonly cause: string
  readonly cure: string
}

const anotherTo = 'The money was not taken. Ask for it with another `to` and another `osn`.'
const signAgain = 'Nothing was stored. Sign exactly what `/ledger/payouts/unsigned` shows, as a node would write it.'
const differs = (cause: string): ReasonText => ({ cause, cure: signAgain })

/** The cause and the cure of each word about payouts that no post has. */
export const payoutReasonTexts: Readonly<
  Record<
    Exclude<PayoutReason, 'content-differs' | 'partly-known' | 'backend-differs' | 'insufficient' | 'wallet-full'>,
    ReasonText
  >
> = {
  'key-in-use': {
    cause: 'An entry has a key that the payout or its refund would use; or an entry would have the key of a payout.',
    cure: 'A different order needs another `osn`.',
  },
  'to-user': {
    cause: 'The payout is to an address of a user here.',
    cure: 'Post a transfer (type 3) between the two instead.',
  },
  'to-payout-address': { cause: 'The payout is to the address that payouts are paid from.', cure: anotherTo },
  'to-contract': { cause: 'The payout is to the contract of a currency, where nobody can spend it.', cure: anotherTo },
  'to-nobody': { cause: 'The payout is to the address of 20 zero bytes, which has no key.', cure: anotherTo },
  'unknown-payout': {
    cause: 'No payout has this id.',
    cure: 'Look for it by `uid`, `cuy` and `osn`. If it is not there, ask for it again with these.',
  },
  'not-in-this-state': {
    cause: 'The payout is in a state from which this step does not lead.',
    cure: 'Look at the payout: its `state` has what it may become.',
  },
  'money-moved': {
    cause: 'The transaction of the stuck payout has moved money, although not what was asked for: see `moved`.',
    cure: 'Decide who pays for that, and send `moved: true` with the same request.',
  },
  'payouts-stopped': {
    cause:
      'Money has left the payout address and no payout names the transaction, or an older copy of the database was restored.',
    cure: 'Hand in what was signed. For the operator: the alarm `payout-unknown` has what to do.',
  },
  'no-final-block': {
    cause: 'The newest final block is not known for now: the scan has not started, or was corrected.',
    cure: 'Try again in some seconds.',
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
  ...({
    'not-a-transaction': differs('The text is not the hex of a signed transaction.'),
    'unknown-member': differs('The bytes have a member that a payout does not have.'),
    'repeated-member': differs('A member of the bytes comes twice, for instance a second contract or signature.'),
    'not-canonical': differs('The bytes are not those that a node would write, so a node would see another txid.'),
    'wrong-signature': differs('The signature has not 65 bytes, or is not that of the payout address.'),
    'wrong-type': differs('The contract is of another type, or names another one.'),
    'wrong-owner': differs('The transaction is not from the payout address.'),
    'wrong-recipient': differs('It pays somebody else.'),
    'wrong-amount': differs('It pays another amount.'),
    'wrong-contract': differs('It calls another contract than that of the currency.'),
    'wrong-call-data': differs('Its call data is not exactly `transfer(to, units)`.'),
    'call-value': differs('It sends TRX or a TRC-10 token to the contract.'),
    memo: differs('It has a memo.'),
    permission: differs('It names a permission.'),
    'fee-limit': differs('Its `fee_limit` is more than `feeLimit` of `PAYOUTS`.'),
    expiration: differs(
      'It expires more than 60 minutes after the newest final block, or has expired more than a day before it.',
    ),
    reference: differs('Its reference block is not one of the last 65,536 final blocks of this chain.'),
  } satisfies Record<BytesReason, ReasonText>),
}
