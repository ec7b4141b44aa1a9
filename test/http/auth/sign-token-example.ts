import { SignJWT } from 'jose'

/** A token for one caller, valid for a day. */
export async function signToken(uid: number, secret: string): Promise<string> {
  const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(String(uid)).setExpirationTime('1d')
  return await token.sign(new TextEncoder().encode(secret))
}
