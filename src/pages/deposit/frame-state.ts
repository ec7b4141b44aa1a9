import { isZero } from '../kit/decimal.ts'
import { framingOrigin } from '../kit/frame.ts'
import { type DepositContext, orderProgress } from './context.ts'

/** The state of the order, in the words of the message to the framing page. */
type FrameState = 'waiting' | 'seen' | 'partly-paid' | 'paid' | 'expired'

/**
 * The state of the order; null if there is none, or if it is not loaded. `seen`: nothing is
 * credited yet but a deposit is seen in a block that is not final, or credited and seen deposits
 * together are enough. `partly-paid`: a part is credited, and another one is missing. `expired`:
 * nothing more is asked for, also because the order is cancelled.
 */
function stateOf(context: DepositContext): FrameState | null {
  const progress = orderProgress(context)
  if (progress === null) return null
  switch (progress.phase) {
    case 'partly':
      return isZero(progress.credited) ? 'seen' : 'partly-paid'
    case 'coming':
      return 'seen'
    case 'ended':
    case 'cancelled':
      return 'expired'
    default:
      return progress.phase
  }
}

/**
 * Makes a function that tells the framing page each new state of the order, if the framing page is
 * of one of these origins. The message is a hint and proves nothing.
 */
export function createStateTeller(origins: readonly string[]): (context: DepositContext) => void {
  const origin = framingOrigin()
  let told = ''
  return (context) => {
    const state = stateOf(context)
    const message = { type: 'state', order: context.model.session.claim.order, state }
    const text = JSON.stringify(message)
    if (state === null || text === told || origin === null || !origins.includes(origin)) return
    told = text
    window.parent.postMessage(message, origin)
  }
}
