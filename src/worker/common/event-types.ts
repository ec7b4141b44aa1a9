/**
 * The types of events, as backends get them (docs/guides/backends.md). A type never changes its
 * meaning.
 */
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
export type EventType = (typeof eventTypes)[number]
