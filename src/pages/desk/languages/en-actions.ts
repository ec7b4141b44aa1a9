import type { InAnyLanguage } from '../../kit/texts.ts'

/** The desk's texts about forms of actions, in English. Part of `enDesk`. */
export const enActions = {
  approve: 'Approve',
  cancel: 'Cancel',
  credit: 'Credit',
  refuse: 'Refuse',
  whom: 'To',
  user: 'For',
  order: 'Order (osn)',
  askedBy: 'Asked for by',
  arrived: 'Arrived at',
  transaction: 'Transaction',
  approveEffect: (amount: string) =>
    `The signer is offered it next. What is not signed yet can be cancelled; after that nobody can take ${amount} back.`,
  againEffect: (amount: string) =>
    `Up to three more transactions are tried. Once one is signed, nobody can take ${amount} back.`,
  cancelEffect: (back: string) => `Nothing is paid, and ${back} goes back to where it was taken from, at once.`,
  creditEffect: (amount: string) => `${amount} is added to the balance at once, and stays there.`,
  refuseEffect: 'Nothing is credited. It can still be credited later.',
  why: 'Why',
  whyHelp: 'It is kept with your name, for those who look later.',
  whyMissing: 'Say why, in a few words: it is kept with your name.',
  known: 'I know what has left, and who pays for it.',
  leftHelp: 'Money may have left for it. Find out what the sentence below means, and say that you know it.',
  again: 'Nobody knows whether it was done. Press it again: it is done once.',
  together: (n: string, amount: string) => `${n}, together ${amount}`,
  back: 'Back',
} as const

export type ActionTexts = InAnyLanguage<typeof enActions>
