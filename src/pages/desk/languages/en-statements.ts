import type { InAnyLanguage } from '../../kit/texts.ts'

/** The desk's texts about statements, in English. Part of `enDesk`. */
export const enStatements = {
  period: 'Period',
  day: 'Day',
  month: 'Month',
  user: 'User (all if empty)',
  badUser: 'A user is a whole number',
  show: 'Show',
  print: 'Print',
  reading: (done: string, all: string) => `Reading ${done} of ${all} …`,
  ofAll: (period: string) => `All users, ${period} (UTC)`,
  ofUser: (uid: string, period: string) => `User ${uid}, ${period} (UTC)`,
  running: (until: string) => `The period is running: until ${until} UTC.`,
  ofType: (type: string, n: string) => `${type} (${n})`,
  before: (amount: string) => `Before: ${amount}`,
  change: (amount: string) => `Change: ${amount}`,
  after: (amount: string) => `After: ${amount}`,
  balance: (amount: string) => `Balance ${amount}`,
  none: 'No entries',
  holdings: 'Owed, held, and what lies between: as of now',
  words: { payout: 'Payout', fee: 'Fee of a payout', 'payout-refund': 'Payout given back', order: 'Order paid' },
} as const

export type StatementTexts = InAnyLanguage<typeof enStatements>
