import { formatBase58 } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import { formatInstant } from '../common/time.ts'
import type { EventType } from '../d1/tables.ts'
import { explainHeld, explainRefused } from '../deposits/explain.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { type PostedItem, postedItem, type WriteAmount } from '../ledger/entry-item.ts'
import type { EventFact, StoredEvent } from './event.ts'

/** An entry as a type without a name, which alone is known to be plain JSON. */
type EntryMembers<A> = { readonly [Name in keyof PostedItem<A>]: PostedItem<A>[Name] }

/** What an event reports, by its type. `A` is the form of an amount. */
type EventData<A> = {
  readonly 'deposit.seen': {
    readonly txid: string
    readonly position: number
    readonly cuy: number
    readonly amt: A
    readonly address: string
    readonly seconds: number
  }
  readonly 'deposit.dropped': { readonly txid: string; readonly position: number }
  readonly 'deposit.credited': {
    readonly txid: string
    readonly position: number
    readonly address: string
    readonly entry: EntryMembers<A>
  }
  readonly 'deposit.held': UncreditedData
  readonly 'deposit.refused': UncreditedData
  readonly 'entry.posted': { readonly entry: EntryMembers<A> }
}

/** A transfer that is not credited: `reason` for programs, `why` for people. */
type UncreditedData = {
  readonly txid: string
  readonly position: number
  readonly cuy: number
  readonly address: string
  readonly reason: string
  readonly why: string
}

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

/** The item of an event. */
export function eventItem<A>(event: StoredEvent, currencies: Currencies, write: WriteAmount<A>): EventItem<A> {
  const { id, uid, createdAt, fact } = event
  const data = dataOf(fact, currencies, write)
  return { id, type: fact.type, uid, created_at: formatInstant(createdAt), data } as EventItem<A> // safe: data of its type
}

function dataOf<A>(fact: EventFact, currencies: Currencies, write: WriteAmount<A>): EventData<A>[EventType] {
  switch (fact.type) {
    case 'deposit.seen': {
      const { txid, position, cuy, raw, address, seconds } = fact
      const amt = write(raw, decimalsOf(cuy, currencies))
      return { txid, position, cuy, amt, address: formatBase58(address), seconds }
    }
    case 'deposit.dropped':
      return { txid: fact.txid, position: fact.position }
    case 'deposit.credited': {
      const { txid, position, address, entry } = fact
      return { txid, position, address: formatBase58(address), entry: postedItem(entry, currencies, write) }
    }
    case 'deposit.held':
    case 'deposit.refused': {
      const { txid, position, cuy, address, reason } = fact
      const why = fact.type === 'deposit.held' ? explainHeld(fact.reason) : explainRefused(fact, currencies)
      return { txid, position, cuy, address: formatBase58(address), reason, why }
    }
    case 'entry.posted':
      return { entry: postedItem(fact.entry, currencies, write) }
  }
}

function decimalsOf(cuy: CurrencyId, { byId }: Currencies): number {
  const currency = byId.get(cuy)
  // A currency with transfers stays configured: without it nothing is served.
  if (currency === undefined) throw new Error(`an event is in currency ${cuy}, which is not configured`)
  return currency.decimals
}
