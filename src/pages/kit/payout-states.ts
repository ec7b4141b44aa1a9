/** The names of a payout's states in the texts of a page. */
interface PayoutStateTexts {
  readonly payoutWaiting: string
  readonly payoutApproved: string
  readonly payoutSigned: string
  readonly payoutPaid: string
  readonly payoutStuck: string
  readonly payoutCancelled: string
}

/** The name of each state of a payout, in the words of a page. */
export const payoutStateNames = (texts: PayoutStateTexts) => ({
  waiting: texts.payoutWaiting,
  approved: texts.payoutApproved,
  signed: texts.payoutSigned,
  paid: texts.payoutPaid,
  stuck: texts.payoutStuck,
  cancelled: texts.payoutCancelled,
})
