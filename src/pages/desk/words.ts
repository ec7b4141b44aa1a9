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
 * Kinds of alarms whose remedy needs facts that only the alarm's line in the log has. These are the
 * kinds with `needsLine` in the service's table of alarms. The table is not imported here, because
 * all its texts would then be in the page's script.
 */
const lineKinds: Readonly<Record<LineKind, true>> = {
  'scan-stalled': true,
  'scan-behind': true,
  'gap-unread': true,
  'nodes-disagree': true,
  'node-lies': true,
  'node-unfit': true,
  'node-behind': true,
  'node-failing': true,
  'review-overdue': true,
  'corrected-credit': true,
  'address-frozen': true,
  'token-fee-set': true,
  'token-deprecated': true,
  'payout-refused': true,
  'configuration-differs': true,
  misconfigured: true,
  'archive-behind': true,
}

/**
 * The words for an alarm, in the page's language. For a kind that this page does not know, it
 * returns the service's own words.
 */
export function alarmWords(
  context: DeskContext,
  { kind, raised, remedy }: Pick<DeskAlarm, 'kind' | 'raised' | 'remedy'>,
): AlarmWords {
  const { alarms } = context.texts
  if (!Object.hasOwn(alarms, kind)) return { raised: raised || kind, remedy }
  const [inLanguage, remedyInLanguage] = alarms[kind as AlarmKind] // safe: `kind` is a name of the table
  const first = firstStep(context, kind)
  return { raised: inLanguage, remedy: first === null ? remedyInLanguage : `${first} ${remedyInLanguage}` }
}

/**
 * What to do about a kind of alarm. `cuy`, if given, takes the place of `<n>` in commands of the
 * remedy.
 */
export function remedyOf(context: DeskContext, kind: AlarmKind, cuy: number | null = null): string {
  const { remedy } = alarmWords(context, { kind, raised: '', remedy: '' })
  return cuy === null ? remedy : remedy.replace('<n>', String(cuy))
}

/** Whether the remedy needs the alarm's line in the log. */
export const needsLine = (kind: string) => Object.hasOwn(lineKinds, kind)

/**
 * The words for an address that holds more or less than recorded: "more" or "less" in the page's
 * language (`name`), the difference, and the remedy.
 */
export function differenceWords(context: DeskContext, { amt, cuy }: DeskDifference) {
  const { more, less } = context.texts
  const isLess = amt.startsWith('-')
  const remedy = remedyOf(context, isLess ? 'reconciliation-shortfall' : 'reconciliation-surplus')
  return { name: isLess ? less : more, amount: deskAmount(context, amt, cuy, 'always'), remedy }
}

/**
 * A sentence before the remedy of an alarm that says how to find the cause, for kinds whose remedy
 * names only possible causes; null for other kinds.
 */
function firstStep({ texts }: DeskContext, kind: string): string | null {
  if (kind === 'scan-stalled' || kind === 'scan-behind' || kind === 'finality-stalled') return texts.nodesDo
  if (kind === 'endpoint-failing') return texts.endpointDo
  if (kind === 'reconciliation-surplus') return `${texts.differenceDo} ${texts.surplusDo}`
  return kind === 'reconciliation-shortfall' ? texts.differenceDo : null
}
