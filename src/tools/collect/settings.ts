import { HDKey } from '@scure/bip32'
import { type Address, parseAddress } from '../../chain/address.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { type Config, parseConfig } from '../../config/config.ts'
import { parseUnits } from '../../common/amount.ts'
import type { Currency } from '../../ledger/currencies.ts'
import { readConfiguration } from '../doctor/read-configuration.ts'
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

/** The options of the command, as they were typed. */
export interface PlanOptions {
  readonly to?: string | undefined
  readonly currency?: string | undefined
  readonly min?: string | undefined
  readonly 'trx-price'?: string | undefined
  readonly gas?: string | undefined
  readonly 'gas-from'?: string | undefined
  readonly account?: string | undefined
}

const hardened = 0x80000000
const accountDepth = 3
/** Only the platform binds the database. */
const database = { prepare: () => null, batch: () => null }

/** The configuration of a deployment (undefined: this machine). The error is one sentence for each wrong value. */
export function readDeployment(
  env: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Result<{ readonly config: Config; readonly extendedPublicKey: string }, string> {
  const source = readConfiguration(env, environment)
  if (!source.ok) return source
  const config = parseConfig({ ...source.value.values, DB: database })
  if (!config.ok) return err(config.error.join('\n'))
  return ok({ config: config.value, extendedPublicKey: String(source.value.values.TRON_XPUB) }) // parsed, so it is text
}

/** Reads the options together with the configuration. The error is one sentence. */
export function readSettings(
  config: Config,
  extendedPublicKey: string,
  options: PlanOptions,
): Result<CollectSettings, string> {
  const to = parseAddress(options.to ?? '')
  if (!to.ok) return err('--to: a Tron address (34 characters, starts with T)')
  const { gas: mode = 'delegate' } = options
  if (mode !== 'delegate' && mode !== 'transfer') return err('--gas: delegate or transfer')
  const gasAddress = readGasAddress(config, options['gas-from'])
  if (!gasAddress.ok) return gasAddress
  const account = readAccountNumber(extendedPublicKey, options.account)
  if (!account.ok) return account
  const wanted = options.currency?.split(',')
  const currencies = config.currencies.list.filter(({ symbol }) => wanted?.includes(symbol) ?? true)
  const unknown = wanted?.find((symbol) => !currencies.some((one) => one.symbol === symbol))
  if (unknown !== undefined) return err(`--currency: ${unknown} is not a symbol of CURRENCIES`)
  if (new Set(currencies.map(({ symbol }) => symbol)).size < currencies.length) {
    return err('two currencies of CURRENCIES have the same symbol: a plan could not tell them apart')
  }
  const min = readAmounts('--min', options.min, currencies)
  if (!min.ok) return min
  const tokens = currencies.filter(({ asset }) => asset.kind === 'trc20')
  const trxPrice = readAmounts('--trx-price', options['trx-price'], tokens)
  if (!trxPrice.ok) return trxPrice
  if ([...trxPrice.value.values()].includes(0n)) return err('--trx-price: what one TRX costs in the token, above 0')
  const amounts = { min: min.value, trxPrice: trxPrice.value }
  return ok({
    config,
    account: account.value,
    to: to.value,
    mode,
    gasAddress: gasAddress.value,
    currencies,
    ...amounts,
  })
}

/** The gas address must be an operator's: the service would take what any other address sends for a deposit. */
function readGasAddress({ operators }: Config, given: string | undefined): Result<Address, string> {
  const takes = 'the service would credit the gas to users; list the gas address in OPERATOR_ADDRESSES, and deploy'
  const [only] = operators
  if (only === undefined) return err(`OPERATOR_ADDRESSES is empty: ${takes}`)
  if (given === undefined) {
    return operators.size === 1 ? ok(only) : err('--gas-from: which address of OPERATOR_ADDRESSES pays for the gas')
  }
  const address = parseAddress(given)
  if (!address.ok) return err('--gas-from: a Tron address (34 characters, starts with T)')
  return operators.has(address.value) ? address : err(`${given} is not in OPERATOR_ADDRESSES: ${takes}`)
}

/** The key of an account has its number; that of an external chain does not. */
function readAccountNumber(extendedPublicKey: string, given: string | undefined): Result<number, string> {
  const { depth, index } = HDKey.fromExtendedKey(extendedPublicKey)
  const own = depth === accountDepth ? index - hardened : null
  if (given === undefined) return ok(own ?? 0)
  const account = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  if (!(account < hardened)) return err('--account: a whole number')
  return own === null || own === account ? ok(account) : err(`--account: TRON_XPUB is the key of account ${own}`)
}

/** `20` for all currencies, or `USDT=20,TRX=5`: whole units. */
function readAmounts(
  name: string,
  given: string | undefined,
  currencies: readonly Currency[],
): Result<ReadonlyMap<string, bigint>, string> {
  const amounts = new Map<string, bigint>()
  for (const part of given?.split(',') ?? []) {
    const [symbol, text] = part.includes('=') ? part.split('=') : [null, part]
    const matching = currencies.filter((one) => symbol === null || one.symbol === symbol)
    if (matching.length === 0) return err(`${name}: ${symbol} is not a currency of this plan`)
    for (const currency of matching) {
      const units = parseUnits(text ?? '', currency.decimals)
      if (!units.ok) return err(`${name}: a decimal such as 20, or one for each currency such as USDT=20,TRX=5`)
      amounts.set(currency.symbol, units.value)
    }
  }
  return ok(amounts)
}
