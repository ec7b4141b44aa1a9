import type { AlarmKind, alarmTable } from '../../worker/platform/alarm-table.ts'
import { type DeskContext, deskAmount } from './context.ts'
import type { DeskAlarm, DeskDifference } from './data.ts'

/** The words for an alarm: what is wrong (`raised`), and what to do. */
export interface AlarmWords {
  readonly raised: string
  readonly remedy: string
}

type LineKind = {
  [Kind in AlarmKind]: (typeof alarmTable)[Kind] extends { needsLine: true } ? Kind : never
}[AlarmKind]

/**
 * Kinds of alarms whose remedy needs their line in the log, as in the table of alarms. The table is not imported here, because it would add all its texts to
 * the script.
 */
const lineKinds: Readonly<Record<LineKind, true>> = {
  'scan-stalled': true,
  'scan-behind': true,
  'gap-unread': true,
  'nodes-disagree': true,
  'node-lies': true,
  'node-unfit': true,
  'node-failing': true,
  'review-overdue': true,
  'address-frozen': true,
  'token-fee-set': true,
  'token-deprecated': true,
  'payout-refused': true,
  'payout-wallet-low': true,
  'configuration-differs': true,
  misconfigured: true,
}

/** The words for an alarm, in the page's language. For a kind that this page does not know, they are the service's. */
export function alarmWords(
  context: DeskContext,
  { kind, raised, remedy }: Pick<DeskAlarm, 'kind' | 'raised' | 'remedy'>,
): AlarmWords {
  const { alarms } = context.texts
  if (!Object.hasOwn(alarms, kind)) return { raised: raised || kind, remedy }
  const [inLanguage, remedyInLanguage] = alarms[kind as AlarmKind] // safe: one of its own names
  const first = firstStep(context, kind)
  return { raised: inLanguage, remedy: first === null ? remedyInLanguage : `${first} ${remedyInLanguage}` }
}

/** What to do about a kind of alarm. `cuy`, if given, takes the place of `<n>` in commands of the remedy. */
export function remedyOf(context: DeskContext, kind: AlarmKind, cuy: number | null = null): string {
  const { remedy } = alarmWords(context, { kind, raised: '', remedy: '' })
  return cuy === null ? remedy : remedy.replace('<n>', String(cuy))
}

/** Whether the remedy for this kind of alarm needs its line in the log. The desk itself shows what the payout address lacks. */
export const needsLine = (kind: string) => kind !== 'payout-wallet-low' && Object.hasOwn(lineKinds, kind)

/** The words for an address that holds another amount than recorded: whether it is more or less (`name`), the amount, and the remedy. */
export function differenceWords(context: DeskContext, { amount, cuy }: DeskDifference) {
  const { more, less } = context.texts
  const isLess = amount.startsWith('-')
  const remedy = remedyOf(context, isLess ? 'reconciliation-shortfall' : 'reconciliation-surplus')
  return { name: isLess ? less : more, amount: deskAmount(context, amount, cuy, 'always'), remedy }
}

/** What to do before the remedy that the table of alarms has, for kinds of which the table names only possible causes; otherwise null. */
function firstStep({ texts }: DeskContext, kind: string): string | null {
  if (kind === 'scan-stalled' || kind === 'scan-behind' || kind === 'finality-stalled') return texts.nodesDo
  if (kind === 'endpoint-failing') return texts.endpointDo
  if (kind === 'reconciliation-surplus') return `${texts.differenceDo} ${texts.surplusDo}`
  return kind === 'reconciliation-shortfall' ? texts.differenceDo : null
}
