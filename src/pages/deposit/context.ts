import type { PageWallet } from '../../worker/common/page-wallets.ts'
import type { Api, Refusal } from '../kit/api.ts'
import type { Format } from '../kit/format.ts'
import type { ListPage } from '../kit/read.ts'
import type { OrderClaim } from './claim.ts'
import {
  type Arrival,
  type HistoryEntry,
  isCreditable,
  type Offer,
  type OfferedCurrency,
  type OwnPayout,
  type PayerOrder,
} from './data.ts'
import type { Texts } from './languages/en.ts'
import { backOf, isOfOrder, type Progress, progressOf } from './order.ts'

/** A part of the page, below the card with the address, that opens and closes. */
export type FoldName = 'how' | 'question' | 'arrivals' | 'wallet'

/** The account and the order that the token names. Only the service can verify the token. */
export interface PayerSession {
  /** The name of the account, or null. */
  readonly name: string | null
  /** The number of the account; null if the token has none. */
  readonly uid: string | null
  readonly claim: OrderClaim
}

/** The state of the page. A member that is null is not loaded yet. */
export interface DepositModel {
  /**
   * Grows with each account that the page shows, so that answers for an earlier account are
   * dropped.
   */
  account: number
  session: PayerSession
  offer: Offer | null
  /** The number of the currency that the reader pays in. */
  chosen: number | null
  /** The address to pay to: that of the order, where the token names one. */
  address: string | null
  /** The order that the token names; `unknown` if the user has none with its reference. */
  order: PayerOrder | 'unknown' | null
  arrivals: ListPage<Arrival> | null
  /** The ids of this visit's transfers, whose status the page shows in place of the address. */
  visited: ReadonlySet<number>
  /** How many of the earlier transfers are shown. */
  arrivalsOpen: number
  balances: ReadonlyMap<number, string> | null
  history: ListPage<HistoryEntry> | null
  /** The payouts of the withdrawals in the history. The key is `keyOf` in `payouts.ts`. */
  payouts: ReadonlyMap<string, OwnPayout>
  /** The number of the currency whose entries the history shows; null for all. */
  filter: number | null
  /** The parts of the page, below the card with the address, that are open. */
  readonly folds: Set<FoldName>
  /** The txid that the reader has pasted. */
  pasted: string
  /**
   * Why the last request failed, so that the data is not up to date; null if the last request
   * succeeded.
   */
  refusal: Refusal | null
}

/** What the model has of an account before anything of it is loaded. */
export const emptyAccount = () => ({
  chosen: null,
  address: null,
  order: null,
  arrivals: null,
  visited: new Set<number>(),
  arrivalsOpen: 3,
  balances: null,
  history: null,
  payouts: new Map<string, OwnPayout>(),
  filter: null,
  pasted: '',
  refusal: null,
})

/** What all views of the page share. `texts` and `format` are those of the current language. */
export interface DepositContext {
  readonly model: DepositModel
  readonly texts: Texts
  readonly format: Format
  readonly api: Api
  /** The wallet app that the page opens with address and amount. */
  readonly wallet: PageWallet | null
  /** The origins to which links may lead back. */
  readonly origins: readonly string[]
  /** Announces a text to screen readers. */
  announce(text: string): void
  /** Asks the service for new data. */
  refresh(): void
  /** Has every part of the page draw what has changed in the model. */
  update(): void
  /** Ends the status of this visit and shows the address again. */
  startOver(): void
}

/**
 * A currency by its number; null if the service has none with it, or if the currencies are not
 * loaded yet.
 */
export function currencyWith({ model }: DepositContext, cuy: number): OfferedCurrency | null {
  return model.offer?.list.find((one) => one.cuy === cuy) ?? null
}

/** An amount in the reader's format, with the symbol of its currency. */
export function amountText(context: DepositContext, amount: string, cuy: number, sign?: 'always'): string {
  return `${context.format.amount(amount, sign)} ${currencyWith(context, cuy)?.symbol ?? ''}`.trim()
}

/** The amount of a transfer with its symbol; only the symbol if the amount may be wrong. */
export function arrivalAmount(context: DepositContext, { amt, cuy, state, reason }: Arrival): string {
  const currency = currencyWith(context, cuy)
  // An amount that the ledger has judged is right. Any other is right only while the decimals of
  // the token are agreed.
  const isJudged = state === 'credited' || (reason !== null && judgedReasons.includes(reason))
  if (isJudged || currency === null || currency.contract === null || isCreditable(currency))
    return amountText(context, amt, cuy)
  return context.texts.uncertain(currency.symbol)
}

/** Reasons that are given only after the token's decimals were compared. */
const judgedReasons = ['below-minimum', 'dust', 'too-large', 'wallet-full', 'review']

/** The order that the token names, with its currency; null without one, and before it is loaded. */
export function orderOf(context: DepositContext) {
  const { order } = context.model
  if (order === null || order === 'unknown') return null
  const currency = currencyWith(context, order.cuy)
  return currency === null ? null : { order, currency }
}

/**
 * How much of the order is paid; null without an order, and before it and the transfers are loaded,
 * so that both appear at once.
 */
export function orderProgress(context: DepositContext): Progress | null {
  const asked = orderOf(context)
  if (asked === null || context.model.arrivals === null) return null
  return progressOf(asked.order, asked.currency, context.api.now() ?? 0)
}

/** The link back to the site that made the order; null if there is none. */
export function orderBack({ model: { order }, origins }: DepositContext): string | null {
  return order === null || order === 'unknown' ? null : backOf(order, origins)
}

/**
 * Whether a transfer does not count for the order because it is in another currency, although it
 * came to the order's address.
 */
export function isStray(context: DepositContext, arrival: Arrival): boolean {
  const asked = orderOf(context)
  return asked !== null && arrival.cuy !== asked.currency.cuy && isOfOrder(asked.order, arrival)
}

/**
 * Adds the items that are already loaded to the newest page, but only if the two overlap: otherwise
 * items in between could be missing.
 */
export function mergeNewest<Item extends { readonly id: number }>(
  newest: ListPage<Item>,
  known: ListPage<Item> | null,
): ListPage<Item> {
  const last = newest.list.at(-1)?.id
  const isJoined = known?.list.some(({ id }) => id === last) ?? false
  const rest = isJoined ? (known?.list.filter(({ id }) => id < (last ?? 0)) ?? []) : []
  const list = [...newest.list, ...rest]
  const isAll = isJoined && known !== null && known.count <= known.list.length // all of them are loaded
  return { list, count: isAll ? list.length : newest.count }
}

/** The name of the network, and whether its money is real. */
export function networkOf({ model, texts }: DepositContext): { readonly name: string; readonly isTest: boolean } {
  switch (model.offer?.network) {
    case undefined:
    case 'Tron':
      return { name: texts.nameTron, isTest: false }
    case 'Nile':
      return { name: texts.nameNile, isTest: true }
    case 'local':
      return { name: texts.nameLocal, isTest: true }
    default:
      return { name: model.offer?.network ?? '', isTest: true }
  }
}

/** Formats an elapsed time in one unit, so that it is short: seconds, minutes or hours. */
export function latenessText({ texts, format }: DepositContext, seconds: number): string {
  if (seconds < 120) return texts.seconds(format.count(seconds))
  if (seconds < 7_200) return texts.minutes(format.count(Math.round(seconds / 60)))
  return texts.hours(format.count(Math.round(seconds / 3_600)))
}
