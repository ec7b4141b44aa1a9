import { formatBase58 } from '../chain/address.ts'
import { formatInstant } from '../common/time.ts'
import { explainOutcome, explainPending } from '../deposits/explain.ts'
import { explainRefusal } from '../deposits/verify-deposit.ts'
import { noAmount } from '../common/amount.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { type PostedItem, postedItem, type WriteAmount } from '../ledger/entry-item.ts'
import type { EventFact, EventType, StoredEvent } from './event.ts'

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
export function eventItem<A>(
  { id, uid, createdAt, fact }: StoredEvent,
  currencies: Currencies,
  write: WriteAmount<A>,
): EventItem<A> {
  // safe: `dataOf` has the data of the fact's type
  return {
    id,
    type: fact.type,
    uid,
    created_at: formatInstant(createdAt),
    data: dataOf(fact, currencies, write),
  } as EventItem<A>
}

function dataOf<A>(fact: EventFact, currencies: Currencies, write: WriteAmount<A>): EventData<A>[EventType] {
  switch (fact.type) {
    case 'deposit.seen': {
      const { txid, position, cuy, raw, decimals, address, seconds } = fact
      return { txid, position, cuy, amt: write(raw, decimals), address: formatBase58(address), seconds }
    }
    case 'deposit.dropped':
      return { txid: fact.txid, position: fact.position }
    case 'deposit.credited': {
      const { txid, position, address, entry } = fact
      return { txid, position, address: formatBase58(address), entry: postedItem(entry, currencies, write) }
    }
    case 'deposit.held': {
      const { txid, position, cuy, raw, address, reason } = fact
      const tooLarge = () => explainOutcome({ cuy, raw, outcome: 'too-large', amount: noAmount }, currencies)
      const why = reason === 'too-large' ? tooLarge() : explainPending(reason)
      return { txid, position, cuy, address: formatBase58(address), reason, why }
    }
    case 'deposit.refused': {
      const { txid, position, cuy, address } = fact
      const why = explainRefused(fact, currencies)
      return { txid, position, cuy, address: formatBase58(address), reason: fact.reason.kind, why }
    }
    case 'entry.posted':
      return { entry: postedItem(fact.entry, currencies, write) }
  }
}

function explainRefused(
  { reason, cuy, raw }: Extract<EventFact, { type: 'deposit.refused' }>,
  currencies: Currencies,
): string {
  if (reason.kind === 'failed' || reason.kind === 'other-contract') return explainRefusal(reason)
  return explainOutcome({ cuy, raw, outcome: reason.kind, amount: noAmount }, currencies)
}
