import { type AuthConfig, type Config, parseConfig } from '../config/config.ts'
import type { ConfigurationSource } from './read-configuration.ts'

/** What of a configuration is right, and a sentence for each thing that is not. */
export interface CheckedConfiguration {
  readonly faults: readonly string[]
  /** What the checks of nodes and tokens need, or null where that part is wrong. */
  readonly chain: Pick<Config, 'chainId' | 'nodes' | 'quorum' | 'currencies'> | null
  readonly auth: AuthConfig | null
}

const authNames: readonly string[] = ['AUTH_JWT_SECRET', 'AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE', 'DEV_UID']
/** What the nodes' checks can do without: a fault here must not hide what is wrong there. */
const besideChain: readonly string[] = [...authNames, 'TRON_XPUB', 'TRON_START_BLOCK', 'CORS_ORIGINS']

/** A valid configuration that nothing is done with, so that one part of a broken one can be checked alone. */
const sound: Readonly<Record<string, unknown>> = {
  // The database is the platform's to bind; no check here reads it.
  DB: { prepare: () => null, batch: () => null },
  // The account of a mnemonic that everybody knows: `test/devnet/dev.vars` has it too.
  TRON_XPUB:
    'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr',
  TRON_CHAIN_ID: '0x1',
  TRON_NODES: [{ rpc: 'https://node.invalid' }],
  CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 6 }],
}

/** Checks all of a configuration at once, and those of its parts alone that can be used where another one is wrong. */
export function checkConfiguration({ values }: ConfigurationSource): CheckedConfiguration {
  const whole = parseConfig({ ...values, DB: sound.DB })
  if (whole.ok) return { faults: [], chain: whole.value, auth: whole.value.auth }
  const chain = parseConfig({ DB: sound.DB, TRON_XPUB: sound.TRON_XPUB, ...without(values, besideChain) })
  const auth = parseConfig({ ...sound, ...only(values, authNames) })
  return {
    faults: whole.error.map((fault) => (isSet(values, fault) ? fault : `${fault} (it is not set)`)),
    chain: chain.ok ? chain.value : null,
    auth: auth.ok ? auth.value.auth : null,
  }
}

/** Whether the variable that a sentence begins with has a value. */
function isSet(values: ConfigurationSource['values'], fault: string): boolean {
  const value = values[fault.split(/[.:]/)[0] ?? '']
  return value !== undefined && value !== ''
}

const only = (values: ConfigurationSource['values'], names: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))

const without = (values: ConfigurationSource['values'], names: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))
