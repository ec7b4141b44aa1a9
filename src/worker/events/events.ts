import { formatBase58 } from '../chain/address.ts'
import { formatPosition } from '../chain/block.ts'
import type { EventType } from '../common/event-types.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import { formatInstant } from '../common/time.ts'
import { explainHeld, explainRefused } from '../deposits/explain.ts'
import { type Currencies, configured } from '../ledger/currencies.ts'
import { postedItem, type WriteAmount } from '../ledger/entry.ts'
import { type EntryRow, readEntry } from '../ledger/store/entries.ts'
import { orderAtEvent } from '../orders/of-event.ts'
import { orderItem } from '../orders/order-item.ts'
import { type Payout, payoutItem } from '../payouts/payout.ts'
import type { PostedItem } from '../schemas/entry.ts'
import type { EventData } from '../schemas/event.ts'
import type { StoredEvent } from './store/events.ts'

/** Most events in one page of the feed. */
export const eventsMax = 100

/** An event as the feed (`/ledger/events`), RPC and webhooks show it. */
export type EventItem<A> = {
  readonly [T in EventType]: {
    readonly id: number
    readonly type: T
    readonly uid: number
    readonly created_at: string
    readonly data: EventData<A>[T]
  }
}[EventType]

/**
 * Turns a stored event into what readers get. `write` makes amounts: JSON numbers or texts, as the
 * reader needs.
 */
export function eventItem<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): EventItem<A> {
  const { id, type, uid, created_at } = event
  const data = renderers[type](event, { currencies, write })
  // safe: data of its type, with what `write` returns
  return { id, type, uid, created_at: formatInstant(created_at), data } as EventItem<A>
}

/** What an event is rendered with. */
interface RenderedBy {
  readonly currencies: Currencies
  readonly write: WriteAmount<unknown>
}

const ofTransfer = (event: StoredEvent) => ({
  txid: present(event.txid),
  position: formatPosition(present(event.position)),
})
const addressOf = (event: StoredEvent) => formatBase58(present(event.address))
const ofAddress = (event: StoredEvent) => ({
  address: addressOf(event),
  cuy: present(event.cuy),
  txid: present(event.txid),
})
const ofPayout = (event: StoredEvent, { currencies, write }: RenderedBy) => {
  const payout = JSON.parse(present(event.about)) as Payout // safe: a trigger has written all members of a `Payout`
  return payoutItem(payout, currencies, write)
}

const ofOrder = (event: StoredEvent, { currencies, write }: RenderedBy) =>
  orderItem(orderAtEvent(present(event.about), present(event.order), event.id, currencies), currencies, write)
/** The reference of the order to which a transfer belongs. */
const orderOf = ({ order }: StoredEvent) => (order === null ? {} : { order: order.order.reference })

/**
 * Renders the data of each type of event. A type that is missing here does not compile, nor does a
 * member that its schema has and its rendering lacks.
 */
const renderers: { readonly [T in EventType]: (event: StoredEvent, by: RenderedBy) => EventData<unknown>[T] } = {
  'deposit.seen': (event, by) => ({
    ...ofTransfer(event),
    cuy: present(event.cuy),
    amt: amountOf(event, by),
    address: addressOf(event),
    seconds: present(event.seconds),
    ...orderOf(event),
  }),
  'deposit.dropped': ofTransfer,
  'deposit.credited': (event, by) => ({
    ...ofTransfer(event),
    address: addressOf(event),
    ...orderOf(event),
    entry: entryOf(event, by),
  }),
  'deposit.held': (event) => {
    const reason = present(event.reason) as HeldReason // safe: a CHECK allows only these in this type
    const why = explainHeld(reason)
    return { ...ofTransfer(event), cuy: present(event.cuy), address: addressOf(event), reason, why }
  },
  'deposit.refused': (event, { currencies }) => {
    const [cuy, raw] = [present(event.cuy), BigInt(present(event.raw))]
    const reason = present(event.reason) as RefusedReason // safe: a CHECK allows only these in this type
    const why = explainRefused({ cuy, raw, reason }, currencies)
    return { ...ofTransfer(event), cuy, address: addressOf(event), reason, why }
  },
  'entry.posted': (event, by) => ({ entry: entryOf(event, by) }),
  'payout.waiting': ofPayout,
  'payout.approved': ofPayout,
  'payout.signed': ofPayout,
  'payout.paid': ofPayout,
  'payout.stuck': ofPayout,
  'payout.cancelled': ofPayout,
  'order.partly': ofOrder,
  'order.paid': ofOrder,
  'order.expired': ofOrder,
  'order.cancelled': ofOrder,
  'address.frozen': ofAddress,
  'address.released': ofAddress,
  'address.destroyed': (event, by) => ({ ...ofAddress(event), amt: amountOf(event, by) }),
}

/**
 * Reads the ledger entry from an event about an entry. The event's row has all columns of the
 * entry.
 */
function entryOf(event: StoredEvent, { currencies, write }: RenderedBy): PostedItem<unknown> {
  const row = { ...event, type: present(event.entry_type) }
  // safe: an event with an entry has all of its columns
  return postedItem(readEntry(row as unknown as EntryRow), currencies, write)
}

/** The amount of the transfer, or of the destroyed tokens, that an event is about. */
function amountOf(event: StoredEvent, { currencies, write }: RenderedBy): unknown {
  return write(BigInt(present(event.raw)), configured(present(event.cuy), currencies).decimals)
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('an event lacks what its type has')
  return value
}
