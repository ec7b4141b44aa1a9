import { isZero } from '../kit/decimal.ts'
import { type DeskContext, deskAmount, deskSymbol, durationText } from './context.ts'
import type { DeskAlarm, DeskGap, DeskSummary } from './data.ts'
import { alarmWords, wordsOfKind } from './words.ts'

/** Something that needs a person, with what to do. */
export interface Finding {
  readonly kind: string
  readonly title: string
  readonly remedy: string
  /** What it is about. */
  readonly about: string
  readonly since: string | null
  /** The question whose answer is its story. */
  readonly ask: string | null
}

/** Kinds of findings, the worst first; other kinds follow. */
const worst = [
  ...['misconfigured', 'configuration-differs', 'key-was-used', 'chain-forked', 'scan-stalled', 'finality-stalled'],
  ...['tick-failed', 'stopped', 'decimals-differ', 'reconciliation-shortfall', 'gap-unread'],
]
const then = ['difference', 'reconciliation-surplus', 'deposit-too-large', 'held', 'event-set-aside', 'events-expiring']

/** An endpoint that is late by this much is shown before an alarm is raised. */
const lateSeconds = 120
/** Alarms that say why the scan stands still. */
const scanAlarms = ['chain-forked', 'scan-stalled', 'finality-stalled', 'tick-failed']
/** Alarms that a finding of another source replaces, because that one has more facts. */
const endpointAlarms = ['endpoint-failing', 'endpoint-behind']

/** Whether it stops credits or is about missing money. */
export const isBad = ({ kind }: Pick<Finding, 'kind'>) => worst.includes(kind)

/** Everything that needs a person, the worst first. */
export function findingsOf(context: DeskContext, summary: DeskSummary): readonly Finding[] {
  const rank = ({ kind }: Finding) => {
    const index = [...worst, ...then].indexOf(kind)
    return index < 0 ? Number.POSITIVE_INFINITY : index
  }
  const all = [
    ...alarmFindings(context, summary),
    ...scanFindings(context, summary),
    ...summary.gaps.map((gap) => gapFinding(context, gap)),
    ...heldFindings(context, summary),
    ...differenceFindings(context, summary),
    ...endpointFindings(context, summary),
  ]
  return all.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
}

function alarmFindings(context: DeskContext, { alarms, gaps, endpoints, msg }: DeskSummary): Finding[] {
  const isFailing = (subject: string) =>
    endpoints.some(({ number, failingSince, behindSeconds }) => {
      return subject === `endpoint ${number}` && (failingSince !== null || behindSeconds >= lateSeconds)
    })
  const own = alarms.filter(({ kind, subject }) => {
    if (kind === 'gap-unread') return gaps.length === 0
    return !(endpointAlarms.includes(kind) && isFailing(subject))
  })
  return own.map((alarm) => {
    const { raised, remedy } = alarmWords(context.language, alarm)
    const { kind, since } = alarm
    const first = firstStep(context, kind)
    const facts = { kind, remedy: first === null ? remedy : `${first} ${remedy}`, since, ask: askOf(alarm.subject) }
    if (kind !== 'scan-stalled') return { ...facts, title: raised, about: subjectText(context, alarm) }
    return { ...facts, title: context.texts.standsStill, about: msg ?? raised }
  })
}

/** What to do first, where the table of alarms describes only what can be the cause. */
function firstStep({ texts }: DeskContext, kind: string): string | null {
  if (kind === 'scan-stalled') return texts.nodesDo
  return kind.startsWith('reconciliation-') ? texts.differenceDo : null
}

/** What an alarm is about: a currency by its symbol. */
function subjectText(context: DeskContext, { kind, subject }: DeskAlarm): string {
  const [first = '', second] = subject.split(':')
  const isCurrency = kind === 'decimals-differ' || kind === 'deposit-too-large' || /^T\w{33}$/.test(second ?? '')
  return isCurrency ? [deskSymbol(context, Number(first)), second].filter(Boolean).join(' · ') : subject
}

/** The question that an address, a transaction or an endpoint in a subject leads to. */
function askOf(subject: string): string | null {
  return /T[1-9A-HJ-NP-Za-km-z]{33}|[0-9a-f]{64}|^endpoint \d+/.exec(subject)?.[0] ?? null
}

function scanFindings({ texts, format }: DeskContext, { status, behind, msg, alarms }: DeskSummary): Finding[] {
  if (status === 'ok' || alarms.some(({ kind }) => scanAlarms.includes(kind))) return []
  const rest = { about: msg ?? '', since: null, ask: null }
  if (status === 'behind') {
    return [{ kind: 'behind', title: texts.behind(format.count(behind)), remedy: texts.behindHelp, ...rest }]
  }
  return [{ kind: 'stopped', title: texts.stopped, remedy: texts.stoppedHelp, ...rest }]
}

/** A range of blocks. */
export function gapRange({ texts, format }: DeskContext, { from, to }: Pick<DeskGap, 'from' | 'to'>): string {
  return from === to ? texts.block(format.count(from)) : texts.blocks(format.count(from), format.count(to))
}

function gapFinding(context: DeskContext, gap: DeskGap): Finding {
  const { remedy } = wordsOfKind(context.language, 'gap-unread')
  const title = context.texts.gapOf(gapRange(context, gap))
  return { kind: 'gap-unread', title, remedy, about: gap.why, since: gap.since, ask: `gap ${gap.from}` }
}

function heldFindings(context: DeskContext, { held, oldestHeldAt }: DeskSummary): Finding[] {
  return held.map(({ reason, cuy, count }) => {
    const { why, remedy } = reasonWords(context, reason, null)
    const title = context.texts.heldOf(context.format.count(count), deskSymbol(context, cuy), why)
    return { kind: 'held', title, remedy, about: '', since: held.length === 1 ? oldestHeldAt : null, ask: 'held' }
  })
}

/** Why a deposit is held or refused, and what to do. A reason that this page does not know has the words of the service. */
export function reasonWords({ texts, language }: DeskContext, reason: string | null, why: string | null) {
  const known: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
    'decimals-unknown': [texts.decimalsUnknown, texts.decimalsUnknownDo],
    'decimals-differ': [texts.decimalsDiffer, wordsOfKind(language, 'decimals-differ').remedy],
    retired: [texts.retired, texts.retiredDo],
    'too-large': [texts.tooLarge, texts.tooLargeDo],
    'wallet-full': [texts.walletFull, texts.walletFullDo],
    'below-minimum': [texts.belowMinimum, texts.belowMinimumDo],
    dust: [texts.dust, texts.belowMinimumDo],
  }
  const words = reason !== null && Object.hasOwn(known, reason) ? known[reason] : undefined
  return { why: words?.[0] ?? why ?? reason ?? '', remedy: words?.[1] ?? '' }
}

function differenceFindings(context: DeskContext, { currencies, alarms }: DeskSummary): Finding[] {
  const hasAlarm = (cuy: number) =>
    alarms.some(({ kind, subject }) => kind.startsWith('reconciliation-') && subject.startsWith(`${cuy}:`))
  const open = currencies.filter(({ cuy, unexplained }) => !isZero(unexplained) && !hasAlarm(cuy))
  return open.map(({ cuy, unexplained }) => {
    const title = context.texts.unexplainedOf(deskAmount(context, unexplained, cuy, 'always'))
    return { kind: 'difference', title, remedy: context.texts.unexplainedHelp, about: '', since: null, ask: null }
  })
}

function endpointFindings(context: DeskContext, { endpoints }: DeskSummary): Finding[] {
  const { texts, format, language } = context
  return endpoints.flatMap(({ number, behindSeconds, failingSince, lastFailure }) => {
    const name = format.count(number)
    const facts = { about: '', since: failingSince, ask: `endpoint ${number}` }
    if (failingSince !== null) {
      const title = texts.failingOf(name, lastFailure ?? '')
      return [{ kind: 'endpoint-failing', title, remedy: wordsOfKind(language, 'endpoint-failing').remedy, ...facts }]
    }
    if (behindSeconds < lateSeconds) return []
    const title = texts.lateOf(name, durationText(context, behindSeconds))
    return [{ kind: 'endpoint-behind', title, remedy: wordsOfKind(language, 'endpoint-behind').remedy, ...facts }]
  })
}
