import * as z from 'zod/mini'
import { nativeAsset, trc20Asset } from '../chain/block.ts'
import { parseUnits, trxDecimals } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import { ok } from '../common/result.ts'
import { type Currencies, type Currency, indexCurrencies, symbolPattern } from '../ledger/currencies.ts'
import { type NodeConfig, nodesSchema } from './nodes.ts'
import { addressText, entryOf, hasRepeats, integerFrom, listOf, parsedBy, parsedText } from './schemas.ts'

/** The public networks that this service knows, by chain id. */
const networks = { '0x2b6653dc': 'Tron', '0xcd8690dc': 'Nile' } as const

/**
 * The name of the network with the configured chain id; `local` for an unknown chain id, such as
 * that of a private chain.
 */
export type NetworkName = (typeof networks)[keyof typeof networks] | 'local'

export interface ChainConfig {
  /** The chain id as nodes write it: `0x` and lower-case hex digits without leading zeros. */
  readonly chainId: string
  readonly network: NetworkName
  /** The nodes in the order in which they are used: the first ones first. */
  readonly nodes: readonly NodeConfig[]
  /** The number of nodes that must agree before money is credited. */
  readonly quorum: number
  readonly currencies: Currencies
}

/**
 * The website where people look up transactions and addresses, by network; null if the network has
 * none.
 */
export const explorers: Readonly<Record<NetworkName, string | null>> = {
  Tron: 'https://tronscan.org/#',
  Nile: 'https://nile.tronscan.org/#',
  local: null,
}

const currenciesMax = 50
const scaleByDefault = 6

const symbolExpected = 'a symbol of 1 to 20 letters, digits, "_", "." or "-"'

const nameExpected = 'a name of 1 to 40 characters'

const currencyEntry = entryOf({
  cuy: integerFrom<CurrencyId>(1, 1_000_000),
  symbol: z.string(symbolExpected).check(z.regex(symbolPattern, symbolExpected)),
  name: z.optional(z.string(nameExpected).check(z.regex(/^[^\p{C}]{1,40}$/u, nameExpected))),
  contract: z.optional(addressText('the Tron address of a contract (34 characters, starts with T)')),
  decimals: integerFrom(0, 36),
  scale: z.optional(integerFrom(0, 8)),
  minDeposit: z.optional(z.string('a decimal as text, such as "1.5"')),
  reviewFrom: z.optional(z.string('a decimal as text, such as "10000"')),
  retired: z.optional(z.boolean('true or false')),
})

const currency = parsedBy(
  currencyEntry,
  ({ contract, minDeposit = '0', reviewFrom, retired = false, ...entry }, refuse): Currency => {
    const { decimals, scale = Math.min(decimals, scaleByDefault) } = entry
    const minimum = parseUnits(minDeposit, decimals)
    const review = reviewFrom === undefined ? ok(null) : parseUnits(reviewFrom, decimals)
    if (scale > decimals) return refuse('at most the decimals of the currency', 'scale')
    if (contract === undefined && decimals !== trxDecimals)
      return refuse(`${trxDecimals} for TRX (no contract)`, 'decimals')
    if (!minimum.ok) return refuse(`a decimal of at most ${decimals} places, as text`, 'minDeposit')
    if (!review.ok) return refuse(`a decimal of at most ${decimals} places, as text`, 'reviewFrom')
    const asset = contract === undefined ? nativeAsset : trc20Asset(contract)
    const { name = entry.symbol } = entry
    return Object.freeze({ ...entry, name, asset, scale, minDeposit: minimum.value, reviewFrom: review.value, retired })
  },
)

const currencies = parsedBy(listOf(currency, currenciesMax), (list, refuse) => {
  const assets = list.map(({ asset }) => (asset.kind === 'native' ? 'TRX' : asset.contract))
  if (hasRepeats(list.map(({ cuy }) => cuy))) refuse('duplicate currency: the same cuy is listed twice')
  if (hasRepeats(assets)) refuse('duplicate currency: the same contract (or TRX) is listed twice')
  return Object.freeze(indexCurrencies(list))
})

/**
 * Returns a chain id (`0x` and 1 to 16 hex digits) as nodes write it, in lower case without leading
 * zeros. Returns null for any other text.
 */
export function parseChainId(value: string): string | null {
  return /^0x[0-9a-f]{1,16}$/i.test(value) ? `0x${BigInt(value).toString(16)}` : null
}

const chainId = parsedText('a chain id such as 0x2b6653dc', parseChainId)

const networkOf = (chainId: string): NetworkName =>
  new Map<string, NetworkName>(Object.entries(networks)).get(chainId) ?? 'local'

/**
 * Parses the chain id and the currencies alone, for commands that need neither nodes nor secrets.
 */
export const assetsSchema = parsedBy(
  z.object({ TRON_CHAIN_ID: chainId, CURRENCIES: currencies }),
  ({ TRON_CHAIN_ID: chainId, CURRENCIES: currencies }) => ({ chainId, network: networkOf(chainId), currencies }),
)

/**
 * Parses `ChainConfig`. It is an intersection of two schemas, so that the faults found by both are
 * reported at once.
 */
export const chainSchema = z.intersection(assetsSchema, nodesSchema)
