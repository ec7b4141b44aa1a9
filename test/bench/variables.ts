import { SignJWT } from 'jose'
import { backendSecret, testSecret, testXpub, usdtBase58 } from '../support/variables.ts'
import { firstHeight } from './mainnet.ts'

/**
 * The variables of the measured service. `limits` are the nodes' `perSecond` and `perDay`; without
 * them the defaults count. `nodes` are base URLs.
 */
export function serviceVariables(nodes: readonly string[], limits: object = {}): Readonly<Record<string, unknown>> {
  return {
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: '0x2b6653dc',
    TRON_NODES: nodes.map((api) => ({ rpc: `${api}/jsonrpc`, api, ...limits })),
    TRON_START_BLOCK: `${firstHeight}`,
    TRON_FIRST_INDEX: 0,
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 },
    ],
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
  }
}

/** Limits for `serviceVariables` that are so high that no measurement reaches them. */
export const unlimited = { perSecond: 10_000, perDay: 100_000_000 }
/** The URL of a closed port, as the node in measurements that need none. */
export const noNode = 'http://127.0.0.1:9'

/** The authorization header of a user. Its token is valid for a day. */
export async function bearerOf(uid: number): Promise<{ readonly authorization: string }> {
  const token = await new SignJWT({ sub: `${uid}` })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1 day')
    .sign(new TextEncoder().encode(testSecret))
  return { authorization: `Bearer ${token}` }
}
