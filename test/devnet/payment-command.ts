import { SignJWT } from 'jose'

/** A token of a backend for the next hour. */
export async function localBackendToken(secret: string): Promise<string> {
  const token = new SignJWT({ scope: 'ledger:read ledger:post' }).setProtectedHeader({ alg: 'HS256' })
  return await token.setSubject('shop').setExpirationTime('1h').sign(new TextEncoder().encode(secret))
}

/** A command that posts a payment of 2.5 USDT of user 1 to the service at `base`. */
export function paymentCommand(base: string, token: string): string {
  const entry = { uid: 1, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5', mark: 'two cups' }
  const headers = `-H 'authorization: Bearer ${token}' -H 'content-type: application/json'`
  return `curl ${base}/ledger/entries ${headers} -d '${JSON.stringify({ entries: [entry] })}'`
}
