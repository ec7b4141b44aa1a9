import type { UnixMs } from '../../src/common/time.ts'
import { lineOf } from '../../src/doctor/check-result.ts'
import type { DoctorPlatform } from '../../src/doctor/node-under-test.ts'
import type { ConfigurationSource } from '../../src/doctor/read-configuration.ts'
import { runChecks } from '../../src/doctor/run-checks.ts'
import { type Devnet, startDevnet, temporary } from '../devnet/chain.ts'
import { tokenBase58 } from '../devnet/control.ts'
import { depositBase58, result } from '../devnet/support.ts'

/** The account of "test … junk", which everybody knows. */
export const publicXpub =
  'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr'
/** A secret for tokens that a person could have made. */
export const goodSecret = 'Qm9f-2xKp7_Vt4wLz8Rb1yHc6Nd3Js5G'
/** What stands in node URLs and key variables here, and must stand in no line. */
export const urlSecret = 'path-secret-7c1f'
export const keySecret = 'key-secret-93ab'

/** Which of the things that no line may show stand in a text. */
export function secretsIn(text: string): string[] {
  const secrets = [urlSecret, keySecret, goodSecret, 'too-short-4f', 'xpub6', 'xprv9', '/jsonrpc']
  return secrets.filter((secret) => text.includes(secret))
}

/** A local chain with deposits in final blocks: TRX and tokens, so that blocks have logs. */
export async function startChain(): Promise<Devnet> {
  const devnet = await startDevnet(temporary)
  await devnet.pay({ to: depositBase58, amount: '3', currency: 'TRX' })
  await devnet.pay({ to: depositBase58, amount: '25', currency: 'USDT' })
  await devnet.mine(3)
  return devnet
}

/** A configuration of this machine that is green on the local chain, but for its single node. */
export function valuesFor({ rpcUrl, apiUrl }: Devnet): Record<string, unknown> {
  return {
    TRON_XPUB: publicXpub,
    TRON_CHAIN_ID: '0x6465766e',
    TRON_NODES: [{ rpc: `${rpcUrl}?key=${urlSecret}`, api: apiUrl, keyVar: 'NODE_KEY' }],
    NODE_KEY: keySecret,
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 6 },
    ],
    AUTH_JWT_SECRET: goodSecret,
  }
}

/** Those values as if they had been read from files. */
export function sourceOf(
  values: Record<string, unknown>,
  more: Partial<ConfigurationSource> = {},
): ConfigurationSource {
  const target = { kind: 'local' } as const
  return { target, values, origin: 'a test', varsFile: '.dev.vars', databaseId: null, ...more }
}

/** A machine whose clock shows the newest block's time plus `aheadMs`: the local chain makes blocks on command only. */
export async function machineAt(devnet: Devnet, aheadMs = 0): Promise<DoctorPlatform> {
  const { timestamp } = await result<{ timestamp: string }>(devnet, 'eth_getBlockByNumber', 'latest', false)
  const difference = Number(timestamp) * 1000 + aheadMs - Date.now()
  const clock = {
    now: () => (Date.now() + difference) as UnixMs, // safe: milliseconds since 1970
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
    random: () => 0.5,
  }
  return { clock, fetch }
}

/** Every line of an examination, with durations as `N ms`. */
export async function linesOf(source: ConfigurationSource, machine: DoctorPlatform): Promise<string[]> {
  const lines: string[] = []
  for await (const finding of runChecks(source, machine)) {
    lines.push(lineOf(finding).replace(/\b\d+ ms\b/g, 'N ms'))
  }
  return lines
}
