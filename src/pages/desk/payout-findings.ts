import { difference, isZero, sumOf } from '../kit/decimal.ts'
import { ageSeconds, type DeskContext, deskAmount, deskSymbol, durationText } from './context.ts'
import type { DeskAlarm, DeskPayouts, DeskSummary } from './data.ts'
import type { Finding, FindingItem } from './finding.ts'
import { isOverdue } from './waiting.ts'
import { remedyOf } from './words.ts'

/**
 * Whether the list of findings leaves out an alarm of this kind, because payouts are stopped: the
 * finding about the stop says it, or explains the alarm.
 */
export function isShownByPayouts(kind: string, { payouts }: DeskSummary): boolean {
  const isStopped = payouts !== null && payouts.stopped !== null
  return isStopped && (kind === 'payout-unknown' || kind === 'payouts-unsigned')
}

/**
 * What an alarm about payouts is about, as an item of its finding; null for an alarm about anything
 * else.
 */
export function payoutAlarmItem(
  context: DeskContext,
  { kind, subject, since }: DeskAlarm,
  { payouts }: DeskSummary,
): FindingItem | null {
  const item = (note: string, ask: string) => ({ about: '', note, since, ask })
  if (subject.payout !== null) return item(context.texts.payoutAt(String(subject.payout)), `payout ${subject.payout}`)
  if (payouts === null) return null
  if (kind === 'payouts-unsigned') return item(openText(context, payouts, 'approved'), 'payouts approved')
  if (kind !== 'payout-wallet-low') return null
  return { ...item(needsText(context, payouts, subject.cuy), payouts.address), about: payouts.address }
}

/** The number and the sum of the payouts in a state, for each currency, in words. */
function openText(context: DeskContext, { open }: DeskPayouts, wanted: string): string {
  const own = open.filter(({ state }) => state === wanted)
  return own.map((one) => groupText(context, one)).join(' · ')
}

const groupText = (context: DeskContext, { sum, cuy, count }: DeskPayouts['open'][number]) =>
  context.texts.payoutsSum(context.format.count(count), deskAmount(context, sum, cuy))

/**
 * What the payout address holds of a currency and what it needs, in words. `cuy` is null for TRX if
 * TRX is not a configured currency; fees are paid in TRX all the same.
 */
function needsText(context: DeskContext, { open, holds }: DeskPayouts, cuy: number | null): string {
  const { texts, format } = context
  const symbol = cuy === null ? 'TRX' : deskSymbol(context, cuy)
  const held = holds.find((one) => one.symbol === symbol)
  const needed = sumOf(open.filter((one) => one.cuy === cuy && isToBePaid(one.state)).map(({ sum }) => sum))
  if (held === undefined) return symbol
  const missing = difference(needed, held.amt)
  if (missing.startsWith('-') || isZero(missing)) return texts.walletFees
  return texts.walletMissing(`${format.amount(missing)} ${symbol}`, format.amount(held.amt), format.amount(needed))
}

const isToBePaid = (state: string) => state === 'approved' || state === 'signed'

/**
 * The findings about payouts: that they are stopped, and that some have waited too long for a
 * person.
 */
export function payoutFindings(context: DeskContext, { payouts }: DeskSummary): Finding[] {
  return payouts === null ? [] : [...stopFindings(context, payouts), ...waitFindings(context, payouts)]
}

function stopFindings(context: DeskContext, { stopped }: DeskPayouts): Finding[] {
  const { texts } = context
  if (stopped === null) return []
  const { why, since, txids } = stopped
  const items = txids.map((txid): FindingItem => ({ about: txid, note: '', since, ask: txid }))
  const title = why === 'restored' ? texts.stoppedRestored : texts.stoppedUnknown
  const remedy = stopRemedy(context, why)
  const none = [{ about: '', note: '', since, ask: null }]
  return [{ kind: 'payout-unknown', title, remedy, items: items.length > 0 ? items : none }]
}

/**
 * What to do if payouts are stopped. `why` is the service's word for the cause: `restored`, or
 * `unknown-transaction`.
 */
export function stopRemedy(context: DeskContext, why: string): string {
  return why === 'restored' ? context.texts.stoppedRestoredDo : remedyOf(context, 'payout-unknown')
}

function waitFindings(context: DeskContext, { open }: DeskPayouts): Finding[] {
  const { texts, format } = context
  const long = open.filter(({ state, oldest_at }) => state === 'waiting' && isOverdue(context, oldest_at))
  const age = Math.max(...long.map(({ oldest_at }) => ageSeconds(context, oldest_at) ?? 0))
  if (long.length === 0) return []
  const count = long.reduce((sum, one) => sum + one.count, 0)
  const items = long.map((one) => {
    return { about: '', note: groupText(context, one), since: one.oldest_at, ask: `#queue=payouts&cuy=${one.cuy}` }
  })
  const title = texts.payoutsWait(format.count(count), durationText(context, age))
  return [{ kind: 'payouts-waiting', title, remedy: texts.payoutsWaitDo, items }]
}
