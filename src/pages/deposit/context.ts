import type { PageWallet } from '../../worker/common/page-wallets.ts'
import type { Api, Refusal } from '../kit/api.ts'
import type { Format } from '../kit/format.ts'
import type { ListPage } from '../kit/read.ts'
import type { Arrival, HistoryEntry, Offer, OfferedCurrency, OwnPayout } from './data.ts'
import type { Texts } from './languages/en.ts'
import { misfitOf, type PaymentRequest, type Progress, progressOf, type UnreadableRequest } from './request.ts'

/** A part below the screen that is shown when it is opened. */
export type FoldName = 'how' | 'question' | 'arrivals' | 'wallet'

/** Whose page it is, and what is asked: by the token, which the service alone can check. */
export interface PayerSession {
  /** The name of the account; null without one. */
  readonly name: string | null
  /** The number of the account; null without a token that has one. */
  readonly uid: string | null
  readonly request: PaymentRequest | null
  /** In its place, where it is not of its form. */
  readonly unreadable: UnreadableRequest | null
}

/** What the page knows. What is null is not loaded yet. */
export interface DepositModel {
  /** Counts the accounts that the page has had: an answer for an earlier one is not shown. */
  account: number
  session: PayerSession
  offer: Offer | null
  /** The currency that is sent. */
  chosen: number | null
  address: string | null
  arrivals: ListPage<Arrival> | null
  /** The transfers of this visit: what the screen shows as the status. */
  visited: ReadonlySet<number>
  /** How many of the earlier transfers are shown. */
  arrivalsOpen: number
  balances: ReadonlyMap<number, string> | null
  history: ListPage<HistoryEntry> | null
  /** Those of the withdrawals in the history, by currency and reference. */
  payouts: ReadonlyMap<string, OwnPayout>
  /** The currency that the history shows; null for all. */
  filter: number | null
  /** The parts that are open. */
  readonly folds: Set<FoldName>
  /** What the reader has pasted as a transaction number. */
  pasted: string
  /** What stands in the way of the newest data. */
  refusal: Refusal | null
}

/** What an account begins with. */
export const emptyAccount = () => ({
  chosen: null,
  address: null,
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

/** What the parts of the page share, in the language of now. */
export interface DepositContext {
  readonly model: DepositModel
  readonly texts: Texts
  readonly format: Format
  readonly api: Api
  /** The wallet that the page opens with address and amount. */
  readonly wallet: PageWallet | null
  /** Says it to a screen reader. */
  announce(text: string): void
  /** Asks the service for what is new. */
  refresh(): void
  /** Shows what has changed in the model. */
  update(): void
  /** Ends the status of this visit: the address is shown again. */
  startOver(): void
}

/** A currency by its number; null where it is not known. */
export function currencyWith({ model }: DepositContext, cuy: number): OfferedCurrency | null {
  return model.offer?.currencies.find((one) => one.cuy === cuy) ?? null
}

/** An amount with its symbol. */
export function amountText(context: DepositContext, amount: string, cuy: number, sign?: 'always'): string {
  return `${context.format.amount(amount, sign)} ${currencyWith(context, cuy)?.symbol ?? ''}`.trim()
}

/** The amount of a transfer with its symbol; where it is not certain, no amount. */
export function arrivalAmount(context: DepositContext, { amount, cuy, state, reason }: Arrival): string {
  const currency = currencyWith(context, cuy)
  // What the ledger has judged by the decimals of the token is certain; else only while these are.
  const isJudged = state === 'credited' || (reason !== null && judgedReasons.includes(reason))
  if (isJudged || currency === null || currency.contract === null || currency.isOpen)
    return amountText(context, amount, cuy)
  return context.texts.uncertain(currency.symbol)
}

/** Reasons that come after a comparison of the token's decimals. */
const judgedReasons = ['below-minimum', 'dust', 'too-large', 'wallet-full', 'review']

/** Why what the token asks for cannot be read, and the way back; null where it can, and where it asks for nothing. */
export function unreadableOf({ model }: DepositContext): UnreadableRequest | null {
  const { session, offer } = model
  const { request, unreadable } = session
  if (request === null || offer === null) return unreadable
  const member = misfitOf(request, offer)
  return member === null ? null : { member, back: request.back }
}

/** What the token asks to be paid, with its currency; null without a request that the service can have. */
export function requestOf(context: DepositContext) {
  const { request } = context.model.session
  const currency = request === null || unreadableOf(context) !== null ? null : currencyWith(context, request.cuy)
  return request === null || currency === null ? null : { request, currency }
}

/** How far the amount is paid that is asked for; null where none is. */
export function requestProgress(context: DepositContext): Progress | null {
  const asked = requestOf(context)
  if (asked === null || asked.request.amount === null) return null
  return progressOf(asked.request, asked.request.amount, asked.currency, context.model.arrivals?.list ?? [])
}

/** Whether a transfer is in another currency than the one that is asked for, and came since then. */
export function isStray(context: DepositContext, { cuy, at }: Arrival): boolean {
  const asked = requestOf(context)
  return asked !== null && cuy !== asked.currency.cuy && Date.parse(at) >= asked.request.since
}

/** The newest items of a list before those that are known already, where no item can be missing between them. */
export function mergeNewest<Item extends { readonly id: number }>(
  newest: ListPage<Item>,
  known: ListPage<Item> | null,
): ListPage<Item> {
  const last = newest.list.at(-1)?.id
  const isJoined = known?.list.some(({ id }) => id === last) ?? false
  const rest = isJoined ? (known?.list.filter(({ id }) => id < (last ?? 0)) ?? []) : []
  const list = [...newest.list, ...rest]
  const isAll = isJoined && known !== null && known.count <= known.list.length // all of them were read
  return { list, count: isAll ? list.length : newest.count }
}

/** The name of the network, and whether what it carries is real money. */
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

/** A time that has passed, for people. */
export function latenessText({ texts, format }: DepositContext, seconds: number): string {
  if (seconds < 120) return texts.seconds(format.count(seconds))
  if (seconds < 7_200) return texts.minutes(format.count(Math.round(seconds / 60)))
  return texts.hours(format.count(Math.round(seconds / 3_600)))
}
