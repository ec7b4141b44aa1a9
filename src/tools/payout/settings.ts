import * as z from 'zod/mini'
import { type Address, formatBase58 } from '../../chain/address.ts'
import { backendAuthSchema, type TokenConfig } from '../../config/auth.ts'
import { assetsSchema, type ChainConfig, chainSchema } from '../../config/chain.ts'
import { feeLimitOf, payoutsSchema } from '../../config/payouts.ts'
import { isSafeUrl, parseBindings } from '../../config/schemas.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { environmentOf, readConfiguration } from '../configuration.ts'
import { orStop, ToolError } from '../tool-error.ts'

/** What a signer takes from the configuration of its own machine. A transaction is made of nothing else of it. */
export interface SignerSettings {
  readonly chainId: string
  readonly currencies: Currencies
  /** What payouts are paid from. */
  readonly address: Address
  /** Sun that a token's transfer may burn. */
  readonly feeLimit: bigint
}

/** The settings of a command, and what it can ask with them. */
export interface CommandSettings {
  readonly settings: SignerSettings
  /** What the command acts on, in one line for people. */
  readonly summary: string
  /** How a backend is known to the service. */
  readonly backend: () => TokenConfig
  /** The nodes. */
  readonly chain: () => ChainConfig
}

const localService = 'http://127.0.0.1:8787'

/** Reads the configuration that the options name. Nothing of it that this command does not use needs to be set. */
export function readCommandSettings(options: {
  readonly production: boolean
  readonly env?: string | undefined
}): CommandSettings {
  const env = environmentOf(options)
  const { values, origin } = orStop(readConfiguration(env, process.env))
  const parse = <T>(schema: z.ZodMiniType<T>): T => {
    const parsed = parseBindings(schema, values)
    if (parsed.ok) return parsed.value
    throw new ToolError(parsed.error.join('\n'))
  }
  const { chainId, network, currencies, PAYOUTS } = parse(z.intersection(assetsSchema, payoutsSchema))
  if (PAYOUTS === null) throw new ToolError('PAYOUTS is not set: there are no payouts without it')
  const { address } = PAYOUTS
  const place = env === undefined ? 'this machine' : env || 'production'
  return {
    settings: { chainId, currencies, address, feeLimit: feeLimitOf(PAYOUTS) },
    summary: `Acts on ${place} (${origin}): chain ${chainId} (${network}), payouts from ${formatBase58(address)}`,
    backend: () => parse(backendAuthSchema),
    chain: () => parse(chainSchema),
  }
}

/** The URL of the service: on this machine without an option. A token is sent there. */
export function readServiceUrl({
  service,
  env,
  production,
}: {
  readonly service?: string | undefined
  readonly env?: string | undefined
  readonly production: boolean
}): string {
  const url = service ?? (production || env !== undefined ? undefined : localService)
  if (url !== undefined && isSafeUrl(url) && !/[?#]/.test(url)) return url.replace(/\/+$/, '')
  throw new ToolError('--service: the URL of the service, with https (http only for this machine)')
}
