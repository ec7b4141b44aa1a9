import { SignJWT } from 'jose'

/** A token for one backend, valid for five minutes. */
export async function signBackendToken(name: string, secret: string): Promise<string> {
  const token = new SignJWT({ scope: 'ledger:read ledger:post' }).setProtectedHeader({ alg: 'HS256' })
  return await token.setSubject(name).setExpirationTime('5m').sign(new TextEncoder().encode(secret))
}
