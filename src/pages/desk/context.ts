import type { Api, Refusal } from '../kit/api.ts'
import type { Format } from '../kit/format.ts'
import { lookUp } from '../kit/look-up.ts'
import type { Language } from '../kit/texts.ts'
import type { DeskAnswer } from './answer.ts'
import type { DeskSummary } from './data.ts'
import type { DeskTexts } from './languages/en.ts'
import type { ListFilter } from './walk.ts'

/** What the desk knows. What is null is not loaded yet. */
export interface DeskModel {
  network: string | null
  summary: DeskSummary | null
  /** When the summary was made, by the clock of the service, where that is known. */
  summaryAt: number | null
  /** The list that is shown, and its filter. */
  listed: { readonly name: string; readonly filter: ListFilter }
  /** What stands in the way of the newest data. */
  refusal: Refusal | null
  /** The currency whose charts are shown. */
  charted: number | null
  /** What the reader has asked. */
  question: string
  answer: DeskAnswer | null
}

/** What the parts of the desk share, in the language of now. */
export interface DeskContext {
  readonly model: DeskModel
  readonly language: Language
  readonly texts: DeskTexts
  readonly format: Format
  readonly api: Api
  /** Whether there are payouts, where that is known: then their routes answer. */
  hasPayouts(): Promise<boolean>
  /** Whether a token was given. */
  isSignedIn(): boolean
  /** Takes a pasted token. Whether it has the form of one. */
  signIn(pasted: string): boolean
  announce(text: string): void
  /** Shows what has changed in the model. */
  update(): void
  /** Asks the service for what is new. */
  refresh(): void
  /** Puts a question into the box, and goes to its answer; `deposits held` or `payouts stuck 2` goes to that of a list. */
  ask(question: string): void
  /** Goes to the deposits of an amount, in the currency with this symbol, or in any if it is empty. */
  listAmount(amount: string, symbol: string): void
  /** Something was done in the story that is shown: reads it again. */
  done(): void
}

/** What the newest summary has of payouts; null without `PAYOUTS`, and before there is a summary. */
export const payoutsNow = ({ summary }: Pick<DeskModel, 'summary'>) => summary?.payouts ?? null

/** The symbol of a currency, or its number where it is not known. */
export function deskSymbol({ model }: DeskContext, cuy: number): string {
  return model.summary?.currencies.find((one) => one.cuy === cuy)?.symbol ?? `#${cuy}`
}

/** An amount with its symbol. */
export function deskAmount(context: DeskContext, amount: string, cuy: number, sign?: 'always'): string {
  return `${context.format.amount(amount, sign)} ${deskSymbol(context, cuy)}`
}

/** Whether amounts of a currency can be wrong, since its decimals are not those of its contract. */
export function isUncertain({ model }: DeskContext, cuy: number): boolean {
  const alarms = model.summary?.alarms ?? []
  return alarms.some(({ kind, subject }) => kind === 'decimals-differ' && subject.cuy === cuy)
}

/** The amount of a deposit. It says where it is not certain. */
export function depositAmount(context: DeskContext, amount: string, cuy: number): string {
  const shown = deskAmount(context, amount, cuy)
  return isUncertain(context, cuy) ? context.texts.notCertain(shown) : shown
}

/** How long ago an instant is by the clock of the service, in seconds; null where that is not known. */
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

/** An instant with its age, which stays on one line. */
export function sinceText(context: DeskContext, instant: string): string {
  const age = ageSeconds(context, instant)
  const time = context.format.time(instant)
  return age === null ? time : context.texts.withAge(time, durationText(context, age).replaceAll(' ', '\u00a0'))
}

/** The name of a state of a deposit or of a payout. */
export const stateName = ({ texts }: DeskContext, state: string): string => lookUp(texts.states, state) ?? state

/** The name of a type of entry. */
export const typeName = ({ texts }: DeskContext, type: number): string => lookUp(texts.types, type) ?? String(type)
