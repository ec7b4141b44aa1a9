import { type Members, readForm, readInteger } from '../kit/read.ts'

/**
 * What the claims of a token say about an order: its reference, or in `fault` what is wrong with
 * them, for the developer of the backend. Both are null without an order.
 */
export interface OrderClaim {
  readonly order: string | null
  readonly fault: string | null
}

/** Reads the claim `order`, which has the form of an `osn`: a text, or a whole number. */
export function readOrderClaim(claims: Members | null): OrderClaim {
  const { order, deposit } = claims ?? {}
  if (deposit !== undefined) {
    const fault =
      'the claim `deposit` is not read: make an order with POST /ledger/orders, and name it in the claim `order`'
    return { order: null, fault }
  }
  if (order === undefined) return { order: null, fault: null }
  try {
    return {
      order: readForm(typeof order === 'number' ? String(readInteger(order)) : order, /^[ -~]{1,200}$/),
      fault: null,
    }
  } catch {
    return { order: null, fault: 'the claim `order` is no text of 1 to 200 ASCII characters' }
  }
}
