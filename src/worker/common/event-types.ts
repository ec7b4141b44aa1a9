import { payoutStates } from './payout-states.ts'

/**
 * The types of events, as backends get them (docs/guides/backends.md). A type never changes its
 * meaning. Each state of a payout has one.
 */
export const eventTypes = [
  'deposit.seen',
  'deposit.dropped',
  'deposit.credited',
  'deposit.held',
  'deposit.refused',
  'entry.posted',
  ...payoutStates.map((state) => `payout.${state}` as const),
  'order.partly',
  'order.paid',
  'order.expired',
  'order.cancelled',
  'address.frozen',
  'address.released',
  'address.destroyed',
] as const
export type EventType = (typeof eventTypes)[number]
