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

/**
 * The types that an endpoint of `WEBHOOKS` can ask for. `ledger.sealed` is no stored event: it
 * carries the newest checkpoint of the archive, and only an endpoint that names it gets it.
 */
export const webhookTypes = [...eventTypes, 'ledger.sealed'] as const
export type WebhookType = (typeof webhookTypes)[number]
