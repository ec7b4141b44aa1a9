import { HDKey } from '@scure/bip32'
import { accountDepth, hardened } from '../../addresses/derive.ts'
import { type Address, parseAddress } from '../../chain/address.ts'
import { parseUnits } from '../../common/amount.ts'
import { type Config, parseConfig } from '../../config/config.ts'
import type { Currency } from '../../ledger/currencies.ts'
import { platformBindings, readConfiguration } from '../doctor/read-configuration.ts'
import { ToolError } from '../keys/terminal.ts'
import type { CollectWishes } from './facts.ts'

/** What a plan is made from: the deployment's configuration and the operator's options. */
export interface CollectSettings extends Pick<CollectWishes, 'mode' | 'min' | 'trxPrice'> {
  readonly config: Config
  /** Account number of the derivation paths. */
  readonly account: number
  readonly to: Address
  readonly gasAddress: Address
  readonly currencies: readonly Currency[]
}

/** The options of a plan, as they were typed. */
export type PlanOptions = Readonly<
  Partial<Record<'to' | 'currency' | 'min' | 'trx-price' | 'gas' | 'gas-from' | 'account', string | undefined>>
>

/** The configuration of a deployment (undefined: this machine). A fault is a `ToolError`. */
export function readDeployment(
  env: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly config: Config; readonly extendedPublicKey: string } {
  const source = readConfiguration(env, environment)
  if (!source.ok) throw new ToolError(source.error)
  const { values } = source.value
  const config = parseConfig({ ...values, ...platformBindings })
  if (!config.ok) throw new ToolError(config.error.join('\n'))
  return { config: config.value, extendedPublicKey: String(values.TRON_XPUB) } // parsed, so it is text
}

/** Reads the options together with the configuration. What is wrong is a `ToolError`. */
export function readSettings(config: Config, extendedPublicKey: string, options: PlanOptions): CollectSettings {
  const to = readAddress('--to', options.to ?? '')
  const { gas: mode = 'delegate' } = options
  if (mode !== 'delegate' && mode !== 'transfer') throw new ToolError('--gas: delegate or transfer')
  const gasAddress = readGasAddress(config, options['gas-from'])
  const account = readAccountNumber(extendedPublicKey, options.account)
  const wanted = options.currency?.split(',')
  const currencies = config.currencies.list.filter(({ symbol }) => wanted?.includes(symbol) ?? true)
  const unknown = wanted?.find((symbol) => !currencies.some((one) => one.symbol === symbol))
  if (unknown !== undefined) throw new ToolError(`--currency: ${unknown} is not a symbol of CURRENCIES`)
  if (new Set(currencies.map(({ symbol }) => symbol)).size < currencies.length) {
    throw new ToolError('two currencies of CURRENCIES have the same symbol: a plan could not distinguish them')
  }
  const min = readAmounts('--min', options.min, currencies)
  const tokens = currencies.filter(({ asset }) => asset.kind === 'trc20')
  const trxPrice = readAmounts('--trx-price', options['trx-price'], tokens)
  if ([...trxPrice.values()].includes(0n)) throw new ToolError('--trx-price: what one TRX costs in the token, above 0')
  return { config, account, to, mode, gasAddress, currencies, min, trxPrice }
}

function readAddress(name: string, given: string): Address {
  const address = parseAddress(given)
  if (address.ok) return address.value
  throw new ToolError(`${name}: a Tron address (34 characters, starts with T)`)
}

/** The gas address must be an operator's: the service would take what any other address sends for a deposit. */
function readGasAddress({ operators }: Config, given: string | undefined): Address {
  const takes = 'the service would credit the gas to users; list the gas address in OPERATOR_ADDRESSES, and deploy'
  const [only] = operators
  if (only === undefined) throw new ToolError(`OPERATOR_ADDRESSES is empty: ${takes}`)
  if (given === undefined) {
    if (operators.size === 1) return only
    throw new ToolError('--gas-from: which address of OPERATOR_ADDRESSES pays for the gas')
  }
  const address = readAddress('--gas-from', given)
  if (operators.has(address)) return address
  throw new ToolError(`${given} is not in OPERATOR_ADDRESSES: ${takes}`)
}

/** The key of an account has its number; that of an external chain does not. */
function readAccountNumber(extendedPublicKey: string, given: string | undefined): number {
  const { depth, index } = HDKey.fromExtendedKey(extendedPublicKey)
  const own = depth === accountDepth ? index - hardened : null
  if (given === undefined) return own ?? 0
  const account = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  if (!(account < hardened)) throw new ToolError('--account: a whole number')
  if (own !== null && own !== account) throw new ToolError(`--account: TRON_XPUB is the key of account ${own}`)
  return account
}

/** `20` for all currencies, or `USDT=20,TRX=5`: whole units. */
function readAmounts(
  name: string,
  given: string | undefined,
  currencies: readonly Currency[],
): ReadonlyMap<string, bigint> {
  const amounts = new Map<string, bigint>()
  for (const part of given?.split(',') ?? []) {
    const [symbol, text] = part.includes('=') ? part.split('=') : [null, part]
    const matching = currencies.filter((one) => symbol === null || one.symbol === symbol)
    if (matching.length === 0) throw new ToolError(`${name}: ${symbol} is not a currency of this plan`)
    for (const currency of matching) {
      const units = parseUnits(text ?? '', currency.decimals)
      if (!units.ok)
        throw new ToolError(`${name}: a decimal such as 20, or one for each currency such as USDT=20,TRX=5`)
      amounts.set(currency.symbol, units.value)
    }
  }
  return amounts
}
