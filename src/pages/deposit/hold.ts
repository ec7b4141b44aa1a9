import { html, type PageView, setText } from '../kit/dom.ts'
import { type DepositContext, orderOf, orderProgress } from './context.ts'
import { isToPay, summaryText } from './status.ts'

/** In the last minutes of an order the page counts down what is left, in milliseconds. */
const countdownMs = 10 * 60_000

/**
 * Words that say until when an order holds, beside the heading of its address; empty without an
 * order. The tick ends the payment when the order ends, and screen readers hear that.
 */
export function createHold(context: DepositContext): PageView & { tick(): void } {
  const { texts, format, api } = context
  const element = html('span', {})
  let wasToPay = false
  const show = () => {
    const until = orderOf(context)?.order.until
    if (until === undefined) return setText(element, '')
    const leftMs = Date.parse(until) - (api.now() ?? 0)
    setText(element, leftMs > countdownMs ? texts.payBy(format.time(until)) : texts.payWithin(clockText(leftMs)))
  }
  return {
    element,
    update() {
      show()
      const phase = orderProgress(context)?.phase
      if (wasToPay && (phase === 'ended' || phase === 'cancelled')) context.announce(summaryText(context))
      wasToPay = phase === 'waiting' || phase === 'partly'
    },
    tick() {
      if (wasToPay && !isToPay(context)) context.update()
      else show()
    },
  }
}

/** Minutes and seconds, as clocks write them: 9:05. */
function clockText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
