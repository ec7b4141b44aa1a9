import { decimalText } from '../kit/decimal.ts'
import { framingOrigin } from '../kit/frame.ts'
import { type DepositContext, requestOf } from './context.ts'
import { type Progress, progressOf } from './request.ts'

const states = {
  unpaid: 'waiting',
  'on its way': 'seen',
  'partly paid': 'partly-paid',
  paid: 'paid',
} as const satisfies Record<Progress['state'], string>

/** How far a request is paid, for the framing page. Without an amount, any deposit pays it. */
function stateOf(context: DepositContext): (typeof states)[keyof typeof states] | null {
  const asked = requestOf(context)
  const { arrivals } = context.model
  if (asked === null || arrivals === null) return null
  const { request, currency } = asked
  return states[progressOf(request, request.amount ?? decimalText(1n, currency.scale), currency, arrivals.list).state]
}

/** Makes a function that tells the framing page, if it is of these origins, each new state of what is asked for: a hint, no proof. */
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
