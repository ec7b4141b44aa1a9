import { SignJWT } from 'jose'

/** A token for one backend, valid for five minutes. */
export async function signBackendToken(
  name: string,
  secret: string,
  scope = 'ledger:read ledger:post',
): Promise<string> {
  const token = new SignJWT({ scope }).setProtectedHeader({ alg: 'HS256' })
  return await token.setSubject(name).setExpirationTime('5m').sign(new TextEncoder().encode(secret))
}
