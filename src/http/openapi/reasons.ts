import type { Reason } from '../../common/reasons.ts'

/** What a word means, and what to do. */
export interface ReasonText {
  readonly cause: string
  readonly cure: string
}

const notForYou = 'This does not change. Compare the transaction with your address and the accepted currencies.'
const retryCure = 'Try again after the seconds in `Retry-After`.'
const operatorCure = 'For the operator: the alarm of the same name has what to do.'
const withoutAsking = 'Try again after the seconds in `Retry-After`. Deposits are credited without asking.'

/** The cause and the cure of each word. */
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
    cause: 'The nodes show another chain than before. Nothing is credited until an operator has checked it.',
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
  'not-configured': {
    cause: 'A variable or secret of the deployment is missing or wrong, or there is no key to verify tokens with.',
    cure: 'For the operator: the log names every wrong value.',
  },
  'keys-unavailable': {
    cause: 'The key set for tokens (`AUTH_JWKS_URL` or `BACKEND_JWKS_URL`) could not be fetched.',
    cure: retryCure,
  },
  'nodes-unavailable': {
    cause: 'No Tron node gave a usable response in time.',
    cure: 'Try again after the seconds in `Retry-After`. Nothing was lost or credited.',
  },
  'scan-not-started': {
    cause: 'No scan has started: it starts with the first address.',
    cure: 'For the operator: issue an address. If that fails, its answer has the reason.',
  },
  'scan-stalled': {
    cause: 'The scan has not advanced for 3 minutes. Nothing is credited until it does; nothing is lost.',
    cure: operatorCure,
  },
}
