import { SignJWT } from 'jose'

/**
 * What a shop knows of an order. `amount` is a decimal of whole units as text. `since` is the time
 * of the order in seconds since 1970.
 */
export interface Order {
  readonly id: string
  readonly uid: number
  readonly buyer: string
  readonly amount: string
  readonly since: number
}

/**
 * A token for the buyer, valid for a day, with which the deposit page asks for this order to be
 * paid in USDT.
 */
export async function signPaymentToken(order: Order, shop: string, secret: string): Promise<string> {
  const { id, uid, buyer, amount, since } = order
  const deposit = { cuy: 2, amt: amount, order: id, since, return: `${shop}/orders/${id}` }
  const token = new SignJWT({ name: buyer, deposit }).setProtectedHeader({ alg: 'HS256' })
  return await token.setSubject(String(uid)).setExpirationTime('1d').sign(new TextEncoder().encode(secret))
}
