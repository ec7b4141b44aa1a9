import type { Refusal, RefusalKind } from '../kit/api.ts'
import { button, createSlot, html, type PageView, setText } from '../kit/dom.ts'
import { isOnThisMachine } from '../kit/token.ts'
import type { DepositContext } from './context.ts'

/** What the reader can do, where it is more than to wait. */
function nextStep({ common }: DepositContext, kind: RefusalKind): string | null {
  if (kind === 'offline') return common.offlineNext
  return kind === 'unauthorized' ? common.unauthorizedNext : null
}

/** What the reader can do, and that the money is safe. */
export function refusalHelp(context: DepositContext, { kind }: Refusal): string {
  return [nextStep(context, kind), context.texts.safe].filter(Boolean).join(context.texts.gap)
}

/** What happened, what the reader can do, and that the money is safe. */
export function refusalWords(context: DepositContext, refusal: Refusal): string {
  const { common, texts } = context
  return common[refusal.kind] + texts.stop + texts.gap + refusalHelp(context, refusal)
}

/** What stands in the way of new data: at the lower edge of the window, and gone by itself. */
export function createTrouble(context: DepositContext, nextAt: () => number | null): PageView {
  const { model, common, texts } = context
  const element = html('aside', { class: 'trouble', hidden: '' })
  const fill = createSlot(element)
  const countdown = html('p', { class: 'muted' })
  const tick = () => {
    const at = nextAt()
    const seconds = Math.ceil(((at ?? 0) - performance.now()) / 1_000)
    const words = at === null || seconds < 1 ? common.retriesNow : common.retriesIn(String(seconds))
    setText(countdown, model.refusal?.kind === 'unauthorized' ? '' : words)
  }
  const build = () => {
    const { refusal } = model
    if (refusal === null) return []
    context.announce(refusalWords(context, refusal))
    const next = nextStep(context, refusal.kind)
    const isForDeveloper = refusal.kind === 'unauthorized' && isOnThisMachine
    const says = refusal.kind === 'refused' && refusal.msg !== '' ? html('q', { lang: 'en' }, refusal.msg) : null
    const words = [
      html('strong', {}, common[refusal.kind]),
      next && html('p', {}, next),
      says,
      html('p', {}, texts.safe),
      isForDeveloper ? html('p', { class: 'muted' }, common.unauthorizedHere) : null,
    ]
    const isWaiting = refusal.retrySeconds !== null // the service wants no request before
    const again = isWaiting ? null : button({}, common.tryAgain, context.refresh)
    return [html('div', {}, ...words, countdown), again]
  }
  return {
    element,
    update() {
      element.hidden = model.refusal === null
      fill(JSON.stringify([model.refusal?.kind, model.refusal?.msg]), build)
      tick()
    },
    tick,
  }
}
