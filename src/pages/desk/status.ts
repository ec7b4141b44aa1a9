import { isZero } from '../kit/decimal.ts'
import { type Child, createSlot, html, type PageView } from '../kit/dom.ts'
import { type DeskContext, durationText, sinceText } from './context.ts'
import type { DeskCurrency, DeskSummary } from './data.ts'
import { type Finding, findingsOf, isBad } from './findings.ts'
import { fact, sentence, small, storyButton } from './parts.ts'
import { refusalFinding } from './refusal.ts'

/** One sentence: all is well, or what is not and what to do. Below it everything else that needs a person. */
export function createStatus(context: DeskContext): PageView {
  const { model, texts, language } = context
  const element = html('section', { class: 'card wide status', 'aria-labelledby': 'state' })
  const fill = createSlot(element)
  const build = () => {
    const { refusal, summary } = model
    const made = refusal !== null ? refusalElements(context) : summary === null ? [] : findingElements(context, summary)
    const [title] = made
    if (title instanceof HTMLElement) context.announce(title.textContent)
    return made
  }
  return {
    element,
    update() {
      const { refusal, summary } = model
      element.classList.toggle('skeleton', refusal === null && summary === null)
      fill(JSON.stringify([refusal, summary, context.isSignedIn(), language]), build)
      element.dataset.tone = toneOf(context)
    },
  }
  function toneOf(of: DeskContext): string {
    if (model.refusal !== null) return model.refusal.status === 401 ? 'wait' : 'bad'
    const [first] = model.summary === null ? [] : findingsOf(of, model.summary)
    if (first === undefined) return 'good'
    return isBad(first) ? 'bad' : 'warn'
  }
  function refusalElements(of: DeskContext): Child[] {
    if (model.refusal === null) return []
    const { title, remedy, about } = refusalFinding(of, model.refusal)
    const code = about === '' ? null : html('p', { class: 'muted' }, texts.says, html('q', { lang: 'en' }, about))
    return [html('h2', { id: 'state' }, title), html('p', {}, ...sentence(remedy)), code]
  }
}

function findingElements(context: DeskContext, summary: DeskSummary): Child[] {
  const { texts, format } = context
  const findings = findingsOf(context, summary)
  const [first, ...rest] = findings
  if (first === undefined) {
    const words = texts.allWellHelp(format.count(summary.finalized))
    return [html('h2', { id: 'state' }, texts.allWell), html('p', {}, words)]
  }
  const namesLine = findings.some(({ remedy }) => /\bthe line\b|日志/i.test(remedy))
  const others = rest.map((one) => html('li', { class: isBad(one) ? 'bad' : 'warn' }, ...detail(context, one, 'h3')))
  return [
    ...detail(context, first, 'h2'),
    rest.length > 0 ? html('p', { class: 'muted' }, texts.others(format.count(rest.length))) : null,
    rest.length > 0 ? html('ul', { class: 'findings' }, ...others) : null,
    namesLine ? html('p', { class: 'muted' }, ...sentence(texts.lineHelp)) : null,
  ]
}

function detail(context: DeskContext, finding: Finding, level: 'h2' | 'h3'): Child[] {
  const { texts } = context
  const { title, remedy, about, since, ask, kind } = finding
  const facts = [about, since === null ? '' : texts.since(sinceText(context, since))].filter((one) => one !== '')
  return [
    html(level, { id: level === 'h2' ? 'state' : null, 'data-kind': kind }, ...sentence(title)),
    html('p', {}, html('strong', {}, `${texts.advice} `), ...sentence(remedy)),
    html('p', { class: 'row muted' }, facts.join(' · '), ask === null ? null : storyButton(context, texts.story, ask)),
  ]
}

/** What the wallets owe beside what the addresses hold, and the unexplained difference. */
export function createSums(context: DeskContext): PageView {
  const { model, texts } = context
  const list = html('div', { class: 'currencies' })
  const fill = createSlot(list)
  return {
    element: html('section', { class: 'card' }, html('h2', {}, texts.sumsHeading), list, small(texts.sumsHelp)),
    update() {
      const { summary } = model
      list.classList.toggle('skeleton', summary === null)
      const shown = summary?.currencies ?? []
      fill(JSON.stringify(shown.map(({ days: _, ...sums }) => sums)), () => shown.map((one) => sumsOf(context, one)))
    },
  }
}

function sumsOf(context: DeskContext, currency: DeskCurrency): HTMLElement {
  const { texts, format } = context
  const { cuy, symbol, owed, held, heldAt, compared, unexplained, differing } = currency
  const amount = (value: string, sign?: 'always') => html('strong', { class: 'number' }, format.amount(value, sign))
  const read = heldAt === null ? texts.notCompared : texts.comparedAt(format.count(compared), format.time(heldAt))
  const hasFault = !isZero(unexplained) || differing > 0
  const fault = html('div', { class: hasFault ? 'fault' : null }, html('dt', {}, texts.sumUnexplained))
  const sum = hasFault && !isZero(unexplained) ? amount(unexplained, 'always') : amount(unexplained)
  fault.append(html('dd', {}, sum, small(hasFault ? texts.differing(format.count(differing)) : null) ?? ''))
  const facts = [
    fact(texts.sumOwed, amount(owed)),
    fact(texts.sumHeld, held === null ? '–' : amount(held), small(read)),
  ]
  return html('div', { 'data-cuy': String(cuy) }, html('h3', {}, symbol), html('dl', {}, ...facts, fault))
}

/** The delays of now: scan, held deposits, each endpoint. */
export function createDelays(context: DeskContext): PageView {
  const { model, texts, format } = context
  const list = html('dl', { class: 'delays' })
  const fill = createSlot(list)
  const build = () => {
    const { summary } = model
    if (summary === null) return []
    const { behind, finalized, seen, oldestHeldAt, endpoints } = summary
    const ends = endpoints.map(({ number, behindSeconds, failingSince, lastFailure }) => {
      const late = behindSeconds === 0 ? texts.upToDate : texts.late(durationText(context, behindSeconds))
      const failing = failingSince === null ? null : small(texts.failing(sinceText(context, failingSince)))
      const name = texts.endpoint(format.count(number))
      return fact(name, late, failing, failing === null ? null : small(lastFailure, 'en'))
    })
    return [
      fact(texts.scan, texts.scanAt(format.count(behind), format.count(finalized))),
      fact(texts.onTheWay, format.count(seen)),
      fact(texts.oldestHeld, oldestHeldAt === null ? texts.none : sinceText(context, oldestHeldAt)),
      ...(ends.length > 0 ? ends : [fact(texts.endpointsHeading, texts.noEndpoints)]),
    ]
  }
  return {
    element: html('section', { class: 'card' }, html('h2', {}, texts.delaysHeading), list),
    update() {
      list.classList.toggle('skeleton', model.summary === null)
      fill(JSON.stringify(model.summary), build)
    },
  }
}
