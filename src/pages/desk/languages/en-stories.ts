import { reservedUid } from '../../../worker/common/ids.ts'
import type { PayoutState } from '../../../worker/common/payout-states.ts'
import type { UncreditedReason } from '../../../worker/common/reasons.ts'
import type { InAnyLanguage } from '../../kit/texts.ts'

const reserved = String(reservedUid)

const internal = 'It was sent by this service or its operator, so it is no deposit.'
const internalDo = 'Nothing has to be done: collecting money and paying for energy look like this.'
const otherKind = 'It is another kind of transaction, and no payment in an accepted currency.'
const otherKindDo =
  'Tell the user what it is, by the sentence of the service above. Nothing arrived that can be credited.'
const belowMinimumDo =
  'Nothing has to be done. To give it anyway, have a backend post an adjustment (`POST /ledger/entries`, type 9).'
const undecidedDo =
  'Look it up again in a few minutes. If it stays, run `npm run doctor -- --production`: it shows which node is wrong.'
const wrongSettingHelp =
  'A setting is missing, malformed, or not that of the stored data. Run `npm run doctor` (for the deployed service `npm run doctor -- --production`): it names the setting and what it takes. Where it is the decimals of a currency that you have just corrected, run `npm run operate -- currency --cuy <n> --production`; correct anything else, and deploy again. The scan then goes on where it was, and nothing is lost.'

/** The desk's texts about searches and their answers, in English. Part of `enDesk`. */
export const enStories = {
  askHeading: 'What happened?',
  ask: 'Look it up',
  question: 'Transaction, address, user, order or amount',
  questionHelp:
    'A txid, an address, a user (7, #7), an order (its reference), or an amount: 61 TRX. Of a txid or an address the beginning is enough: TWer2Y…GZmaL6.',
  transaction: 'Transaction',
  address: 'Address',

  states: {
    seen: 'On its way',
    held: 'Held',
    credited: 'Credited',
    refused: 'Refused',
    dropped: 'No longer in the chain',
    waiting: 'Waits for a person',
    approved: 'Approved',
    signed: 'Signed',
    paid: 'Paid',
    stuck: 'Stuck',
    cancelled: 'Cancelled',
  } satisfies Readonly<Record<PayoutState, string> & Record<string, string>>,
  strangeAddress: 'No user has this address',
  strangeAddressHelp:
    'This service has not issued it. Compare it with the one on the page of the user, character by character.',
  noOrder: (asked: string) => `No order, no entry and no payout has the reference “${asked}”`,
  noOrderHelp:
    'Compare it with the `order` or the `osn` of the backend, or look up the user, or the amount that was sent. Of an address or a txid give the beginning: its end alone is not searched.',
  noPart: (begin: string, end: string) =>
    `Nothing begins with “${begin}”${end === '' ? '' : ` and ends with “${end}”`}`,
  noPartHelp:
    'Looked for among the addresses of users, the recipients of payouts, and the transactions of deposits and payouts. Senders are not searched: ask for the whole txid. In an address capital and small letters differ, and it has no 0, O, I or l.',
  partsFound: (begin: string, end: string) => `Begins with “${begin}”${end === '' ? '' : `, ends with “${end}”`}`,
  partsMore: 'There are more. Give more of the beginning.',
  noUser: 'Nothing is known of this user: no address, no deposit, no order and no entry',
  noUserHelp:
    'No order, no entry and no payout has this number as its reference either. Compare it with the backend’s. An amount needs its currency: 25 USDT.',
  gone: 'It is not there any more',
  goneHelp: 'The gap was read, or the endpoint is no longer configured.',

  stepSeen: 'Seen',
  seenAt: (time: string, address: string) => `${time}, to ${address}`,
  frozenIn: (symbol: string) => `Frozen by the issuer of ${symbol}`,
  stepOwner: 'Whose',
  user: (uid: string) => (uid === reserved ? 'Reserved: give it to its user by a transfer' : `User ${uid}`),
  owner: (uid: string, number: string) => `${uid === reserved ? 'Reserved' : `User ${uid}`}: address ${number}`,
  stepFinal: 'Final',
  finalIn: (n: string) => `Not yet: in about ${n} s`,
  finalLate: 'Not yet, and the answers of the network are late: nobody can say when',
  finalNext: 'By now: its block is read next',
  finalUnread: 'By now, but its block seems to be one that could not be read (see Gaps). It waits until that is read.',
  finalYes: 'Yes',
  finalNever: 'Not in the chain any more. Mined again, it is seen again.',
  stepCredited: 'Credited',
  creditLater: 'By itself, once it is final',
  creditNo: (why: string) => `No. ${why}`,
  entryAt: (id: string, amount: string, time: string) => `Entry ${id}: ${amount}, ${time}`,
  balanceAfter: (amount: string) => `Balance after it: ${amount}`,
  postedBy: (name: string) => `Posted by ${name}`,
  decidedBy: (name: string, why: string) => `Decided by ${name}: ${why}`,
  stepEvents: 'Events',
  has: 'has it, unless its types leave it out',
  hasUntil: (time: string) => `has every event that was stored before ${time}`,
  lacks: 'does not have it yet',
  addedLater: 'was added later, and never got it',
  stepWhy: 'Why',
  stepMeans: 'What it means',
  stepDo: 'What to do',
  gapMeans:
    'Deposits in these blocks are not credited yet. They are as soon as the blocks are read, which is tried ever more rarely; the rest goes on.',
  seenHere: 'Seen, and not credited yet',
  endpointMeans: 'Its events wait in their order; other endpoints and the scan go on.',
  balances: 'Balances',
  transfersOf: (n: string) => `Deposits: ${n}`,
  entriesOf: (n: string) => `Entries: ${n}`,

  forUser: 'For the user',
  copySentence: 'Copy the sentence',
  sayCredited: (amount: string, time: string) =>
    `Your payment of ${amount} arrived and was credited to your balance on ${time}.`,
  saySeen: (amount: string, n: string) =>
    `Your payment of ${amount} is on its way. The Tron network makes it final in about ${n} s; then it is credited by itself.`,
  sayLate: (amount: string) =>
    `Your payment of ${amount} is on its way. The answers of the Tron network are late just now; it is credited by itself once it is final.`,
  sayWaits: (amount: string) =>
    `Your payment of ${amount} is found. It is credited by itself as soon as its block can be read here.`,
  sayDropped: (amount: string) =>
    `The Tron network has dropped the block with your payment of ${amount}. Look in your wallet whether it still has the money; if it is sent again, it is credited by itself.`,
  sayHeld: (amount: string, why: string) =>
    `Your payment of ${amount} has arrived and is safe, but it is not credited yet. ${why}`,
  sayRefused: (amount: string, why: string) => `Your payment of ${amount} has arrived, but it was not credited. ${why}`,
  sayPosted: (what: string, amount: string, time: string) => `${what}: ${amount}, ${time}.`,

  unknownTxidDo:
    'Ask the user for the txid as the wallet shows it, and for the network: it has to be Tron (TRC-20 for tokens). If it was sent just now, look it up again in a minute.',

  undecidedDo,
  wrongSettingHelp,

  reviewRefused: ['A person has refused it.', 'Nothing has to be done. It can still be credited.'],

  /**
   * For each reason why something is not credited: why, and what to do. If the second text is
   * missing, what to do is the remedy of the alarm that has the name of the reason.
   */
  reasons: {
    'decimals-unknown': [
      'The decimals of its contract could not be read yet.',
      'It is decided by itself once the nodes agree about the contract. If it stays for an hour, look at the nodes.',
    ],
    'decimals-differ': ['The decimals of its contract are not those of the settings.'],
    retired: [
      'Its currency is not accepted any more.',
      'Take `retired` off the currency in `CURRENCIES`, and they are credited by themselves; or give the money back.',
    ],
    'too-large': ['It is too large for one entry.', 'Decide with the user. It is never credited by itself.'],
    'wallet-full': [
      'The wallet of the user has no room for it.',
      'It is credited by itself as soon as the user has spent enough.',
    ],
    review: [
      'A person looks at it before it is credited.',
      'Decide: credit it, or refuse it. What was refused can still be credited.',
    ],
    'below-minimum': ['It is below the minimum.', belowMinimumDo],
    dust: ['It is less than the smallest amount that is counted.', belowMinimumDo],
    'nodes-disagree': ['The Tron nodes disagree about this transaction.', undecidedDo],
    'transaction-unreadable': ['This service cannot read this transaction.'],
    'chain-forked': ['Nothing is credited until an operator has checked the chain.'],
    'configuration-differs': ['Nothing is credited until an operator has corrected the settings.', wrongSettingHelp],
    'paid-before-issue': ['It was final before the address belonged to its present user.'],
    'credited-otherwise': [
      'It was credited with another amount, or to somebody else, by blocks that were wrong.',
      'Compare the log line of the alarm `corrected-credit` with the chain, and post the difference as an adjustment.',
    ],
    'transaction-failed': [
      'The transaction failed, so it paid nothing.',
      'Nothing has to be done: the sender still has the money.',
    ],
    'no-transfer': [
      'It pays no address of this service.',
      'Compare its recipient in an explorer with the address of the user. What went to another address is not here, and only its owner can send it back.',
    ],
    'from-own-address': [internal, internalDo],
    'internal-transfer': [internal, internalDo],
    'from-operator': [internal, internalDo],
    'zero-amount': [
      'It transfers an amount of 0.',
      'Nothing has to be done. Such transfers imitate payments, so that people copy a wrong address from them.',
    ],
    'not-accepted': [
      'It sends something that is not accepted here.',
      'Only what is in `CURRENCIES` is credited. The address has it, and whoever has the keys can send it back; decide with the user.',
    ],
    trc10: [otherKind, otherKindDo],
    'not-a-transfer': [otherKind, otherKindDo],
  } satisfies Readonly<Record<UncreditedReason, readonly [why: string, remedy?: string]>>,
} as const

export type StoryTexts = InAnyLanguage<typeof enStories>
