import type { Refusal } from '../kit/api.ts'
import { sumOf } from '../kit/decimal.ts'
import { readerOf, readInteger, readMembers } from '../kit/read.ts'
import {
  addressesShape,
  eventsShape,
  findingShape,
  ownedDepositsShape,
  payoutsShape,
  postedEntriesShape,
  searchShape,
  summaryShape,
  walletsShape,
} from '../shapes.ts'

/** The summary for operators, from `GET /ledger/summary`: see `schemas/summary.ts`. */
export type DeskSummary = ReturnType<typeof readDeskSummary>
/** The sums of one currency. */
export type DeskCurrency = DeskSummary['currencies'][number]
/** One day (UTC) of a currency. */
export type DeskDay = DeskCurrency['days'][number]
/** A range of blocks that could not be read, and that the scan reads again later. */
export type DeskGap = DeskSummary['gaps'][number]
/**
 * A raised alarm. `urgency`, `raised` and `remedy` are the service's words about its kind, in
 * English.
 */
export type DeskAlarm = DeskSummary['alarms'][number]
/** What an alarm is about: a node, a transaction, an address and so on. */
export type DeskSubject = DeskAlarm['subject']
/** An address that holds another amount on the chain than the records say. */
export type DeskDifference = DeskSummary['differences'][number]
/** An endpoint of `WEBHOOKS`, and how its deliveries are going. */
export type DeskEndpoint = DeskSummary['endpoints'][number]
/** A node of `TRON_NODES`, as the scanner has found it. */
export type DeskNode = NonNullable<DeskSummary['nodes']>[number]
/**
 * What the summary says about payouts: the open ones, why payouts are stopped, and the balances of
 * the payout address.
 */
export type DeskPayouts = NonNullable<DeskSummary['payouts']>
/** A deposit of a user: see `schemas/deposit.ts`. */
export type OwnedDeposit = ReturnType<typeof readOwnedDeposits>['list'][number]
/** A ledger entry of a user: see `schemas/entry.ts`. */
export type PostedEntry = ReturnType<typeof readPostedEntries>['list'][number]
/** An event: see `schemas/event.ts`. Members of `data` that its type does not have are null. */
export type DeskEvent = ReturnType<typeof readDeskEvents>['list'][number]
/** A payout of a user: see `schemas/payout.ts`. */
export type DeskPayout = ReturnType<typeof readDeskPayouts>['list'][number]
/** What the nodes say about a transaction, from `GET /ledger/transaction`. */
export type ChainFinding = ReturnType<typeof readChainFinding>

/**
 * Reads the data of `GET /ledger/summary`. Like each reader here, throws a `TypeError` if the data
 * is malformed.
 */
export const readDeskSummary = readerOf(summaryShape)

/**
 * Why the last delivery failed, for people: the HTTP status that the endpoint answered with, or the
 * service's words.
 */
export const deliveryFailure = ({ last_failure }: DeskEndpoint): string | null =>
  last_failure?.replace(/^\d+$/, 'HTTP $&') ?? null

/** Reads the data of `GET /ledger/deposits`. */
export const readOwnedDeposits = readerOf(ownedDepositsShape)

/** Reads the data of `GET /ledger/entries`. */
export const readPostedEntries = readerOf(postedEntriesShape)

/** The remark of an entry; empty for a deposit, where it only repeats the type. */
export const markOf = ({ type, mark }: PostedEntry): string => (type === 1 ? '' : mark)

/** Reads the data of `GET /ledger/events`. */
export const readDeskEvents = readerOf(eventsShape)

/** Reads the data of `GET /ledger/payouts`. */
export const readDeskPayouts = readerOf(payoutsShape)

/**
 * The amount with the fee that was taken from the user's wallet for a payout. It returns to the
 * wallet if the payout is cancelled.
 */
export const takenOf = ({ amt, fee }: DeskPayout) => sumOf([amt, fee])

/** Reads the data of `GET /ledger/transaction`. */
export const readChainFinding = readerOf(findingShape)

/** Reads the data of `GET /ledger/wallets`. */
export const readDeskBalances = readerOf(walletsShape)

/** Reads the data of `GET /ledger/addresses`. */
export const readAddresses = readerOf(addressesShape)

/** Reads the data of `GET /ledger/search`. */
export const readFoundParts = readerOf(searchShape)

/**
 * Reads the data of `GET /ledger/address?address=`: the user, the number of the address, and the
 * currencies in which it is frozen.
 */
export function readOwner(data: unknown) {
  const { uid, id, frozen } = readMembers(data)
  const currencies = Array.isArray(frozen) ? frozen.map(readInteger) : []
  return { uid: readInteger(uid), id: readInteger(id), frozen: currencies }
}

/** A payout or a deposit, about which a person can decide. */
export type ActionItem = DeskPayout | OwnedDeposit
/** Whether an item is a payout: only deposits have a `position`. */
export const isPayout = (item: ActionItem): item is DeskPayout => !('position' in item)
export const isDeposit = (item: ActionItem): item is OwnedDeposit => 'position' in item

/** Why an action was refused, by the ids of the payouts or deposits with which nothing was done. */
export type Failures = ReadonlyMap<number, Refusal>
