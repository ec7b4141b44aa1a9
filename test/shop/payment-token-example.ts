import { SignJWT } from 'jose'

/** Who pays an order: the user's number and the name that the page shows. */
export interface Buyer {
  readonly uid: number
  readonly name: string
}

/** A token for the buyer, valid for a day, with which the deposit page asks for this order. */
export async function signPaymentToken({ uid, name }: Buyer, order: string, secret: string): Promise<string> {
  const token = new SignJWT({ name, order }).setProtectedHeader({ alg: 'HS256' })
  return await token.setSubject(String(uid)).setExpirationTime('1d').sign(new TextEncoder().encode(secret))
}
