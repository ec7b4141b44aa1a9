import type { InAnyLanguage } from '../../kit/texts.ts'

/** The desk's texts about what the nodes say about a transaction, in English. Part of `enDesk`. */
export const enChains = {
  noDeposit: 'No deposit of this transaction is stored here, and the nodes could not be asked.',
  ownerNone: 'It concerns no user of this service.',
  ownerLater: 'Not known yet.',
  chainCredited: 'It is credited',
  chainCreditedDo: 'Nothing has to be done. Look it up again, and its whole story is here.',
  creditable: 'It is final, and not credited yet',
  creditableWhy: 'Not yet: the scan has not come to its block.',
  creditableDo:
    'The scan credits it by itself when it comes to its block. The user has it at once by asking for this txid on the deposit page, at “I paid, but nothing shows”.',
  canBeInGap:
    'Blocks are unread at the moment (see Gaps): it can be in one of them, and then only the question of the user credits it soon.',
  notFinal: 'It is found, and not final yet',
  notFinalDo: 'Nothing has to be done. Look it up again in a minute.',
  unknownTxid: 'This transaction is not known here, nor to any node',
  unknownTxidWhy: 'It was not sent, was sent on another network, or the txid is not complete.',
  undecided: 'It cannot be decided yet',
  worthless: 'It is final, and nothing of it is credited',
  worthlessDo:
    'Tell the user why. It is never credited by itself; to give it anyway, have a backend post an adjustment (`POST /ledger/entries`, type 9).',
  sayInBalance: (txid: string) => `Your payment has arrived and is in your balance (transaction ${txid}).`,
  sayCreditable: (txid: string) =>
    `Your payment has arrived and is credited to your balance soon (transaction ${txid}). To have it at once, paste this number on the deposit page, at “I paid, but nothing shows”.`,
  sayNotFinal: (txid: string, n: string) =>
    `We have found the transaction ${txid}. The Tron network makes it final in about ${n} s; what it pays to your deposit address is then credited by itself.`,
  sayLateFinal: (txid: string) =>
    `We have found the transaction ${txid}. The answers of the Tron network are late just now; what it pays to your deposit address is credited by itself once it is final.`,
  sayUnknown: (txid: string) =>
    `We cannot find the transaction ${txid}. If you sent it just now, please wait a minute. Otherwise please look in your wallet whether it was sent on the Tron network, to your address, and whether the number is complete. You can look it up yourself on the deposit page, at “I paid, but nothing shows”.`,
  sayUndecided: (txid: string, why: string) =>
    `We have found the transaction ${txid}, but it cannot be credited yet. ${why}`,
  sayWorthless: (txid: string, why: string) =>
    `We have looked at the transaction ${txid}. Nothing of it is credited. ${why}`,
} as const

export type ChainTexts = InAnyLanguage<typeof enChains>
