interface PayoutStateTexts {
  readonly payoutWaiting: string
  readonly payoutApproved: string
  readonly payoutSigned: string
  readonly payoutPaid: string
  readonly payoutStuck: string
  readonly payoutCancelled: string
}

/** The names of a payout's states in a page's language, by the states that the API returns. The deposit page and the desk have these texts. */
export const payoutStateNames = (texts: PayoutStateTexts) => ({
  waiting: texts.payoutWaiting,
  approved: texts.payoutApproved,
  signed: texts.payoutSigned,
  paid: texts.payoutPaid,
  stuck: texts.payoutStuck,
  cancelled: texts.payoutCancelled,
})
