import { formatBase58 } from '../chain/address.ts'
import { formatPosition, type ShownPosition } from '../chain/block.ts'
import type { EventType } from '../common/event-types.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import { formatInstant } from '../common/time.ts'
import { explainHeld, explainRefused } from '../deposits/explain.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { type PostedItem, postedItem, type WriteAmount } from '../ledger/entry.ts'
import { type EntryRow, readEntry } from '../ledger/store/entries.ts'
import { type Payout, type PayoutItem, payoutItem } from '../payouts/payout.ts'
import type { StoredEvent } from './store/events.ts'

/** Events in a page, at most. */
export const eventsMax = 100

/** The transfer of an event. */
type Key = { readonly txid: string; readonly position: ShownPosition }
/** A transfer to a user that is not credited. */
type Uncredited = Key & { readonly cuy: number; readonly address: string }
/** `reason` for programs, `why` for people. */
type WithReason = Uncredited & { readonly reason: string; readonly why: string }

/** An act of a token's issuer on an address. */
type OfAddress = { readonly address: string; readonly cuy: number; readonly txid: string }

/** The data of an event, by its type. A payout is shown as it was then. `A` is the type of an amount. */
type EventData<A> = {
  readonly 'deposit.seen': Uncredited & { readonly amt: A; readonly seconds: number }
  readonly 'deposit.dropped': Key
  readonly 'deposit.credited': Key & { readonly address: string; readonly entry: PostedItem<A> }
  readonly 'deposit.held': WithReason
  readonly 'deposit.refused': WithReason
  readonly 'entry.posted': { readonly entry: PostedItem<A> }
  readonly 'address.frozen': OfAddress
  readonly 'address.released': OfAddress
  readonly 'address.destroyed': OfAddress & { readonly amt: A }
} & { readonly [T in PayoutEvent]: PayoutItem<A> }

/** The types of events about payouts. */
type PayoutEvent = Extract<EventType, `payout.${string}`>
const isOfPayout = (type: EventType): type is PayoutEvent => type.startsWith('payout.')

/** An event as the feed and the webhooks show it. */
export type EventItem<A> = {
  readonly [T in EventType]: {
    readonly id: number
    readonly type: T
    readonly uid: number
    readonly created_at: string
    readonly data: EventData<A>[T]
  }
}[EventType]

/** Renders an event. */
export function eventItem<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): EventItem<A> {
  const { id, type, uid, created_at } = event
  const data = dataOf(event, currencies, write)
  return { id, type, uid, created_at: formatInstant(created_at), data } as EventItem<A> // safe: data of its type
}

function dataOf<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): EventData<A>[EventType] {
  const { type } = event
  if (isOfPayout(type)) {
    const payout = JSON.parse(present(event.payout)) as Payout // safe: the columns of one, by a trigger
    return payoutItem(payout, currencies, write)
  }
  if (type === 'entry.posted') return { entry: entryOf(event, currencies, write) }
  const [txid, position] = [present(event.txid), formatPosition(present(event.position))]
  if (type === 'deposit.dropped') return { txid, position }
  const address = formatBase58(present(event.address))
  if (type === 'deposit.credited') return { txid, position, address, entry: entryOf(event, currencies, write) }
  const cuy = present(event.cuy)
  if (type === 'address.frozen' || type === 'address.released') return { address, cuy, txid }
  const raw = BigInt(present(event.raw))
  if (type === 'address.destroyed') return { address, cuy, txid, amt: write(raw, decimalsOf(cuy, currencies)) }
  if (type === 'deposit.seen') {
    const amt = write(raw, decimalsOf(cuy, currencies))
    return { txid, position, cuy, amt, address, seconds: present(event.seconds) }
  }
  const reason = present(event.reason)
  const why =
    type === 'deposit.held'
      ? explainHeld(reason as HeldReason) // safe: the CHECK of the column
      : explainRefused({ cuy, raw, reason: reason as RefusedReason }, currencies) // safe: as above
  return { txid, position, cuy, address, reason, why }
}

/** The event of an entry shares its user, currency and time with the entry. */
function entryOf<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): PostedItem<A> {
  const row = { ...event, type: present(event.entry_type) }
  return postedItem(readEntry(row as unknown as EntryRow), currencies, write) // safe: an event with an entry has all of its columns
}

function decimalsOf(cuy: CurrencyId, { byId }: Currencies): number {
  const currency = byId.get(cuy)
  // The configuration check refuses to drop a currency that has transfers, so this cannot happen.
  if (currency === undefined) throw new Error(`an event is in currency ${cuy}, which is not configured`)
  return currency.decimals
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('an event lacks what its type has')
  return value
}
