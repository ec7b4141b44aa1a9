import * as z from 'zod/mini'
import type { Address } from '../../worker/chain/address.ts'
import { backendAuthSchema, type TokenConfig } from '../../worker/config/auth.ts'
import { assetsSchema, type ChainConfig, chainSchema } from '../../worker/config/chain.ts'
import { feeLimitOf, payoutsSchema } from '../../worker/config/payouts.ts'
import { type Bindings, isSafeUrl, parseBindings } from '../../worker/config/schemas.ts'
import type { Currencies } from '../../worker/ledger/currencies.ts'
import type { PlaceRef } from '../place.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import type { OwnNodesSetting } from './limits.ts'

/** The settings that a signer reads from the configuration of its own machine. Its transactions depend on no other setting. */
export interface SignerSettings {
  readonly chainId: string
  readonly currencies: Currencies
  /** The payout address. */
  readonly address: Address
  /** The most sun that a token transfer may burn. */
  readonly feeLimit: bigint
}

/** The settings of a command, and the parts that are parsed only if it needs them. */
export interface CommandSettings {
  readonly settings: SignerSettings
  readonly place: PlaceRef
  /** The keys and claims of backends' tokens. Throws a `ToolError` if they are not configured correctly. */
  readonly backend: () => TokenConfig
  /** The nodes: those in a file of limits (`own`), or else the configured ones. Throws a `ToolError` if one is wrong. */
  readonly chain: (own: OwnNodesSetting | null) => ChainConfig
}

const localService = 'http://127.0.0.1:8787'
const settingsAdvice =
  'set it on this machine, as for the service: docs/guides/payouts.md says which settings a signer needs'

/** Parses a configuration. Settings that only `backend` and `chain` read may be missing. Throws a `ToolError`. */
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

/** The URL of the service to which tokens are sent; on this machine it needs no option. */
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
