import { type PayoutState, payoutStates } from '../../worker/common/payout-states.ts'
import { knownCount } from '../kit/counted.ts'
import { decimalForm } from '../kit/decimal.ts'
import {
  type ListPage,
  readDecimal,
  readForm,
  readInteger,
  readList,
  readMembers,
  readOptionalInteger,
  readOptionalText,
  readPage,
  readText,
} from '../kit/read.ts'

/** A currency of the service. A retired one is shown but not offered. */
export interface OfferedCurrency {
  readonly cuy: number
  readonly symbol: string
  readonly name: string
  readonly minimum: string | null
  /** The contract of a token; null for TRX. */
  readonly contract: string | null
  readonly isRetired: boolean
  /** How many decimals the amounts of the ledger have. */
  readonly scale: number
  /** Whether deposits in the currency can be credited now. */
  readonly isOpen: boolean
}

/** What the service accepts, from `GET /currencies`. */
export interface Offer {
  readonly network: string
  /** The URL with which the pages of the block explorer begin; null without an explorer. */
  readonly explorer: string | null
  /** Seconds by which credits are later than usual; null if they are on time. */
  readonly late: number | null
  readonly currencies: readonly OfferedCurrency[]
}

const transferStates = ['seen', 'held', 'credited', 'refused', 'dropped'] as const

export type ArrivalState = (typeof transferStates)[number]

/**
 * A transfer to one of the user's addresses. `finalAt` is the estimated time of `performance.now()`
 * when it is final; null if nobody can estimate it.
 */
export interface Arrival {
  readonly id: number
  readonly txid: string
  readonly cuy: number
  readonly amount: string
  readonly state: ArrivalState
  readonly at: string
  readonly finalAt: number | null
  readonly reason: string | null
  readonly why: string | null
}

/**
 * An entry of the user's ledger. Amounts are in whole units; `amount` is signed, and `balance` is
 * that after the entry.
 */
export interface HistoryEntry {
  readonly id: number
  readonly type: number
  readonly cuy: number
  readonly osn: string
  readonly mark: string
  readonly amount: string
  readonly balance: string
  readonly at: string
}

/**
 * A payout to the user's own wallet. Its withdrawal in the history has the same currency and the
 * same `osn` (reference).
 */
export interface OwnPayout {
  readonly id: number
  readonly cuy: number
  readonly osn: string
  readonly state: PayoutState
  readonly at: string
  readonly txid: string | null
}

/**
 * Reads the data of `GET /currencies`. Like each reader here, throws a `TypeError` if the data is
 * malformed.
 */
export function readOffer(data: unknown): Offer {
  const currencies = readList(data, (item) => ({
    cuy: readInteger(item.cuy),
    symbol: readText(item.symbol),
    name: readText(item.name),
    minimum: item.minDeposit === null ? null : readForm(item.minDeposit, decimalForm),
    contract: readOptionalText(item.contract),
    isRetired: item.retired === true,
    scale: readInteger(item.scale),
    isOpen: item.open === true && item.retired !== true,
  }))
  const { network, explorer, late } = readMembers(data)
  return {
    network: readText(network),
    explorer: readOptionalText(explorer),
    late: readOptionalInteger(late),
    currencies,
  }
}

/**
 * Reads the address in the data of `GET /tron/generate`. A text without the form of an address is
 * refused, so that it is never shown as one.
 */
export function readAddress(data: unknown): string {
  return readForm(readMembers(data).address, /^T[1-9A-HJ-NP-Za-km-z]{33}$/)
}

/**
 * Reads the data of `GET /tron/deposits`. `count` is infinite if the service has stopped counting.
 */
export function readArrivals(data: unknown): ListPage<Arrival> {
  const page = readPage(data, (item) => {
    const state = transferStates.find((one) => one === item.state)
    if (state === undefined) throw new TypeError('not a state')
    return {
      id: readInteger(item.id),
      txid: readText(item.txid),
      cuy: readInteger(item.cuy),
      amount: readDecimal(item.amt),
      state,
      at: readText(item.created_at),
      finalAt: typeof item.seconds === 'number' ? performance.now() + item.seconds * 1_000 : null,
      reason: readOptionalText(item.reason),
      why: readOptionalText(item.why),
    }
  })
  return { ...page, count: knownCount(page.count) ?? Number.POSITIVE_INFINITY }
}

/** Reads the data of `GET /wallet/list`: the balance by the number of its currency. */
export function readWallets(data: unknown): ReadonlyMap<number, string> {
  return new Map(readList(data, (item) => [readInteger(item.cuy), readDecimal(item.amt)]))
}

/** Reads the data of `GET /wallet/flow/list`. */
export function readHistory(data: unknown): ListPage<HistoryEntry> {
  return readPage(data, (item) => ({
    id: readInteger(item.id),
    type: readInteger(item.type),
    cuy: readInteger(item.cuy),
    osn: readText(item.osn),
    mark: readText(item.mark),
    amount: readDecimal(item.amt),
    balance: readDecimal(item.balance),
    at: readText(item.created_at),
  }))
}

/** Reads the data of `GET /tron/payouts`. */
export function readOwnPayouts(data: unknown): ListPage<OwnPayout> {
  return readPage(data, (item) => {
    const state = payoutStates.find((one) => one === item.state)
    if (state === undefined) throw new TypeError('not a state')
    return {
      id: readInteger(item.id),
      cuy: readInteger(item.cuy),
      osn: readText(item.osn),
      state,
      at: readText(item.created_at),
      txid: readOptionalText(item.txid),
    }
  })
}
