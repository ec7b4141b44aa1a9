import { decimalText, isZero } from '../kit/decimal.ts'
import { framingOrigin } from '../kit/frame.ts'
import { type DepositContext, requestOf } from './context.ts'
import { progressOf } from './request.ts'

/** The state of the payment request, in the words of the message to the framing page. */
type FrameState = 'waiting' | 'seen' | 'partly-paid' | 'paid'

/**
 * The state of the payment request; null if there is none. Any deposit pays a request without an
 * amount. `partly-paid`: a part is credited, and credited and seen deposits together are less than
 * the amount. `seen`: nothing is credited yet but a deposit is seen in a block that is not final,
 * or credited and seen deposits together are enough.
 */
function stateOf(context: DepositContext): FrameState | null {
  const asked = requestOf(context)
  const { arrivals } = context.model
  if (asked === null || arrivals === null) return null
  const { request, currency } = asked
  const least = decimalText(1n, currency.scale)
  const { state, credited } = progressOf(request, request.amount ?? least, currency, arrivals.list)
  if (state === 'paid') return state
  if (state === 'unpaid') return 'waiting'
  return state === 'partly paid' && !isZero(credited) ? 'partly-paid' : 'seen'
}

/**
 * Makes a function that tells the framing page each new state of the payment request, if the
 * framing page is of one of these origins. The message is a hint and proves nothing.
 */
export function createStateTeller(origins: readonly string[]): (context: DepositContext) => void {
  const origin = framingOrigin()
  let told = ''
  return (context) => {
    const state = stateOf(context)
    const message = { type: 'state', order: context.model.session.request?.order ?? null, state }
    const text = JSON.stringify(message)
    if (state === null || text === told || origin === null || !origins.includes(origin)) return
    told = text
    window.parent.postMessage(message, origin)
  }
}
