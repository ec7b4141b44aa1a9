import type { Api, Refusal } from '../kit/api.ts'
import type { Format } from '../kit/format.ts'
import { lookUp } from '../kit/look-up.ts'
import type { Language } from '../kit/texts.ts'
import type { DeskAnswer } from './answer.ts'
import type { DeskSummary } from './data.ts'
import type { DeskTexts } from './languages/en.ts'
import type { Listed } from './list-place.ts'
import type { QueueState } from './queue-state.ts'

/** The state of the desk. A member that is null is not loaded yet. */
export interface DeskModel {
  network: string | null
  summary: DeskSummary | null
  /**
   * The number of the database that the page shows; null if the deployment has only one, or if that
   * is not known yet.
   */
  cell: number | null
  /** The databases of a deployment with several, once they are known; otherwise empty. */
  cells: NonNullable<DeskSummary['cells']>
  /**
   * The summaries of the databases that the page does not show; null for one that has not answered.
   */
  others: readonly { readonly cell: number; readonly summary: DeskSummary | null }[]
  /**
   * When the summary was made, by the clock of the service, in milliseconds since 1970; null if
   * that is not known.
   */
  summaryAt: number | null
  /** Which list the page shows, and the filter of that list. */
  listed: Listed
  /** The queue of what waits for a person, on a page of its own. */
  readonly queue: QueueState
  /**
   * Why the last request failed, so that the page shows older data; null if the last request
   * succeeded.
   */
  refusal: Refusal | null
  /** The number of the currency that the charts show; null until the reader has chosen one. */
  charted: number | null
  /** The text that was searched for; empty if there was no search. */
  question: string
  answer: DeskAnswer | null
}

/** The parts that all views of the desk share, in the current language. */
export interface DeskContext {
  readonly model: DeskModel
  readonly language: Language
  readonly texts: DeskTexts
  readonly format: Format
  readonly api: Api
  /**
   * Whether payouts are configured, so that their routes exist. Waits for the first summary, which
   * says whether they are.
   */
  hasPayouts(): Promise<boolean>
  /** Whether the reader has pasted a token, rather than signed in by Cloudflare Access. */
  isSignedIn(): boolean
  /** Accepts a pasted token. Returns whether it has the form of one. */
  signIn(pasted: string): boolean
  announce(text: string): void
  /**
   * Shows another database, without the answer to the last search. With `keepsAnswer`, the same
   * search is made in that database.
   */
  showCell(cell: number, keepsAnswer?: boolean): void
  /** Has every part of the page draw what has changed in the model. */
  update(): void
  /** Asks the service for new data. */
  refresh(): void
  /**
   * Searches for a text, and shows the answer. A text such as `deposits held` or `payouts stuck 2`
   * leads to that list; the 2 is the number of a currency. A text that begins with `#` is the
   * fragment of a URL: of the queue, or empty for the page without an answer.
   */
  ask(question: string): void
  /**
   * Goes to the list of deposits of exactly this amount, in the currency with this symbol, or in
   * all currencies if the symbol is empty.
   */
  listAmount(amount: string, symbol: string): void
  /**
   * Called after an action in the story (the answer to a search): makes the search again, so that
   * the story shows the result.
   */
  done(): void
}

/**
 * What the newest summary says about payouts; null without `PAYOUTS`, and before there is a
 * summary.
 */
export const payoutsNow = ({ summary }: Pick<DeskModel, 'summary'>) => summary?.payouts ?? null

/** The symbol of a currency, or its number with `#` if the summary does not have it. */
export function deskSymbol({ model }: DeskContext, cuy: number): string {
  return model.summary?.currencies.find((one) => one.cuy === cuy)?.symbol ?? `#${cuy}`
}

/** An amount in the reader's format, with the symbol of its currency. */
export function deskAmount(context: DeskContext, amount: string, cuy: number, sign?: 'always'): string {
  return `${context.format.amount(amount, sign)} ${deskSymbol(context, cuy)}`
}

/**
 * Whether amounts of a currency may be wrong, because its configured decimals are not those of its
 * contract.
 */
export function isUncertain({ model }: DeskContext, cuy: number): boolean {
  const alarms = model.summary?.alarms ?? []
  return alarms.some(({ kind, subject }) => kind === 'decimals-differ' && subject.cuy === cuy)
}

/** The amount of a deposit, with a remark if it may be wrong (`isUncertain`). */
export function depositAmount(context: DeskContext, amount: string, cuy: number): string {
  const shown = deskAmount(context, amount, cuy)
  return isUncertain(context, cuy) ? context.texts.notCertain(shown) : shown
}

/** The age of an instant in seconds, by the clock of the service; null if that is not known. */
export function ageSeconds({ api }: DeskContext, instant: string): number | null {
  const now = api.now()
  const at = Date.parse(instant)
  return now === null || Number.isNaN(at) ? null : Math.max(0, Math.round((now - at) / 1_000))
}

/** A duration in words, in its largest unit. */
export function durationText({ texts, format }: DeskContext, seconds: number): string {
  const units = [
    [86_400, texts.days],
    [3_600, texts.hours],
    [60, texts.minutes],
  ] as const
  const [size, words] = units.find(([length]) => seconds >= length) ?? [1, texts.seconds]
  return words(format.count(Math.floor(seconds / size)))
}

/**
 * An instant, and its age in words. No line break separates the number of the age from its unit.
 */
export function sinceText(context: DeskContext, instant: string): string {
  const age = ageSeconds(context, instant)
  const time = context.format.time(instant)
  return age === null ? time : context.texts.withAge(time, durationText(context, age).replaceAll(' ', '\u00a0'))
}

/**
 * The name of a state of a deposit or of a payout; the service's word if this page does not know
 * it.
 */
export const stateName = ({ texts }: DeskContext, state: string): string => lookUp(texts.states, state) ?? state

/** The name of a type of entry; its number if this page does not know it. */
export const typeName = ({ texts }: DeskContext, type: number): string => lookUp(texts.types, type) ?? String(type)
