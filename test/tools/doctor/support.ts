import { ok } from '../../../src/common/result.ts'
import type { UnixMs } from '../../../src/common/time.ts'
import type { ConfigurationSource } from '../../../src/tools/configuration.ts'
import type { ReadStored } from '../../../src/tools/database.ts'
import { lineOf } from '../../../src/tools/doctor/check-settings.ts'
import { type DoctorPlatform, runChecks } from '../../../src/tools/doctor/run-checks.ts'
import { type Devnet, startDevnet, temporary } from '../../devnet/chain.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { depositBase58, result as resultOf } from '../../devnet/support.ts'
import { testXpub } from '../../support/variables.ts'
import { noLimits } from '../collect/harness.ts'

/** A realistic `AUTH_JWT_SECRET`. */
export const goodSecret = 'Qm9f-2xKp7_Vt4wLz8Rb1yHc6Nd3Js5G'
/** Part of the URLs of nodes. No line may contain it. */
export const urlSecret = 'path-secret-7c1f'
/** The API key of a node. No line may contain it. */
export const keySecret = 'key-secret-93ab'

/** The secrets that a text contains. */
export function secretsIn(text: string): string[] {
  const secrets = [urlSecret, keySecret, goodSecret, 'too-short-4f', 'xpub6', 'xprv9', '/jsonrpc']
  return secrets.filter((secret) => text.includes(secret))
}

/** A local chain whose final blocks have a TRX deposit and a token deposit, so that there are logs. */
export async function startChain(): Promise<Devnet> {
  const devnet = await startDevnet(temporary)
  await devnet.pay({ to: depositBase58, amount: '3', currency: 'TRX' })
  await devnet.pay({ to: depositBase58, amount: '25', currency: 'USDT' })
  await devnet.mine(3)
  return devnet
}

/** A valid configuration of this machine for the local chain. Its single node is the only warning. */
export function valuesFor({ rpcUrl, apiUrl }: Devnet): Record<string, unknown> {
  return {
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: '0x6465766e',
    TRON_NODES: [{ rpc: `${rpcUrl}?key=${urlSecret}`, api: apiUrl, keyVar: 'NODE_KEY', ...noLimits }],
    NODE_KEY: keySecret,
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 6 },
    ],
    AUTH_JWT_SECRET: goodSecret,
  }
}

/** Values in the form in which they are read from files. */
export function sourceOf(
  values: Record<string, unknown>,
  more: Partial<ConfigurationSource> = {},
): ConfigurationSource {
  return {
    isDeployment: false,
    values,
    origin: 'a test',
    varsFile: '.dev.vars',
    database: 'missing',
    objectFaults: [],
    ...more,
  }
}

/** A database with one address and no stored settings. */
const storedFirst: ReadStored = async () => ok({ settings: [], lastIndex: 0 })

/** A platform whose clock is `aheadMs` ahead of the newest block: the local chain makes blocks only on command. */
export async function platformAt(devnet: Devnet, aheadMs = 0, readStored = storedFirst): Promise<DoctorPlatform> {
  const { timestamp } = await resultOf<{ timestamp: string }>(devnet, 'eth_getBlockByNumber', 'latest', false)
  const difference = Number(timestamp) * 1000 + aheadMs - Date.now()
  const clock = {
    now: () => (Date.now() + difference) as UnixMs, // safe: milliseconds since 1970
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
    random: () => 0.5,
  }
  return { clock, fetch, readStored }
}

/** The lines that the doctor prints, with `N ms` in place of durations. */
export async function linesOf(source: ConfigurationSource, platform: DoctorPlatform): Promise<string[]> {
  const lines: string[] = []
  for await (const result of runChecks(source, platform)) {
    lines.push(lineOf(result).replace(/\b\d+ ms\b/g, 'N ms'))
  }
  return lines
}
