import { copyButton } from '../kit/copy.ts'
import { isZero } from '../kit/decimal.ts'
import { type Child, html } from '../kit/dom.ts'
import { lookUp } from '../kit/look-up.ts'
import { payoutActions } from './action-buttons.ts'
import { type DeskContext, deskAmount, sinceText, stateName } from './context.ts'
import { type DeskPayout, takenOf } from './data.ts'
import { eventStep } from './event-step.ts'
import { listTable, small, storyButton } from './parts.ts'
import type { PayoutStory } from './payout-answer.ts'
import { stopRemedy } from './payout-findings.ts'
import { leftTexts } from './payout-left.ts'
import { queueLinks } from './queue-rows.ts'
import { stuckWords, waitText } from './reasons.ts'
import { entryListRow } from './sources.ts'
import { forUser, line, type Step, steps } from './steps.ts'

/**
 * The story of a payout, and what to do. `txid` is the transaction that was searched for. If the
 * payout has another transaction by now, the page says so.
 */
export function payoutElements(context: DeskContext, { payout, entries }: PayoutStory, txid?: string): Child[] {
  const { texts, format } = context
  const { id, uid, osn, mark, amt, cuy, state } = payout
  const isEarlier = txid !== undefined && txid !== payout.txid
  const list: readonly Step[] = [
    askedStep(context, payout),
    ['done', texts.stepOwner, storyButton(context, texts.user(String(uid)), String(uid))],
    approvalStep(context, payout),
    ...transactionSteps(context, payout),
    ...endSteps(context, payout),
    eventStep(context, `payout.${state}`, payout.created_at, state === 'waiting'),
    ['wait', texts.stepDo, ...remedies(context, payout).map(line)],
  ]
  const rows = entries.map((entry) => entryListRow(context, entry).cells())
  return [
    ...queueLinks(context, payout),
    html('h3', {}, texts.pair(deskAmount(context, amt, cuy), stateName(context, state))),
    small([texts.payoutAt(String(id)), osn, mark].filter(Boolean).join(' · ')),
    isEarlier ? line(texts.payoutWentOn) : null,
    steps(list),
    ...payoutActions(context, payout),
    forUser(context, sentenceOf(context, payout)),
    rows.length === 0 ? null : html('h4', {}, texts.entriesOf(format.count(rows.length))),
    ...listTable(context, rows),
  ]
}

function askedStep(context: DeskContext, { created_at, by, to, amt, fee, cuy }: DeskPayout): Step {
  const { texts } = context
  const paid = deskAmount(context, amt, cuy)
  const taken = isZero(fee) ? texts.payoutTaken(paid) : texts.payoutTakenFee(paid, deskAmount(context, fee, cuy))
  const place = html('p', {}, `${texts.payoutTo} `, storyButton(context, to, to))
  return ['done', texts.stepAsked, line(texts.askedBy(sinceText(context, created_at), by)), place, line(taken)]
}

function approvalStep(context: DeskContext, payout: DeskPayout): Step {
  const { texts } = context
  const { state, approved_by } = payout
  if (approved_by !== null) {
    const who = approved_by === 'limits' ? texts.approvedByLimits : texts.approvedBy(approved_by)
    return ['done', texts.stepApproved, line(who)]
  }
  if (state === 'cancelled') return ['no', texts.stepApproved, line(texts.approvedNever)]
  return ['wait', texts.stepApproved, line(waitText(context, payout)), ...leftLines(context, payout)]
}

/**
 * Whether the payout's transaction has expired by the clock of the service, so that no new block
 * can contain it.
 */
const isExpired = ({ api }: DeskContext, { expires_at }: DeskPayout) =>
  expires_at !== null && Date.parse(expires_at) < (api.now() ?? 0)

/** The steps of signing and sending, as far as the payout has come. */
function transactionSteps(context: DeskContext, payout: DeskPayout): Step[] {
  const { texts, format, model } = context
  const { state, txid, expires_at, attempts, why } = payout
  const tried = small(attempts === 0 ? null : texts.payoutAttempts(format.count(attempts)))
  if (state === 'approved') {
    const isStopped = (model.summary?.payouts?.stopped ?? null) !== null
    const waits = payout.moved === null ? texts.signedLater : texts.signedMoved
    const words = isStopped ? texts.signedStopped : why === null ? texts.signedNext : waits
    return [['wait', texts.stepSigned, line(words), small(why, 'en'), ...leftLines(context, payout), tried]]
  }
  if (txid === null) return []
  const isOpen = state === 'signed'
  const until = isOpen && expires_at !== null ? line(texts.signedUntil(format.time(expires_at))) : null
  const signed: Step = ['done', texts.stepSigned, txidLine(context, txid), until, tried]
  if (!isOpen) return [signed]
  const words = isExpired(context, payout) ? texts.sentExpired : texts.sentOn
  return [signed, ['wait', texts.stepSent, line(words)], ['wait', texts.stepPaid, line(texts.paidLater)]]
}

/** A txid, with a button that copies it. */
function txidLine({ texts, announce }: DeskContext, txid: string): HTMLElement {
  const shown = html('span', { class: 'code' }, txid)
  const words = { label: texts.copyTxid, copied: texts.copied, selected: texts.selected }
  const copied = (result: keyof typeof words) => announce(words[result])
  return html('p', {}, shown, ' ', copyButton({ class: 'plain' }, words, { element: shown, text: txid }, copied))
}

/**
 * The outcome of a payout that is paid, cancelled or stuck, as its last step; none in any other
 * state.
 */
function endSteps(context: DeskContext, payout: DeskPayout): Step[] {
  const { texts, format } = context
  const { state, height, reason, why } = payout
  const block = height === null ? null : texts.block(format.count(height))
  if (state === 'paid') return [['done', texts.stepPaid, block === null ? null : line(texts.paidIn(block))]]
  if (state === 'cancelled') {
    return [
      [
        'done',
        texts.stepCancelled,
        line(texts.cancelledBack(deskAmount(context, takenOf(payout), payout.cuy))),
        small(why),
      ],
    ]
  }
  if (state !== 'stuck') return []
  const place = small(block === null ? null : texts.endedIn(block))
  const words = line(stuckWords(context, reason, why).why)
  return [
    [
      'no',
      texts.stepPaid,
      words,
      ...failureLines(context, payout),
      small(why, 'en'),
      place,
      ...movedLines(context, payout),
    ],
  ]
}

/** Why the transaction of a stuck payout failed, and what it cost. */
function failureLines({ texts, format }: DeskContext, { failure }: DeskPayout): readonly Child[] {
  if (failure === null) return []
  const { result, burnt, energy } = failure
  const meaning = lookUp(texts.results, result ?? '') ?? texts.otherResult
  return [
    result === null ? null : line(texts.failedBy(result, meaning)),
    burnt === null || energy === null ? null : line(texts.failedCost(format.amount(burnt), format.count(energy))),
  ]
}

/**
 * For a stuck payout: what its transaction has moved instead of paying the payout, or that it has
 * moved nothing. Empty if it is unknown.
 */
function movedLines(context: DeskContext, payout: DeskPayout): readonly Child[] {
  if (payout.moved?.length === 0) return [line(context.texts.movedNone)]
  return leftLines(context, payout)
}

const leftLines = (context: DeskContext, payout: DeskPayout): readonly Child[] =>
  leftTexts(context, payout).map((text) => html('p', { class: 'fault' }, text))

/** What to do about the payout, in sentences. */
function remedies(context: DeskContext, payout: DeskPayout): readonly string[] {
  const { texts, model } = context
  const { state, reason, why, moved } = payout
  const stopped = model.summary?.payouts?.stopped ?? null
  if (state === 'waiting') return [...(moved === null ? [] : [texts.movedOtherDo]), texts.payoutsWaitDo]
  if (state === 'approved') {
    if (stopped !== null) return [stopRemedy(context, stopped.why)]
    if (moved !== null) return [texts.movedOtherDo]
    return [why === null ? texts.approvedDo : texts.laterDo]
  }
  if (state === 'signed') return [isExpired(context, payout) ? texts.expiredDo : texts.signedDo]
  if (state === 'cancelled') return [texts.cancelledDo]
  if (state !== 'stuck') return [texts.doneDo]
  return [...((moved ?? []).length > 0 ? [texts.movedDo] : []), stuckWords(context, reason, why).remedy].filter(Boolean)
}

function sentenceOf(context: DeskContext, payout: DeskPayout): string {
  const { texts } = context
  const { state, to, txid, amt, cuy } = payout
  const amount = deskAmount(context, amt, cuy)
  if (state === 'waiting') return texts.sayPayoutWaits(amount, to)
  if (state === 'stuck') return texts.sayPayoutStuck(amount, to)
  if (state === 'cancelled') return texts.sayPayoutCancelled(amount, to, deskAmount(context, takenOf(payout), cuy))
  if (txid === null) return texts.sayPayoutComes(amount, to)
  return state === 'paid' ? texts.sayPayoutPaid(amount, to, txid) : texts.sayPayoutSent(amount, to, txid)
}
