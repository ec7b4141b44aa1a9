import { copyButton } from '../kit/copy.ts'
import { type Child, html, linkTo, setText, svg } from '../kit/dom.ts'
import { arrivalAmount, type DepositContext, isStray, orderOf } from './context.ts'
import type { Arrival } from './data.ts'
import { countsFor } from './order.ts'
import { outcomeWords } from './outcome.ts'

const icons = {
  seen: 'M8 4v4l3 2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  held: 'M6 5v6M10 5v6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  credited: 'M3 8.500l3.500 3.500L13 5',
  refused: 'M4 4l8 8M12 4l-8 8',
  dropped: 'M3 8h10',
} as const

const isKnown = (state: string): state is keyof typeof icons => Object.hasOwn(icons, state)

/** The icon of a state, shown beside its name; empty for a state that this page does not know. */
export const stateIcon = (state: string) =>
  svg('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', { d: isKnown(state) ? icons[state] : null }))

/** The name of a state; the service's word if this page does not know it. */
export const arrivalState = ({ texts }: DepositContext, state: string) => (isKnown(state) ? texts[state] : state)

interface Line {
  readonly element: HTMLElement
  readonly key: string
  /**
   * Updates the seconds until the transfer is final, which change while the transfer stays in its
   * state.
   */
  show(arrival: Arrival): void
  tick(): void
}

export interface ArrivalList {
  readonly element: HTMLElement
  show(arrivals: readonly Arrival[]): void
  tick(): void
}

/**
 * Makes a list of transfers with their states. It keeps the lines that have not changed. `name` is
 * its name for screen readers.
 */
export function createArrivalList(context: DepositContext, name: string): ArrivalList {
  const list = html('ul', { class: 'arrivals', 'aria-label': name })
  let lines: Line[] = []
  return {
    element: list,
    show(arrivals) {
      const next = arrivals.map((one) => {
        const key = JSON.stringify([one.id, one.state, arrivalAmount(context, one), one.reason])
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

/** Seconds until a transfer is final; null if nobody knows. */
function secondsLeft({ finalAt }: Arrival): number | null {
  return finalAt === null ? null : Math.max(0, Math.ceil((finalAt - performance.now()) / 1_000))
}

/** Describes the state of a transfer in one or two sentences. */
export function arrivalWords(context: DepositContext, arrival: Arrival): string {
  const { texts } = context
  const { state, reason, why } = arrival
  if (state === 'credited') {
    const asked = orderOf(context)
    if (asked !== null && countsFor(asked.order, arrival)) return texts.counted
    const symbol = isStray(context, arrival) ? asked?.currency.symbol : undefined
    return texts.creditedHelp + (symbol === undefined ? '' : texts.gap + texts.notCounted(symbol))
  }
  if (state === 'dropped') return texts.droppedHelp
  if (state === 'seen') {
    const seconds = secondsLeft(arrival)
    if (seconds === null) return texts.finalLate
    return seconds > 0 ? texts.finalIn(String(seconds)) : texts.finalNow
  }
  const known = outcomeWords(texts, reason, state === 'refused')
  return (
    known?.help ?? `${state === 'refused' ? texts.askWorthless : texts.heldOperator}${texts.gap}${why ?? ''}`.trim()
  )
}

function createLine(context: DepositContext, key: string, arrival: Arrival): Line {
  const { texts, format } = context
  const { state, created_at: at } = arrival
  const words = html('p', { class: 'words' }, arrivalWords(context, arrival))
  const toFinal = html('span', {})
  const step = (label: Child) => html('li', {}, label)
  const steps = html(
    'ol',
    { class: 'steps', 'aria-hidden': 'true' }, // hidden from screen readers, because the sentence says the same
    ...[step(texts.stepSeen), step(toFinal), step(texts.stepCredited)],
  )
  let current = arrival
  const tick = () => {
    const seconds = state === 'seen' ? secondsLeft(current) : null
    setText(toFinal, seconds === null || seconds === 0 ? texts.stepFinal : texts.stepFinalIn(String(seconds)))
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
      html('strong', { class: 'number' }, arrivalAmount(context, arrival)),
      html('span', { class: 'state' }, stateIcon(state), arrivalState(context, state)),
    ),
    ...(state === 'seen' || state === 'credited' ? [steps] : []),
    words,
    html(
      'p',
      { class: 'meta muted' },
      html('time', { datetime: at }, texts.foundAt(format.time(at))),
      ...transactionPart(context, arrival),
    ),
  )
  return { element, key, show, tick }
}

/** The txid of a transfer, with a button to copy it and a link to the explorer. */
function transactionPart(context: DepositContext, { txid }: Arrival): Child[] {
  const { texts, model } = context
  const short = `${txid.slice(0, 6)}…${txid.slice(-6)}`
  const number = html('span', { class: 'txid', lang: 'en', title: txid }, short)
  const copy = copyButton(
    { class: 'plain', 'aria-label': `${texts.copyTransaction} ${short}` },
    { ...texts, label: texts.copy },
    { element: number, text: txid },
    (result) => context.announce(texts[result]),
  )
  const explorer = model.offer?.explorer ?? null
  const view = explorer === null ? null : explorerLink(explorer, `transaction/${txid}`, texts.viewTransaction)
  return [html('span', {}, `${texts.transaction} `, number, copy), view]
}

/**
 * A link to a page of the block explorer. `words` makes the text of the link from the explorer's
 * host.
 */
export function explorerLink(explorer: string, path: string, words: (name: string) => string): HTMLElement {
  const host = explorer.replace(/^https:\/\/([^/]*).*$/, '$1')
  return linkTo(`${explorer}/${path}`, 'new tab', { class: 'elsewhere' }, words(host), ' ↗')
}
