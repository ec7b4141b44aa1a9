import { type Child, html, type PageView } from '../kit/dom.ts'
import { lookUp } from '../kit/look-up.ts'
import { type JudgedSummary, stateOfAll } from './cells.ts'
import { type DeskContext, durationText, sinceText } from './context.ts'
import { type DeskSummary, deliveryFailure } from './data.ts'
import type { Finding, ShownFinding } from './finding.ts'
import { finalAgeSeconds, findingsOf, isBad, nodesLateSeconds, standsStill } from './findings.ts'
import { countAnswering } from './nodes.ts'
import { createLiveSlot, fact, hint, lateText, sentence, small, storyButton } from './parts.ts'
import { refusalElements } from './refusal.ts'
import { line } from './steps.ts'
import { type Waiting, waitingFor } from './waiting.ts'
import { needsLine } from './words.ts'

/** Most items of a finding that are shown. The lists on the page have all of them. */
const itemsMax = 3

/**
 * The top of the page in one sentence: all is well, or the worst fault and its remedy. The other
 * faults, and what waits for a person, are below it.
 */
export function createStatus(context: DeskContext): PageView {
  const { model } = context
  const element = html('section', { class: 'card wide status', 'aria-labelledby': 'state' })
  const show = createLiveSlot(element)
  return {
    element,
    update() {
      const { refusal, summary } = model
      element.classList.toggle('skeleton', refusal === null && summary === null)
      const findings = summary === null ? [] : findingsOf(context, summary)
      const waiting = summary === null ? [] : waitingFor(context, summary)
      let tone = toneNumber(findings[0], waiting)
      if (refusal !== null) show(refusalElements(context, refusal, 'state'))
      else if (summary !== null) {
        const elements = (level: 'h2' | 'h3', titleOf: (title: string) => string) =>
          findingElements(context, findings, waiting, { summary, level, titleOf })
        const all = stateOfAll(context, tone, elements, (other) => judge(context, other))
        tone = all.tone
        show(all.elements)
      }
      context.announce(element.querySelector('h2')?.textContent ?? '')
      element.dataset.tone = refusal === null ? tones[tone] : refusal.status === 401 ? 'wait' : 'bad'
    },
  }
}

function judge(context: DeskContext, summary: DeskSummary): JudgedSummary {
  const [first] = findingsOf(context, summary)
  const waiting = waitingFor(context, summary)
  return { tone: toneNumber(first, waiting), title: first?.title ?? wellTitle(context, waiting) }
}

function wellTitle({ texts, format }: DeskContext, waiting: readonly Waiting[]): string {
  const count = waiting.reduce((sum, one) => sum + one.count, 0)
  return count === 0 ? texts.allWell : texts.allWellWaiting(format.count(count))
}

const tones = ['good', 'wait', 'warn', 'bad'] as const

/** The tone of a state, as an index of `tones`. `first` is its worst finding. */
function toneNumber(first: Finding | undefined, waiting: readonly Waiting[]): number {
  if (first === undefined) return waiting.length > 0 ? 1 : 0
  return isBad(first) ? 3 : 2
}

function findingElements(
  context: DeskContext,
  [first, ...rest]: readonly ShownFinding[],
  waiting: readonly Waiting[],
  shown: {
    readonly summary: DeskSummary
    readonly level: 'h2' | 'h3'
    readonly titleOf: (title: string) => string
  },
): Child[] {
  const { texts, format } = context
  const { summary, level, titleOf } = shown
  if (first === undefined) {
    return [
      html(level, { id: level === 'h2' ? 'state' : null }, titleOf(wellTitle(context, waiting))),
      waitingLine(context, waiting),
      line(wellText(context, summary, waiting.length === 0)),
    ]
  }
  const named = [first, ...rest].map(({ kind }) => kind).filter(needsLine)
  // The finding about an unread gap needs the log line of the alarm `nodes-disagree`, which has
  // what each node answered.
  const lines = [...new Set(named.map((kind) => (kind === 'gap-unread' ? 'nodes-disagree' : kind)))]
  const others = rest.map((one) => html('li', { class: isBad(one) ? 'bad' : 'warn' }, ...detail(context, one, 'h3')))
  return [
    ...detail(context, { ...first, title: titleOf(first.title) }, level),
    waitingLine(context, waiting),
    rest.length > 0 ? hint(texts.others(format.count(rest.length))) : null,
    rest.length > 0 ? html('ul', { class: 'findings' }, ...others) : null,
    lines.length > 0 ? hint(texts.lineHelp(lines.map((kind) => `\`${kind}\``).join(', '))) : null,
  ]
}

/**
 * A line with everything that waits for a person, each with a button that leads to its list; null
 * if nothing waits.
 */
function waitingLine(context: DeskContext, waiting: readonly Waiting[]): HTMLElement | null {
  const { texts, format } = context
  if (waiting.length === 0) return null
  const parts = waiting.flatMap(({ name, count, age, ask }, index): Child[] => {
    const label = texts.pair(name, format.count(count))
    return [index === 0 ? ' ' : ' · ', storyButton(context, label, ask, texts.listsHeading), ` ${texts.oldestFor(age)}`]
  })
  return html('p', { class: 'waiting' }, texts.waiting, ...parts)
}

/**
 * Sentences about what works: scan, nodes, endpoints. `isIdle`: nothing waits for a person, so
 * nothing has to be done.
 */
function wellText(context: DeskContext, { scan, nodes, endpoints }: DeskSummary, isIdle: boolean): string {
  const { texts, format } = context
  const answering = countAnswering(nodes ?? [])
  const served = endpoints.filter(({ behind_seconds }) => behind_seconds === 0).length
  const known = [
    texts.allScanned(format.count(scan.finalized)),
    nodes === null ? null : texts.allNodes(format.count(answering), format.count(nodes.length)),
    endpoints.length === 0 ? null : texts.allEndpoints(format.count(served), format.count(endpoints.length)),
    texts.allElse,
    isIdle ? texts.nothingToDo : null,
  ]
  return known.filter((one) => one !== null).join(context.language === 'en' ? ' ' : '')
}

function detail(
  context: DeskContext,
  { kind, title, remedy, urgency, items }: ShownFinding,
  level: 'h2' | 'h3',
): Child[] {
  const { texts, format } = context
  const shown = items.slice(0, itemsMax).map(({ about, note, since, ask }) => {
    const facts = [
      note === '' ? null : html('span', {}, ...sentence(note)),
      about === '' ? null : html('span', { lang: 'en' }, about),
      since === null ? null : texts.since(sinceText(context, since)),
      ask === null ? null : storyButton(context, texts.story, ask, (note || about || title).replaceAll('`', '')),
    ].filter((one) => one !== null)
    const parts = facts.flatMap((one, index) => (index === 0 ? [one] : [' · ', one]))
    return parts.length === 0 ? null : html('p', { class: 'muted' }, ...parts)
  })
  const more = items.length - itemsMax
  const soon = lookUp<string>(texts.urgencies, urgency)
  return [
    html(level, { id: level === 'h2' ? 'state' : null, 'data-kind': kind }, ...sentence(title)),
    html('p', {}, html('strong', {}, texts.advice), ...sentence(remedy)),
    soon === undefined ? null : html('p', {}, html('strong', { 'data-urgency': urgency }, soon)),
    ...shown,
    more > 0 ? hint(texts.andMore(format.count(more))) : null,
  ]
}

/**
 * The part of the page with delays (nodes, scan, held deposits, each endpoint), and with the size
 * of the database.
 */
export function createDelays(context: DeskContext): PageView {
  const { model, texts } = context
  const list = html('dl', { class: 'delays' })
  const show = createLiveSlot(list)
  return {
    element: html('section', { class: 'card wide' }, html('h2', {}, texts.delaysHeading), list),
    update() {
      list.classList.toggle('skeleton', model.summary === null)
      if (model.summary !== null) show(delaysOf(context, model.summary))
    },
  }
}

function delaysOf(context: DeskContext, summary: DeskSummary): HTMLElement[] {
  const { texts, format } = context
  const { scan, transfers, endpoints } = summary
  const { behind, finalized, oldest_held_at } = scan
  const age = finalAgeSeconds(context, summary)
  const isLate = age !== null && age > nodesLateSeconds
  const nodes = fact(
    texts.nodes,
    html(
      'span',
      { class: isLate ? 'fault' : null },
      age === null ? texts.notKnown : texts.old(durationText(context, age)),
    ),
    hint(isLate ? `${texts.nodesNormal} ${texts.nodesDo}` : texts.nodesNormal),
  )
  const ends = endpoints.map((endpoint) => {
    const { number, behind_seconds, failing_since } = endpoint
    const name = storyButton(context, texts.endpoint(format.count(number)), `endpoint ${number}`)
    const failing = failing_since === null ? null : small(texts.failing(sinceText(context, failing_since)))
    return fact(
      name,
      lateText(context, behind_seconds),
      failing,
      failing === null ? null : small(deliveryFailure(endpoint), 'en'),
    )
  })
  return [
    nodes,
    fact(
      texts.scan,
      standsStill(context, summary)
        ? texts.scanStands(format.count(finalized - behind))
        : texts.scanAt(format.count(behind), format.count(finalized)),
    ),
    fact(texts.onTheWay, format.count(transfers.seen)),
    fact(texts.oldestHeld, oldest_held_at === null ? texts.none : sinceText(context, oldest_held_at)),
    ...(ends.length > 0 ? ends : [fact(texts.endpointsHeading, texts.noEndpoints)]),
    databaseFact(context, summary),
  ]
}

function databaseFact(
  { texts, format }: DeskContext,
  { database: { bytes, limit, full_on } }: DeskSummary,
): HTMLElement {
  const megabytes = (size: number) => format.count(Math.floor(size / 1_000_000))
  const size = texts.databaseSize(megabytes(bytes), megabytes(limit), format.count(Math.floor((bytes * 100) / limit)))
  return fact(texts.database, size, small(full_on === null ? null : texts.databaseFullOn(full_on)))
}
