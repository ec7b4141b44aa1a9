import { lookUp } from '../kit/look-up.ts'
import { type DeskContext, deskAmount, deskSymbol, durationText, sinceText } from './context.ts'
import { type DeskAlarm, type DeskGap, type DeskSubject, type DeskSummary, deliveryFailure } from './data.ts'
import type { Finding, FindingItem, ShownFinding } from './finding.ts'
import { countAnswering, isMissing, stateText } from './nodes.ts'
import { isShownByPayouts, payoutAlarmItem, payoutFindings } from './payout-findings.ts'
import { reasonWords } from './reasons.ts'
import { isOverdue } from './waiting.ts'
import { alarmWords, remedyOf } from './words.ts'

/**
 * Kinds of findings that stop credits or concern missing money, the most serious first. The page
 * shows the kinds in `then` after these, and all other kinds last.
 */
const worst = [
  ...['misconfigured', 'configuration-differs', 'key-was-used', 'chain-forked', 'scan-stalled', 'finality-stalled'],
  'scan-behind',
  ...['too-few-nodes', 'tick-failed', 'stopped', 'nodes-late', 'decimals-differ', 'payout-unknown'],
  ...['reconciliation-shortfall', 'gap-unread'],
  ...['token-deprecated', 'address-frozen', 'payout-stuck'],
]
const then = [
  'reconciliation-surplus',
  'deposit-too-large',
  'review-overdue',
  'payout-refused',
  'payout-wallet-low',
  'payouts-unsigned',
  'payouts-waiting',
  'token-paused',
  'token-fee-set',
  'held',
  'event-set-aside',
  'events-expiring',
  'archive-behind',
]

/**
 * An endpoint whose oldest undelivered event is older than this is a finding, even before there is
 * an alarm.
 */
const lateSeconds = 120
/**
 * If the newest final block is older than this, the nodes are late: the same limit as in `/health`.
 */
export const nodesLateSeconds = 127
/** Alarms that explain why the scan stands still or falls behind. */
const scanAlarms = ['chain-forked', 'scan-stalled', 'scan-behind', 'finality-stalled', 'tick-failed']
/**
 * Findings that follow from too few answering nodes. They are left out if the page has the finding
 * `too-few-nodes`.
 */
const ofTooFewNodes = [
  'scan-stalled',
  'scan-behind',
  'finality-stalled',
  'stopped',
  'nodes-late',
  'behind',
  'starting',
  'node-silent',
]
/**
 * Alarms that are left out if there is a finding from the state of the endpoint, because that
 * finding says more.
 */
const endpointAlarms = ['endpoint-failing', 'endpoint-behind']

/** Whether a finding is serious: it stops credits, or concerns missing money. */
export const isBad = ({ kind }: Pick<Finding, 'kind'>) => worst.includes(kind)

/** Everything that needs a person, the most serious first. */
export function findingsOf(context: DeskContext, summary: DeskSummary): readonly ShownFinding[] {
  const rank = ({ kind }: Finding) => {
    const index = [...worst, ...then].indexOf(kind)
    return index < 0 ? Number.POSITIVE_INFINITY : index
  }
  const urgencyOf = (kind: string) => summary.alarms.find((alarm) => alarm.kind === kind)?.urgency ?? ''
  const tooFew = tooFewNodes(context, summary)
  const all = [
    ...tooFew,
    ...alarmFindings(context, summary),
    ...scanFindings(context, summary),
    ...gapFindings(context, summary),
    ...heldFindings(context, summary),
    ...payoutFindings(context, summary),
    ...endpointFindings(context, summary),
    ...nodeFindings(context, summary),
  ]
  const shown = tooFew.length === 0 ? all : all.filter(({ kind }) => !ofTooFewNodes.includes(kind))
  return shown
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
    .map((finding) => ({ ...finding, urgency: urgencyOf(finding.kind) }))
}

/** One finding for each kind of raised alarm; each alarm of that kind is one of its items. */
function alarmFindings(context: DeskContext, summary: DeskSummary): Finding[] {
  const { alarms, gaps, endpoints, scan } = summary
  const isFailing = ({ endpoint }: DeskSubject) =>
    endpoints.some(({ number, failing_since, behind_seconds }) => {
      return number === endpoint && (failing_since !== null || behind_seconds >= lateSeconds)
    })
  const own = alarms.filter(({ kind, subject }) => {
    if (isShownByPayouts(kind, summary)) return false
    if (kind === 'gap-unread') return gaps.length === 0
    const height = kind === 'nodes-disagree' ? subject.height : null
    // the finding about this gap says it
    if (height !== null && gaps.some(({ from, to }) => from <= height && height <= to)) return false
    return !(endpointAlarms.includes(kind) && isFailing(subject))
  })
  return [...new Set(own.map(({ kind }) => kind))].flatMap((kind) => {
    const [first, ...rest] = own.filter((one) => one.kind === kind)
    if (first === undefined) return []
    const { raised, remedy } = alarmWords(context, first)
    const of = [first, ...rest]
    if (kind === 'decimals-differ') return [decimalsFinding(context, of, summary)]
    const isStalled = kind === 'scan-stalled'
    const isLate = isStalled || kind === 'scan-behind'
    const items: FindingItem[] = of.map((alarm) => {
      const ofPayouts = payoutAlarmItem(context, alarm, summary)
      if (ofPayouts !== null) return ofPayouts
      const note = isLate ? problemText(context, summary) : subjectText(context, alarm.subject, summary)
      const about = isLate ? (scan.msg ?? '') : aboutOf(alarm.subject, summary)
      return { about, note, since: alarm.since, ask: askOf(alarm.subject) }
    })
    const title = isStalled ? context.texts.standsStill : raised
    if (scanAlarms.includes(kind)) items.push(...missingItems(context, summary))
    return [{ kind, title, remedy, items }]
  })
}

/**
 * The finding about currencies whose decimals differ from those of their contract, with how many
 * deposits are held because of that.
 */
function decimalsFinding(context: DeskContext, alarms: readonly DeskAlarm[], { transfers }: DeskSummary): Finding {
  const { texts, format } = context
  const items = alarms.map(({ subject, since }) => {
    const cuy = subject.cuy ?? 0
    const count = transfers.held_for.find((one) => one.reason === 'decimals-differ' && one.cuy === cuy)?.count ?? 0
    const waiting = count === 0 ? '' : ` · ${texts.pair(texts.heldHeading, format.count(count))}`
    const note = texts.cuyAt(deskSymbol(context, cuy), String(cuy)) + waiting
    return { about: '', note, since, ask: count === 0 ? null : 'deposits held' }
  })
  const symbols = alarms.map(({ subject }) => deskSymbol(context, subject.cuy ?? 0))
  const only = alarms.length === 1 ? (alarms[0]?.subject.cuy ?? null) : null
  const remedy = remedyOf(context, 'decimals-differ', only)
  return { kind: 'decimals-differ', title: texts.decimalsOf(symbols.join(', ')), remedy, items }
}

/**
 * Why the newest tick (one run of the scan) did not read every final block; empty if it did, or if
 * the page does not know the reason.
 */
const problemText = ({ texts }: DeskContext, { scan }: DeskSummary): string =>
  lookUp(texts.problems, scan.problem ?? '') ?? ''

/**
 * The service's words about what an alarm is about: the last error of a node, or the txid, or the
 * name of a setting.
 */
function aboutOf({ node, txid, setting }: DeskSubject, { nodes }: DeskSummary): string {
  return (node === null ? (txid ?? setting) : nodes?.[node - 1]?.failure) ?? ''
}

/**
 * What an alarm is about, in the page's words: a node, an endpoint, a block, a currency, or an
 * address with its difference. Empty for anything else.
 */
function subjectText(context: DeskContext, subject: DeskSubject, { differences }: DeskSummary): string {
  const { texts, format } = context
  const { node, question, endpoint, event, cuy } = subject
  const [height, address] = [subject.height ?? subject.from, subject.address ?? subject.contract]
  const asked = lookUp(texts.nodeQuestions, question ?? '')
  if (node !== null)
    return asked === undefined ? texts.nodeAt(String(node)) : texts.pair(texts.nodeAt(String(node)), asked)
  if (endpoint !== null) {
    const name = texts.endpointAt(String(endpoint))
    return event === null ? name : `${name} · ${texts.eventOf(String(event))}`
  }
  if (height !== null) return texts.block(format.count(height))
  if (address === null) return cuy === null ? '' : texts.cuyAt(deskSymbol(context, cuy), String(cuy))
  if (cuy === null) return address
  const found = differences.find((one) => one.cuy === cuy && one.address === address)
  const name = found === undefined ? deskSymbol(context, cuy) : deskAmount(context, found.amt, found.cuy, 'always')
  return `${name} · ${address}`
}

/**
 * The search for the story of an alarm's address, transaction or endpoint; null if it has none of
 * these.
 */
function askOf({ address, contract, txid, endpoint }: DeskSubject): string | null {
  return address ?? contract ?? txid ?? (endpoint === null ? null : `endpoint ${endpoint}`)
}

function scanFindings(context: DeskContext, summary: DeskSummary): Finding[] {
  const { texts, format } = context
  const { alarms, scan } = summary
  const { status, behind, finalized, msg } = scan
  if (alarms.some(({ kind }) => scanAlarms.includes(kind))) return []
  const note = problemText(context, summary)
  const silent = missingItems(context, summary)
  const items = [{ about: msg ?? '', note, since: null, ask: null }, ...silent]
  if (status === 'stopped' && finalized === 0) {
    return [{ kind: 'starting', title: texts.starting, remedy: texts.startingHelp, items: [] }]
  }
  const age = finalAgeSeconds(context, summary)
  if (status !== 'stopped' && age !== null && age > nodesLateSeconds) {
    const title = texts.nodesLate(durationText(context, age))
    const facts = [{ about: '', note, since: null, ask: null }, ...silent]
    return [{ kind: 'nodes-late', title, remedy: remedyOf(context, 'finality-stalled'), items: facts }]
  }
  if (status === 'behind') {
    return [{ kind: 'behind', title: texts.behind(format.count(behind)), remedy: texts.behindHelp, items }]
  }
  return status === 'ok' ? [] : [{ kind: 'stopped', title: texts.stopped, remedy: texts.stoppedHelp, items }]
}

/**
 * Whether the scan stands still or the nodes are late. Then the number of blocks that the scan is
 * behind says little.
 */
export function standsStill(context: DeskContext, summary: DeskSummary): boolean {
  const age = finalAgeSeconds(context, summary)
  return summary.scan.status === 'stopped' || (age !== null && age > nodesLateSeconds)
}

/**
 * How old the newest final block was when the summary was made, in seconds; null if that is not
 * known.
 */
export function finalAgeSeconds({ model }: DeskContext, { scan }: DeskSummary): number | null {
  const at = Date.parse(scan.finalized_at ?? '')
  return model.summaryAt === null || Number.isNaN(at) ? null : Math.max(0, Math.round((model.summaryAt - at) / 1_000))
}

/** A range of unread blocks in words. */
export function gapRange({ texts, format }: DeskContext, { from, to }: Pick<DeskGap, 'from' | 'to'>): string {
  return from === to ? texts.block(format.count(from)) : texts.blocks(format.count(from), format.count(to))
}

/**
 * A sentence with the number of deposits that were seen in a gap and wait; null if there are none.
 */
export function seenIn({ texts, format }: DeskContext, { seen }: Pick<DeskGap, 'seen'>): string | null {
  return seen === 0 ? null : texts.seenIn(format.count(seen))
}

function gapFindings(context: DeskContext, { gaps }: DeskSummary): Finding[] {
  const { texts, format } = context
  const [first] = gaps
  if (first === undefined) return []
  const isOne = gaps.length === 1
  const title = texts.gapOf(isOne ? gapRange(context, first) : texts.ranges(format.count(gaps.length)))
  const items = gaps.map((gap) => {
    const about = isOne ? gap.why : `${gapRange(context, gap)}: ${gap.why}`
    return { about, note: seenIn(context, gap) ?? '', since: gap.since, ask: `gap ${gap.from}` }
  })
  return [{ kind: 'gap-unread', title, remedy: remedyOf(context, 'gap-unread'), items }]
}

/**
 * The findings about held deposits. Deposits that are held for review are a finding only once the
 * review takes too long. Deposits about which an alarm is raised are left out.
 */
function heldFindings(context: DeskContext, { transfers, alarms }: DeskSummary): Finding[] {
  const own = transfers.held_for.filter(({ reason, cuy, oldest_at }) => {
    if (reason === 'review' && !isOverdue(context, oldest_at)) return false
    const kinds = [reason, reason === 'review' ? 'review-overdue' : reason]
    // the finding about that alarm includes these deposits
    return !alarms.some(({ kind, subject }) => kinds.includes(kind) && subject.cuy === cuy)
  })
  return own.map(({ reason, cuy, count, oldest_at }) => {
    const { why, remedy } = reasonWords(context, reason, null, cuy)
    const title = context.texts.heldOf(context.format.count(count), deskSymbol(context, cuy), why)
    const ask = reason === 'review' ? `#queue=deposits&cuy=${cuy}` : 'deposits held'
    const items = [{ about: '', note: '', since: oldest_at, ask }]
    return { kind: 'held', title, remedy, items }
  })
}

function endpointFindings(context: DeskContext, { endpoints }: DeskSummary): Finding[] {
  const { texts, format } = context
  return endpoints.flatMap((endpoint) => {
    const { number, behind_seconds, failing_since } = endpoint
    const isFailing = failing_since !== null
    if (!isFailing && behind_seconds < lateSeconds) return []
    const kind = isFailing ? 'endpoint-failing' : 'endpoint-behind'
    const name = format.count(number)
    const title = isFailing
      ? texts.failingOf(name, deliveryFailure(endpoint) ?? '')
      : texts.lateOf(name, durationText(context, behind_seconds))
    const items = [{ about: '', note: texts.endpointAt(name), since: failing_since, ask: `endpoint ${number}` }]
    return [{ kind, title, remedy: remedyOf(context, kind), items }]
  })
}

/** The nodes that the scan does without at present, each with the time of its last good answer. */
function missingItems(context: DeskContext, { nodes }: DeskSummary): FindingItem[] {
  const { texts } = context
  return (nodes ?? []).filter(isMissing).map((node) => {
    const { name, answered_at, failure } = node
    const last = answered_at === null ? texts.nodeNever : texts.nodeLast(sinceText(context, answered_at))
    const note = `${texts.pair(name, stateText(context, node))} · ${last}`
    return { about: failure ?? '', note, since: null, ask: null }
  })
}

/**
 * The finding that fewer nodes answer than must agree: how many do, and which are missing. Empty if
 * enough answer.
 */
function tooFewNodes(context: DeskContext, summary: DeskSummary): Finding[] {
  const { texts, format } = context
  const { nodes, quorum, alarms, scan } = summary
  const missing = (nodes ?? []).filter(isMissing)
  if (nodes === null || nodes.length - missing.length >= quorum) return []
  const [count, all, needed] = [countAnswering(nodes), nodes.length, quorum].map(format.count) as [
    string,
    string,
    string,
  ] // safe: three numbers make three texts
  const since = alarms.find(({ kind }) => ofTooFewNodes.includes(kind))?.since ?? null
  const facts = { about: scan.msg ?? '', note: problemText(context, summary), since, ask: null }
  const title = texts.tooFewNodes(count, all, needed, missing.map(({ name }) => name).join(', '))
  // Who has named three nodes already is not told to.
  const remedy = nodes.length < 3 ? texts.tooFewNamedDo : texts.tooFewNodesDo
  return [{ kind: 'too-few-nodes', title, remedy, items: [...missingItems(context, summary), facts] }]
}

/**
 * The finding that a node is missing although the scan works without it. Empty if another finding
 * names the node, or if the scan does not work.
 */
function nodeFindings(context: DeskContext, summary: DeskSummary): Finding[] {
  const { texts, format } = context
  const { alarms, nodes } = summary
  const scan = scanFindings(context, summary)
  const isNamed = alarms.some(({ kind, subject }) => scanAlarms.includes(kind) || subject.node !== null)
  const items = missingItems(context, summary)
  if (items.length === 0 || isNamed || scan.length > 0) return []
  const title = texts.nodesSilent(format.count(items.length), format.count(nodes?.length ?? 0))
  return [{ kind: 'node-silent', title, remedy: texts.nodeSilentDo, items }]
}
