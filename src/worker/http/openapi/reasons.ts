import type { Reason } from '../../common/reasons.ts'

export interface ReasonText {
  readonly cause: string
  readonly cure: string
}

const anotherTo = 'The money was not taken. Ask for it with another `to` and another `osn`.'
const signAgain = 'Nothing was stored. Sign exactly what `/ledger/payouts/unsigned` shows, as a node would write it.'
const notForYou = 'This does not change. Compare the transaction with your address and the accepted currencies.'
const retryCure = 'Try again after the seconds in `Retry-After`.'
const operatorCure = 'For the operator: the alarm of the same name has what to do.'
const withoutAsking = 'Try again after the seconds in `Retry-After`. Deposits are credited without asking.'

/** Why a request or transfer gets each reason, and what its reader can do. Only the OpenAPI document has these texts. */
export const reasonTexts: Readonly<Record<Reason, ReasonText>> = {
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
  'not-in-review': {
    cause: 'The deposit does not wait for a decision.',
    cure: 'Nothing was decided. Look at the deposit by its txid.',
  },
  'decided-otherwise': {
    cause: 'It was decided to credit the deposit, so it cannot be refused any more.',
    cure: 'Look at who has decided, and why: `decided` in `GET /ledger/deposits`.',
  },
  'below-minimum': {
    cause: 'The amount is below the smallest deposit that is credited (`minDeposit` in `/currencies`).',
    cure: 'This does not change. Send at least that much at once.',
  },
  dust: {
    cause: 'The amount is less than the smallest amount in a wallet.',
    cure: 'This does not change. Send more at once.',
  },
  'not-final': {
    cause: 'The transaction is found, and its block is not final, or it is in no block yet.',
    cure: retryCure,
  },
  'finality-late': {
    cause: 'The transaction is found and not final. The answers of the network are late, so nobody can say when it is.',
    cure: retryCure,
  },
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
  'content-differs': {
    cause: 'An entry of the post is known with another amount or mark.',
    cure: 'Look at the stored entry by its `osn`. A different order needs another `osn`.',
  },
  'partly-known': {
    cause: 'Some entries of the post are known and others are not, so nothing of it was stored.',
    cure: 'Post the known ones as they were posted before, and the new ones by themselves.',
  },
  'backend-differs': {
    cause: 'Another backend has posted an entry with these keys.',
    cure: 'Let that backend repeat its own post. A different order needs another `osn`.',
  },
  insufficient: {
    cause: 'The wallet holds less than the entry takes, the entries before it in the post included.',
    cure: 'Nothing of the post was stored. The message has what the wallet holds and what is needed.',
  },
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
  'no-final-block': {
    cause:
      'The newest final block is not known for now: the scan has not started, or was corrected. Or a signed transaction refers to a block ' +
      'that can be newer.',
    cure: 'Try again after the seconds in `Retry-After`. A signer refers to `head` of `/ledger/payouts/unsigned`.',
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
}
