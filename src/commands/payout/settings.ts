import * as z from 'zod/mini'
import type { Address } from '../../worker/chain/address.ts'
import { isSafeUrl } from '../../worker/common/safe-url.ts'
import { backendAuthSchema, type TokenConfig } from '../../worker/config/auth.ts'
import { assetsSchema, type ChainConfig, chainSchema } from '../../worker/config/chain.ts'
import { feeLimitOf, payoutsSchema } from '../../worker/config/payouts.ts'
import { type Bindings, parseBindings } from '../../worker/config/schemas.ts'
import type { Currencies } from '../../worker/ledger/currencies.ts'
import type { PlaceRef } from '../place.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import type { OwnNodesSetting } from './limits.ts'

/**
 * The settings that a signer reads from the configuration of its own machine. The transactions that
 * it signs depend on no other setting.
 */
export interface SignerSettings {
  readonly chainId: string
  readonly currencies: Currencies
  /** The payout address. */
  readonly address: Address
  /** The most sun that a token transfer may burn. */
  readonly feeLimit: bigint
}

/**
 * The settings of a payout command. `backend` and `chain` parse their part when they are called,
 * because only some commands need it.
 */
export interface CommandSettings {
  readonly settings: SignerSettings
  readonly place: PlaceRef
  /**
   * The keys and claims of backends' tokens. Throws a `ToolError` if they are not configured
   * correctly.
   */
  readonly backend: () => TokenConfig
  /**
   * The nodes in a file of limits (`own`), or with null the configured nodes. Throws a `ToolError`
   * if one is wrong.
   */
  readonly chain: (own: OwnNodesSetting | null) => ChainConfig
}

const localService = 'http://127.0.0.1:8787'
const settingsAdvice =
  'set it on this machine, as for the service: docs/guides/payouts.md says which settings a signer needs'

/**
 * Parses a configuration. Settings that only `backend` or `chain` reads may be missing. Throws a
 * `ToolError` if another setting is wrong or missing.
 */
export function parseSettings({
  values,
  place,
}: {
  readonly values: Bindings
  readonly place: PlaceRef
}): CommandSettings {
  const parse = <T>(schema: z.ZodMiniType<T>): T => {
    const parsed = parseBindings(schema, values)
    if (parsed.ok) return parsed.value
    throw new ToolError(parsed.error.join('; '), settingsAdvice)
  }
  const { chainId, currencies, PAYOUTS } = parse(z.intersection(assetsSchema, payoutsSchema))
  if (PAYOUTS === null) throw new ToolError('PAYOUTS is not set: there are no payouts without it', settingsAdvice)
  return {
    settings: { chainId, currencies, address: PAYOUTS.address, feeLimit: feeLimitOf(PAYOUTS) },
    place,
    backend: () => parse(backendAuthSchema),
    chain: (own) => (own === null ? parse(chainSchema) : parseOwn(own, values)),
  }
}

function parseOwn({ nodes, quorum }: OwnNodesSetting, values: Bindings): ChainConfig {
  const parsed = parseBindings(chainSchema, { ...values, TRON_NODES: nodes, TRON_QUORUM: quorum })
  if (parsed.ok) return parsed.value
  const why = parsed.error.join('; ').replaceAll('TRON_NODES', 'nodes').replaceAll('TRON_QUORUM', 'quorum')
  throw new ToolError(`the file of --limits: ${why}`, 'write its nodes as in TRON_NODES: docs/guides/settings.md')
}

/**
 * The URL of the service, to which backend tokens are sent. Without options it is the URL of a
 * service on this machine.
 */
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
  throw new OptionError('--service: the URL of the service, with https (http only for this machine)')
}
