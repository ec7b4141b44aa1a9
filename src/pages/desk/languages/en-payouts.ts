import type { InAnyLanguage } from '../../kit/texts.ts'

/** The desk's texts about payouts, in English. Part of `enDesk`. */
export const enPayouts = {
  payouts: 'Payouts',
  payout: 'Payout',
  payoutsOf: (n: string) => `Payouts: ${n}`,

  payoutsFrom: 'Paid from',
  payoutsOffer: 'To the signer',
  payoutsOffered: 'What is approved is offered',
  payoutsStopped: 'Stopped: nothing is offered',
  payoutsNone: 'Nothing is open',
  payoutsOldest: (age: string) => `the oldest for ${age}`,
  payoutsHeld: 'The address holds',
  payoutsHeldAt: (age: string) => `read ${age} ago, by one node`,

  stoppedUnknown: 'Payouts are stopped: no payout names a final transaction of the payout address',
  stoppedRestored: 'Payouts are stopped: an older copy of the database was restored',
  stoppedRestoredDo:
    'Leave the signer running: it hands in again what the copy lacks, and names the payouts that the copy does not know; have the backend ask for these again, with the same `uid`, `cuy` and `osn`. Payouts go on by themselves when a final block that is an hour later than the restore, and each one before it, is read.',
  payoutsWait: (n: string, age: string) => `Payouts wait for a person: ${n}, the oldest for ${age}`,
  payoutsWaitDo:
    'Approve or cancel it at this desk, or by `npm run operate -- payouts approve <id> --name <name> --production --service <URL>`. Whoever asked for it cannot approve it.',
  ownPayout: 'You have asked for it: another name must approve it.',
  walletMissing: (amount: string, holds: string, open: string) =>
    `Missing: ${amount} (holds ${holds}, approved and signed ${open})`,
  walletFees: 'Too little TRX for fees',
  payoutsSum: (n: string, sum: string) => `Payouts: ${n}, together ${sum}`,
  payoutAt: (id: string) => `Payout ${id}`,

  noPayout: 'There is no such payout',
  noPayoutHelp: 'Nothing was asked for under this number, or payouts are not configured.',
  stepAsked: 'Asked for',
  askedBy: (time: string, by: string) => `${time}, by ${by}`,
  payoutTo: 'To',
  payoutTaken: (amount: string) => `Taken from the balance at once: ${amount}`,
  payoutTakenFee: (amount: string, fee: string) => `Taken from the balance at once: ${amount}, and a fee of ${fee}`,
  stepApproved: 'Approved',
  approvedByLimits: 'By the limits of `PAYOUTS`',
  approvedBy: (name: string) => `By ${name}`,
  approvedNot: 'Not yet: no limit of `PAYOUTS` allowed it, or payouts were stopped. So a person decides.',
  waits: {
    'no-limits': 'Its currency has no limits in `PAYOUTS`, so a person approves each payout.',
    'above-limit': 'It is more than the limit of one payout.',
    'below-limit': 'It is less than the limits approve.',
    day: 'The limits of a day were used up, or payouts were stopped, when it was asked for.',
  },
  queueHeading: 'Waits for a person',
  overview: 'Overview',
  queueHelp: 'Space chooses a row, the arrow keys move, Enter goes on with what is chosen.',
  queueChosen: (n: string, most: string) => `Chosen: ${n} of at most ${most}`,
  queueApproved: 'Approved already',
  queueMissing: (amount: string) => `${amount} is missing for all of it`,
  queueOldest: (n: string) => `Choose the oldest ${n}`,
  queueNone: 'Choose none',
  queueChoose: (what: string) => `Choose ${what}`,
  queueTo: 'Recipient',
  queueFee: 'Fee',
  queueBy: 'Asked for by',
  queueSince: 'Since',
  queueWhy: 'Why it waits',
  queueLeft: 'What has left',
  queueDone: (done: string, failed: string) => `Done: ${done}, not done: ${failed}`,
  queueOn: 'Further ones',
  queueBack: 'Back to what waits',
  queueNext: 'Next one',
  approvedNever: 'Nobody has approved it.',
  stepSigned: 'Signed',
  signedNext: 'Not yet: the signer is offered it.',
  signedStopped: 'Not yet: payouts are stopped, and the signer is offered none.',
  signedLater: 'Not yet: the signer is not offered it.',
  signedUntil: (time: string) => `It can get into a block until ${time}`,
  payoutAttempts: (n: string) => `Transactions that ended without paying: ${n}`,
  payoutWentOn: 'This transaction is an earlier one of the payout, which went on without it.',
  copyTxid: 'Copy the txid',
  stepSent: 'Sent',
  sentOn: 'Again and again, to every node, until it is in a block or has expired. Its block is read once it is final.',
  sentExpired: 'It has expired, and is not sent any more. Every final block that can have it is read first.',
  stepPaid: 'Paid',
  paidLater: 'Not yet',
  paidIn: (block: string) => `${block}, final: exactly this has left for its recipient`,
  endedIn: (block: string) => `${block}, final`,
  stuck: {
    failed: [
      'No. Its transaction is final and has failed: nothing was paid, fees were.',
      'Repair the cause (energy, TRX for fees, a token that refuses the recipient), then approve it again or cancel it.',
    ],
    other: [
      'No. Its transaction is final and has succeeded, without paying exactly this.',
      'Look at what it has moved, then approve it again or cancel it.',
    ],
    expired: [
      'No. Its transactions have expired, and none of them can be mined any more.',
      'Look why (the network, no TRX for bandwidth, the clock of the signer), then approve it again or cancel it.',
    ],
  },
  results: {
    OUT_OF_ENERGY: 'its energy, or the TRX for it up to its `fee_limit`, did not suffice',
    REVERT: 'the contract of the token refused the transfer',
    OUT_OF_TIME: 'it ran for longer than a block producer allows',
  } as Readonly<Record<string, string>>,
  otherResult: 'the code of the contract failed',
  failedBy: (result: string, meaning: string) => `The chain says ${result}: ${meaning}`,
  failedCost: (trx: string, energy: string) => `It cost ${trx} TRX, and ${energy} energy`,
  movedTo: (what: string, to: string) => `Has left the payout address: ${what}, to ${to}`,
  movedUnits: (n: string, contract: string) => `${n} units of the contract ${contract}`,
  movedDo: 'Money has left: decide who pays for it first, and send `"moved": true` with the step.',
  signedMoved: 'Not by itself: another transaction may have paid it already.',
  movedOtherDo:
    'Look at that transaction with an explorer. If it was this payout, cancel nothing and have the signer hand in its bytes; else decide, with `"moved": true`. A signer signs it only with `--again`.',
  movedNone: 'By its logs nothing has left the payout address.',
  stepCancelled: 'Cancelled',
  cancelledBack: (amount: string) => `${amount} is back in the balance`,
  approvedDo:
    'Nothing while the signer runs. If it stays for ten minutes, look at what the signer prints: it names each payout that it does not sign, and why.',
  laterDo:
    'Look at what the desk says of the token, or of what the payout address holds, at the top. It goes on by itself after that; until then it can be cancelled.',
  signedDo: 'Nothing. Nobody can cancel it now, since it may still be paid.',
  expiredDo:
    'Nothing: it is signed again, or stuck after three. If nothing follows, a gap is in the way (see Gaps): it is never paid twice.',
  doneDo: 'Nothing has to be done.',
  cancelledDo: 'Nothing has to be done. To pay it after all, the backend asks under another osn.',

  sayPayoutWaits: (amount: string, to: string) => `Your withdrawal of ${amount} to ${to} is being looked at.`,
  sayPayoutComes: (amount: string, to: string) =>
    `Your withdrawal of ${amount} to ${to} is approved, and is sent soon.`,
  sayPayoutSent: (amount: string, to: string, txid: string) =>
    `Your withdrawal of ${amount} to ${to} is on its way (transaction ${txid}).`,
  sayPayoutPaid: (amount: string, to: string, txid: string) =>
    `Your withdrawal of ${amount} to ${to} is paid (transaction ${txid}).`,
  sayPayoutStuck: (amount: string, to: string) =>
    `Your withdrawal of ${amount} to ${to} is delayed. We are looking at it.`,
  sayPayoutCancelled: (amount: string, to: string, back: string) =>
    `Your withdrawal of ${amount} to ${to} was cancelled: ${back} is back in your balance.`,

  payoutAddress: 'The address that payouts are paid from',
  payoutAddressHelp: 'It pays nothing else, and belongs to no user: what arrives at it is no deposit.',
  payoutsOnly: 'No user has this address, but payouts go to it',
  notFromHere: (what: string) => `${what}: not paid from these addresses`,
} as const

export type PayoutTexts = InAnyLanguage<typeof enPayouts>
