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

/** Most events in one page of the feed. */
export const eventsMax = 100

/** Identifies the transfer that an event is about. */
type Key = { readonly txid: string; readonly position: ShownPosition }
type Uncredited = Key & { readonly cuy: number; readonly address: string }
/** `reason` is for programs; `why` is a sentence for people. */
type WithReason = Uncredited & { readonly reason: string; readonly why: string }

/** What the issuer of a token did to an address of the service, in transaction `txid`. */
type OfAddress = { readonly address: string; readonly cuy: number; readonly txid: string }

/** The member `data` of an event, by the event's type. A payout is shown as it was at the event. `A` is the type that `WriteAmount` makes of an amount. */
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

type PayoutEvent = Extract<EventType, `payout.${string}`>
const isOfPayout = (type: EventType): type is PayoutEvent => type.startsWith('payout.')

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

/** Turns a stored event into what readers get. `write` makes amounts: JSON numbers or texts, as the reader needs. */
export function eventItem<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): EventItem<A> {
  const { id, type, uid, created_at } = event
  const data = dataOf(event, currencies, write)
  return { id, type, uid, created_at: formatInstant(created_at), data } as EventItem<A> // safe: `dataOf` returns the data of this type
}

function dataOf<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): EventData<A>[EventType] {
  const { type } = event
  if (isOfPayout(type)) {
    const payout = JSON.parse(present(event.payout)) as Payout // safe: a trigger has written all members of a `Payout`
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
      ? explainHeld(reason as HeldReason) // safe: a CHECK allows only these reasons in this type
      : explainRefused({ cuy, raw, reason: reason as RefusedReason }, currencies) // safe: a CHECK allows only these reasons in `deposit.refused`
  return { txid, position, cuy, address, reason, why }
}

/** Reads the ledger entry from an event that is a ledger entry: its row has all columns of an entry. */
function entryOf<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): PostedItem<A> {
  const row = { ...event, type: present(event.entry_type) }
  return postedItem(readEntry(row as unknown as EntryRow), currencies, write) // safe: an event with an entry has all of its columns
}

function decimalsOf(cuy: CurrencyId, { byId }: Currencies): number {
  const currency = byId.get(cuy)
  // `currency` is never undefined: nothing is served while the configuration lacks a currency that has stored transfers.
  if (currency === undefined) throw new Error(`an event is in currency ${cuy}, which is not configured`)
  return currency.decimals
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('an event lacks what its type has')
  return value
}
