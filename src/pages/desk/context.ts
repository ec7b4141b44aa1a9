import type { Api, Refusal } from '../kit/api.ts'
import type { Child, PageView } from '../kit/dom.ts'
import type { Format } from '../kit/format.ts'
import { lookUp } from '../kit/look-up.ts'
import type { Language } from '../kit/texts.ts'
import type { DeskAnswer } from './answer.ts'
import type { DeskSummary } from './data.ts'
import type { DeskTexts } from './languages/en.ts'
import type { ListFilter } from './walk.ts'

/** The state of the desk. A member that is null is not loaded yet. */
export interface DeskModel {
  network: string | null
  summary: DeskSummary | null
  /** The shown database of a deployment with several; null if it has one, or if that is not known yet. */
  cell: number | null
  /** The databases, once they are known. */
  cells: DeskSummary['cells']
  /** The summaries of the other databases; null for one that does not answer. */
  others: readonly { readonly cell: number; readonly summary: DeskSummary | null }[]
  /** When the summary was made, by the clock of the service; null if that is not known. */
  summaryAt: number | null
  /** The shown list, and its filter. */
  listed: { readonly name: string; readonly filter: ListFilter }
  /** The reason for which the data is not up to date. */
  refusal: Refusal | null
  /** The currency of the charts. */
  charted: number | null
  /** The text in the search box. */
  question: string
  answer: DeskAnswer | null
}

/** How bad a summary is, from 0 for all is well to 3, and its first sentence. */
export interface JudgedSummary {
  readonly tone: number
  readonly title: string
}

/** The script that is loaded where the deployment has several databases: `cells.ts`. */
export interface CellsScript {
  createCellChoice(context: DeskContext): PageView
  placeInCell(path: string, cell: number | null): string
  pathOfAct(context: DeskContext, path: string, uid: number): string
  readOthers(
    client: Api,
    shown: number | null,
    cells: DeskModel['cells'],
    read: (data: unknown) => DeskSummary,
  ): Promise<DeskModel['others']>
  findElsewhere(context: DeskContext, knows: (asker: DeskContext) => Promise<boolean>): Promise<number | null>
  stateOfAll(
    context: DeskContext,
    ownTone: number,
    own: (level: 'h2' | 'h3', titleOf: (title: string) => string) => Child[],
    judge: (summary: DeskSummary) => JudgedSummary,
  ): { readonly tone: number; readonly elements: Child[] }
}

/** The parts that all views of the desk share, in the current language. */
export interface DeskContext {
  readonly model: DeskModel
  readonly language: Language
  readonly texts: DeskTexts
  readonly format: Format
  readonly api: Api
  /** Whether payouts are configured, so that their routes exist. */
  hasPayouts(): Promise<boolean>
  /** Whether there is a token. */
  isSignedIn(): boolean
  /** Accepts a pasted token. Returns whether it has the form of one. */
  signIn(pasted: string): boolean
  announce(text: string): void
  /** The script for several databases; null if the deployment has one, or if it is not loaded yet. */
  cellsScript(): CellsScript | null
  /** Shows another database. The shown answer goes, unless that database has given it (`keepsAnswer`). */
  showCell(cell: number, keepsAnswer?: boolean): void
  /** Draws the changed parts of the state. */
  update(): void
  /** Asks the service for new data. */
  refresh(): void
  /** Searches for a text, and goes to the answer. `deposits held` or `payouts stuck 2` goes to a list. */
  ask(question: string): void
  /** Goes to the deposits of an amount, in the currency with this symbol, or in all if it is empty. */
  listAmount(amount: string, symbol: string): void
  /** Called after an action in the shown story, to read it again. */
  done(): void
}

/** The payouts in the newest summary; null without `PAYOUTS`, and before there is a summary. */
export const payoutsNow = ({ summary }: Pick<DeskModel, 'summary'>) => summary?.payouts ?? null

/** The symbol of a currency, or its number if it is not known. */
export function deskSymbol({ model }: DeskContext, cuy: number): string {
  return model.summary?.currencies.find((one) => one.cuy === cuy)?.symbol ?? `#${cuy}`
}

/** An amount with its symbol. */
export function deskAmount(context: DeskContext, amount: string, cuy: number, sign?: 'always'): string {
  return `${context.format.amount(amount, sign)} ${deskSymbol(context, cuy)}`
}

/** Whether amounts of a currency may be wrong, because its decimals differ from those of its contract. */
export function isUncertain({ model }: DeskContext, cuy: number): boolean {
  const alarms = model.summary?.alarms ?? []
  return alarms.some(({ kind, subject }) => kind === 'decimals-differ' && subject.cuy === cuy)
}

/** The amount of a deposit, marked if it may be wrong. */
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

/** An instant with its age, on one line. */
export function sinceText(context: DeskContext, instant: string): string {
  const age = ageSeconds(context, instant)
  const time = context.format.time(instant)
  return age === null ? time : context.texts.withAge(time, durationText(context, age).replaceAll(' ', '\u00a0'))
}

/** The name of a state of a deposit or of a payout. */
export const stateName = ({ texts }: DeskContext, state: string): string => lookUp(texts.states, state) ?? state

/** The name of a type of entry. */
export const typeName = ({ texts }: DeskContext, type: number): string => lookUp(texts.types, type) ?? String(type)
