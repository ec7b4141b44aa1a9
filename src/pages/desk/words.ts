import { type AlarmKind, alarmTable } from '../../platform/alarm-table.ts'
import { type DeskContext, deskAmount } from './context.ts'
import type { DeskAlarm, DeskDifference } from './data.ts'

/** What is wrong, and what to do. */
export interface AlarmWords {
  readonly raised: string
  readonly remedy: string
}

/** The words for an alarm. Of a kind that this page does not know, those of the service. */
export function alarmWords(
  context: DeskContext,
  { kind, raised, remedy }: Omit<DeskAlarm, 'subject' | 'since'>,
): AlarmWords {
  if (!isKnown(kind)) return { raised: raised || kind, remedy }
  const [inLanguage, remedyInLanguage] = context.texts.alarms?.[kind] ?? []
  const words = { raised: inLanguage ?? alarmTable[kind].raised, remedy: remedyInLanguage ?? alarmTable[kind].remedy }
  const first = firstStep(context, kind)
  return { raised: words.raised, remedy: first === null ? words.remedy : `${first} ${words.remedy}` }
}

/** What to do about a kind of alarm, for the currency with this number where it is about one. */
export function remedyOf(context: DeskContext, kind: AlarmKind, cuy: number | null = null): string {
  const { remedy } = alarmWords(context, { kind, raised: '', remedy: '' })
  return cuy === null ? remedy : remedy.replace('<n>', String(cuy))
}

/** Whether what to do needs the log line of the alarm. */
export const needsLine = (kind: string) => isKnown(kind) && 'needsLine' in alarmTable[kind]

/** A difference of an address: more or less, how much, and what to do. */
export function differenceWords(context: DeskContext, { amount, cuy }: DeskDifference) {
  const { more, less } = context.texts
  const isLess = amount.startsWith('-')
  const remedy = remedyOf(context, isLess ? 'reconciliation-shortfall' : 'reconciliation-surplus')
  return { name: isLess ? less : more, amount: deskAmount(context, amount, cuy, 'always'), remedy }
}

/** What to do first, where the table of alarms describes only what can be the cause. */
function firstStep({ texts }: DeskContext, kind: AlarmKind): string | null {
  if (kind === 'scan-stalled' || kind === 'finality-stalled') return texts.nodesDo
  if (kind === 'endpoint-failing') return texts.endpointDo
  if (kind === 'reconciliation-surplus') return `${texts.differenceDo} ${texts.surplusDo}`
  return kind === 'reconciliation-shortfall' ? texts.differenceDo : null
}

const isKnown = (kind: string): kind is AlarmKind => Object.hasOwn(alarmTable, kind)
