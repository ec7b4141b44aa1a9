import type { Reply } from '../kit/api.ts'
import { copyShown } from '../kit/copy.ts'
import { button, html, type PageView, setText, svg } from '../kit/dom.ts'
import { amountText, type DepositContext } from './context.ts'
import { type Arrival, type ArrivalState, readArrivals } from './data.ts'
import { outcomeWords } from './outcome.ts'
import { arrivalsPath, pageRows } from './paths.ts'
import { refusalWords } from './trouble.ts'

/** How many more transfers are shown where the reader asks for older ones. */
const olderRows = 10
/** With more transfers than this, what they pass through needs no explanation, and there is no room for it. */
const stagesWithMax = 2

const icons: Readonly<Record<ArrivalState, string>> = {
  seen: 'M8 4v4l3 2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  held: 'M6 5v6M10 5v6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  credited: 'M3 8.500l3.500 3.500L13 5',
  refused: 'M4 4l8 8M12 4l-8 8',
  dropped: 'M3 8h10',
}

interface Line {
  readonly element: HTMLElement
  readonly key: string
  /** Shows what has changed within a state: the seconds. */
  show(arrival: Arrival): void
  tick(): void
}

/** The transfers to the caller's addresses, with their states. */
export function createArrivals(context: DepositContext): PageView {
  const { model, texts } = context
  const list = html('ul', { class: 'arrivals', 'aria-labelledby': 'arrivals' })
  const steps = [texts.stepSeen, texts.stepFinal, texts.stepCredited].map((words) => html('li', {}, words))
  const stages = html('ol', { class: 'stages' }, ...steps)
  const empty = html('p', { class: 'empty' }, html('strong', {}, texts.nothingYet))
  const older = button({}, texts.older, () => void loadOlder(context))
  let lines: Line[] = []
  return {
    element: html(
      'section',
      { class: 'card step arriving' },
      html('h2', { id: 'arrivals' }, texts.arrivalsHeading),
      html('div', { class: 'arrived' }, empty, list, stages),
      html('p', { class: 'muted' }, texts.byItself),
      html('div', { class: 'row' }, older, ...createCheck(context)),
    ),
    update() {
      const { arrivals } = model
      empty.hidden = arrivals?.count !== 0
      stages.hidden = arrivals === null || arrivals.count > stagesWithMax
      list.classList.toggle('skeleton', arrivals === null)
      older.hidden = arrivals === null || model.arrivalsOpen >= arrivals.count
      const shown = (arrivals?.list ?? []).filter(({ state }, index) => index < model.arrivalsOpen || state === 'seen')
      const next = shown.map((one) => {
        const key = JSON.stringify([one.id, one.state, one.amount, one.reason])
        const line = lines.find((known) => known.key === key) ?? createLine(context, key, one)
        line.show(one)
        return line
      })
      if (next.length === lines.length && next.every((line, index) => line === lines[index])) return
      const focused = document.activeElement
      list.replaceChildren(...next.map(({ element }) => element))
      if (focused instanceof HTMLElement && list.contains(focused)) focused.focus()
      lines = next
    },
    tick: () => {
      for (const line of lines) line.tick()
    },
  }
}

/** What is known about a transfer, in one or two sentences. */
export function arrivalWords({ texts }: DepositContext, { state, reason, why, finalAt }: Arrival): string {
  if (state === 'credited') return texts.creditedHelp
  if (state === 'dropped') return texts.droppedHelp
  if (state === 'seen') {
    if (finalAt === null) return texts.finalLate
    const seconds = Math.ceil((finalAt - performance.now()) / 1_000)
    return seconds > 0 ? texts.finalIn(String(seconds)) : texts.finalNow
  }
  return outcomeWords(texts, reason)?.help ?? `${state === 'held' ? texts.heldOperator : ''} ${why ?? ''}`.trim()
}

function createLine(context: DepositContext, key: string, arrival: Arrival): Line {
  const { texts, common, format } = context
  const { state, amount, cuy, at, txid } = arrival
  const words = html('p', { class: 'words' }, arrivalWords(context, arrival))
  const icon = svg('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', { d: icons[state] }))
  const number = html('span', { class: 'txid', lang: 'en', title: txid }, `${txid.slice(0, 6)}…${txid.slice(-6)}`)
  const name = html('span', {}, common.copy)
  const copy = button({ class: 'plain', 'aria-label': `${texts.copyTransaction} ${txid.slice(0, 6)}` }, name, () => {
    void copyShown(number, txid).then((result) => {
      name.textContent = common[result]
      context.announce(common[result])
    })
  })
  let current = arrival
  const tick = () => {
    if (state === 'seen') setText(words, arrivalWords(context, current))
  }
  const show = (next: Arrival) => {
    current = next
    tick()
  }
  const element = html(
    'li',
    { 'data-state': state },
    html(
      'div',
      { class: 'head' },
      html('strong', { class: 'number' }, amountText(context, amount, cuy)),
      html('span', { class: 'state' }, icon, texts[state]),
    ),
    html('div', { class: 'steps', 'aria-hidden': 'true' }, html('i'), html('i'), html('i')),
    words,
    html(
      'p',
      { class: 'meta muted' },
      html('time', { datetime: at }, texts.foundAt(format.time(at))),
      ' ',
      html('span', {}, `${texts.transaction} `, number, copy),
    ),
  )
  return { element, key, show, tick }
}

async function loadOlder(context: DepositContext): Promise<void> {
  const { model, api } = context
  const { account, arrivals } = model
  if (arrivals === null) return
  const known = arrivals.list
  model.arrivalsOpen += olderRows
  if (known.length < Math.min(model.arrivalsOpen, arrivals.count)) {
    const answer = await api.get(arrivalsPath(pageRows, known.at(-1)?.id), readArrivals)
    if (!answer.ok) model.refusal = answer
    else if (model.arrivals !== null && model.account === account) {
      const { list, count } = model.arrivals
      const last = list.at(-1)?.id ?? 0 // the list may have been read again meanwhile
      model.arrivals = { list: [...list, ...answer.data.list.filter(({ id }) => id < last)], count }
    }
  }
  context.update()
}

/** The button "check now" with its answer. */
function createCheck(context: DepositContext): HTMLElement[] {
  const { texts, common, api } = context
  const result = html('div', { class: 'result', role: 'status' })
  const label = html('span', {}, texts.checkNow)
  let isBusy = false
  const check = async () => {
    if (isBusy) return
    isBusy = true
    setText(label, texts.checking)
    result.replaceChildren(html('p', {}, texts.checking))
    const answer: Reply<null> = await api.get('/tron/recharge', () => null)
    context.refresh()
    setText(label, texts.checkNow)
    isBusy = false
    const words = answer.ok ? texts.checked : refusalWords(context, answer)
    result.replaceChildren(html('p', {}, words), ...serviceWords(common.serviceSays, answer.msg))
  }
  return [button({}, label, () => void check()), result]
}

/** The sentence of the service below the words of the page. */
export function serviceWords(introduction: string, msg: string): HTMLElement[] {
  if (msg === '') return []
  return [html('p', { class: 'muted' }, `${introduction} `, html('q', { lang: 'en' }, msg))]
}
