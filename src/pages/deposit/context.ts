import type { Api, Refusal } from '../kit/api.ts'
import type { Format } from '../kit/format.ts'
import type { ListPage } from '../kit/read.ts'
import type { CommonTexts } from '../kit/texts.ts'
import type { Arrival, HistoryEntry, Offer } from './data.ts'
import type { DepositTexts } from './texts.ts'

/** What the page knows. What is null is not loaded yet. */
export interface DepositModel {
  /** Counts the accounts that the page has had: an answer for an earlier one is not shown. */
  account: number
  offer: Offer | null
  /** The currency that the reader has chosen to send. */
  chosen: number | null
  address: string | null
  arrivals: ListPage<Arrival> | null
  /** How many of the transfers are shown; those on their way always are. */
  arrivalsOpen: number
  balances: ReadonlyMap<number, string> | null
  history: ListPage<HistoryEntry> | null
  /** The currency that the history shows; null for all. */
  filter: number | null
  /** What the reader has pasted as a transaction number. */
  pasted: string
  /** What stands in the way of the newest data. */
  refusal: Refusal | null
}

/** Nothing is known yet. */
export const emptyModel: DepositModel = {
  account: 0,
  offer: null,
  chosen: null,
  address: null,
  arrivals: null,
  arrivalsOpen: 3,
  balances: null,
  history: null,
  filter: null,
  pasted: '',
  refusal: null,
}

/** What the parts of the page share, in the language of now. */
export interface DepositContext {
  readonly model: DepositModel
  readonly texts: DepositTexts
  readonly common: CommonTexts
  readonly format: Format
  readonly api: Api
  /** Says it to a screen reader. */
  announce(text: string): void
  /** Asks the service for what is new. */
  refresh(): void
  /** Shows what has changed in the model. */
  update(): void
}

/** The symbol of a currency, empty where it is not known. */
export function symbolOf({ model }: DepositContext, cuy: number): string {
  return model.offer?.currencies.find((one) => one.cuy === cuy)?.symbol ?? ''
}

/** An amount with its symbol. */
export function amountText(context: DepositContext, amount: string, cuy: number, sign?: 'always'): string {
  return `${context.format.amount(amount, sign)} ${symbolOf(context, cuy)}`.trim()
}

/** The newest items of a list before those that are known already, where no item can be missing between them. */
export function mergeNewest<Item extends { readonly id: number }>(
  newest: ListPage<Item>,
  known: ListPage<Item> | null,
): ListPage<Item> {
  const last = newest.list.at(-1)?.id
  const isJoined = known?.list.some(({ id }) => id === last) ?? false
  const rest = isJoined ? (known?.list.filter(({ id }) => id < (last ?? 0)) ?? []) : []
  return { list: [...newest.list, ...rest], count: newest.count }
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
