/** The types of events. */
export const eventTypes = [
  'deposit.seen',
  'deposit.dropped',
  'deposit.credited',
  'deposit.held',
  'deposit.refused',
  'entry.posted',
  'payout.waiting',
  'payout.approved',
  'payout.signed',
  'payout.paid',
  'payout.stuck',
  'payout.cancelled',
  'address.frozen',
  'address.released',
  'address.destroyed',
] as const
/** One of `eventTypes`. */
export type EventType = (typeof eventTypes)[number]
