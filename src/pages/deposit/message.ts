import { type Child, createSlot, html, type PageView, setText } from '../kit/dom.ts'
import { isOnThisMachine } from '../kit/token.ts'
import { currencyWith, type DepositContext, latenessText, orderBack, orderOf } from './context.ts'
import { isCreditable } from './data.ts'
import { refusalTitle } from './refusal.ts'
import { backLink, isToPay, visitedOf } from './status.ts'

type Obstacle = 'ended' | 'unconfigured' | 'unreadable' | 'unknown' | 'missing'

/** Why the page cannot be shown at all; null if it can. */
export function obstacleOf(context: DepositContext): Obstacle | null {
  const { refusal, offer, address, order, session } = context.model
  if (refusal?.kind === 'unauthorized') return 'ended'
  if (refusal?.reason === 'not-configured') return 'unconfigured'
  if (session.claim.fault !== null) return 'unreadable'
  if (order === 'unknown') return 'unknown'
  return refusal !== null && (offer === null || address === null) ? 'missing' : null
}

/**
 * The message that is shown in place of the whole page while there is an obstacle. After the end of
 * a session the last state stays below it.
 */
export function createObstacle(context: DepositContext, nextAt: () => number | null): PageView {
  const { model, texts } = context
  const element = html('section', { class: 'card obstacle' })
  const fill = createSlot(element)
  const next = createCountdown(context, nextAt)
  return {
    element,
    update() {
      const obstacle = obstacleOf(context)
      element.hidden = obstacle === null
      fill(JSON.stringify([obstacle, model.refusal?.kind, model.session.claim, orderBack(context)]), () => {
        if (obstacle === null) return []
        const parts = obstacleParts(context, obstacle, next.element)
        const [title = '', ...lines] = parts.map((one) => (one instanceof Node ? one.textContent : ''))
        context.announce([title + texts.stop, ...lines].join(texts.gap))
        return parts
      })
      next.tick()
    },
    tick: next.tick,
  }
}

function obstacleParts(context: DepositContext, obstacle: Obstacle, next: HTMLElement) {
  const { model, texts } = context
  const { refusal, session } = model
  const back = orderBack(context)
  const link = back === null ? null : html('p', {}, backLink(context, back, true))
  const says = (title: string, ...lines: readonly string[]): Child[] => [
    html('h2', {}, title),
    ...lines.map((line) => html('p', {}, line)),
  ]
  switch (obstacle) {
    case 'ended': {
      const here = isOnThisMachine ? html('p', { class: 'muted' }, texts.endedHere) : null
      return [...says(texts.ended, texts.endedHelp, texts.safe), link, here]
    }
    case 'unreadable':
      // biome-ignore lint/suspicious/noConsole: nothing else tells a backend's developer
      console.warn(`The order in the token cannot be read: ${session.claim.fault}`)
      return says(texts.unreadable, texts.unreadableHelp, texts.safe)
    case 'unknown':
      return says(texts.unknownOrder, texts.unknownOrderHelp, texts.safe)
    case 'unconfigured':
      return says(texts.unconfigured, texts.unconfiguredHelp)
    case 'missing': {
      const cause = refusal === null ? '' : refusalTitle(context, refusal)
      return [...says(texts.notYet, texts.notYetHelp, texts.safe), html('p', { class: 'muted' }, cause), next]
    }
  }
}

/**
 * A notice that says why the shown data is old, or that the network is late. Hidden if neither is
 * so.
 */
export function createNotice(context: DepositContext, nextAt: () => number | null): PageView {
  const { model, texts } = context
  const element = html('div', { class: 'notice' })
  const fill = createSlot(element)
  const next = createCountdown(context, nextAt)
  let said = ''
  return {
    element,
    update() {
      const { refusal, offer } = model
      const late = offer?.late ?? null
      const kind = refusal !== null ? 'trouble' : late !== null ? 'late' : ''
      const lateTitle = late === null ? '' : texts.late(latenessText(context, late))
      const title = refusal === null ? lateTitle : refusalTitle(context, refusal) + texts.stop
      const help = refusal === null ? texts.lateHelp : texts.safe
      if (kind !== said && kind !== '') context.announce(`${title}${texts.gap}${help}`)
      said = kind
      element.dataset.kind = kind
      element.hidden = kind === ''
      fill(JSON.stringify([kind, title]), () => {
        const words = html('p', {}, html('strong', {}, title), texts.gap, help)
        return kind === '' ? [] : [words, refusal === null ? null : next.element]
      })
      next.tick()
    },
    tick: next.tick,
  }
}

/**
 * Says that the page waits for a payment. Hidden once something has arrived, when no payment is
 * expected, or while a notice says more.
 */
export function createWaiting(context: DepositContext): PageView {
  const element = html('p', { class: 'waiting' }, context.texts.waiting)
  return {
    element,
    update() {
      const { address, chosen, refusal, offer } = context.model
      const isTold = refusal !== null || (offer?.late ?? null) !== null // then the notice says more than this line
      const currency = orderOf(context)?.currency ?? currencyWith(context, chosen ?? Number.NaN)
      const isExpected = isToPay(context) && visitedOf(context).length === 0 && !isTold
      element.hidden = address === null || currency === null || !isCreditable(currency) || !isExpected
    },
  }
}

/** The line that counts the seconds down to the page's next request. */
function createCountdown({ texts }: DepositContext, nextAt: () => number | null) {
  const element = html('p', { class: 'muted' })
  const tick = () => {
    const at = nextAt()
    const seconds = Math.ceil(((at ?? 0) - performance.now()) / 1_000)
    setText(element, at === null || seconds < 1 ? texts.retriesNow : texts.retriesIn(String(seconds)))
  }
  return { element, tick }
}
