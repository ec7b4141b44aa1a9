import { SignJWT } from 'jose'
import { backendSecret, testSecret, testXpub, usdtBase58 } from '../support/variables.ts'
import { firstHeight } from './block-templates.ts'

/** The variables of the measured service. `nodes` are the base URLs of its nodes. */
export function serviceVariables(nodes: readonly string[]): Readonly<Record<string, unknown>> {
  return {
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: '0x2b6653dc',
    TRON_NODES: nodes.map((api) => ({ rpc: `${api}/jsonrpc`, api })),
    TRON_START_BLOCK: `${firstHeight}`,
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 },
    ],
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
    SCAN_EVERY_SECONDS: 60, // one tick in an invocation of the cron
  }
}

/** A closed port, for figures that need no node. */
export const noNode = 'http://127.0.0.1:9'

/** The authorization header of a user, valid for a day. */
export async function bearerOf(uid: number): Promise<{ readonly authorization: string }> {
  const token = await new SignJWT({ sub: `${uid}` })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1 day')
    .sign(new TextEncoder().encode(testSecret))
  return { authorization: `Bearer ${token}` }
}
