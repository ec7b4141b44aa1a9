import { CompactSign, type CryptoKey } from 'jose'

/** The members of a payout that are proven: exactly these, `amt` as text. */
interface Proven {
  readonly uid: number
  readonly cuy: number
  readonly amt: string
  readonly to: string
  readonly osn: string
}

/** `proof` of a payout, by a private key of the backend (Ed25519). */
export async function provePayout({ uid, cuy, amt, to, osn }: Proven, key: CryptoKey): Promise<string> {
  const content = new TextEncoder().encode(JSON.stringify({ uid, cuy, amt, to, osn }))
  return await new CompactSign(content).setProtectedHeader({ alg: 'EdDSA' }).sign(key)
}
