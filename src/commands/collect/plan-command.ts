import { HDKey } from '@scure/bip32'
import { accountDepth, hardened } from '../../worker/addresses/derive.ts'
import { type Address, formatBase58, parseAddress } from '../../worker/chain/address.ts'
import { parseUnits } from '../../worker/common/amount.ts'
import { formatInstant, hourMs, type UnixMs } from '../../worker/common/time.ts'
import type { Config } from '../../worker/config/config.ts'
import type { Currency } from '../../worker/ledger/currencies.ts'
import { readFinalizedHead } from '../../worker/tron/finalized-head.ts'
import { writeNewFile } from '../files.ts'
import { type AgreedNodes, openNodes, type StoppablePlatform } from '../nodes.ts'
import { environmentOf, optionOf } from '../place.ts'
import type { Terminal } from '../signing/terminal.ts'
import { openDeployment } from '../target.ts'
import { OptionError, orStop, ToolError } from '../tool-error.ts'
import { type CollectOptions, createProgress } from './command-line.ts'
import {
  type CollectSettings,
  gatherFacts,
  type ListedAddress,
  type OnProgress,
  planCurrency,
  readIssuedAddresses,
  scanAddresses,
  wholeRange,
} from './gather.ts'
import { noStops } from './issuer-stops.ts'
import { decideSteps } from './make-plan.ts'
import { type CollectPlan, planHeader, planHoursMax } from './plan.ts'
import { planSummary, planTable } from './tables.ts'

/**
 * Hours for which a plan is valid by default. The reference block of its transactions stays valid
 * for longer: 65,536 blocks, about 54 hours.
 */
const planHoursDefault = 12

/** `collect -- plan`: writes a plan and shows it. It uses no key. Returns the exit code. */
export async function runPlan(
  values: CollectOptions,
  terminal: Terminal,
  platform: StoppablePlatform,
): Promise<number> {
  const env = environmentOf(values)
  const hours = readInteger('--hours', values.hours, planHoursDefault, 1, planHoursMax)
  const from = readInteger('--from-index', values['from-index'], wholeRange.from, 0, wholeRange.to)
  const to = readInteger('--to-index', values['to-index'], wholeRange.to, from, wholeRange.to)
  const { config, extendedPublicKey, place } = openDeployment(env, values.cell, terminal.print)
  const settings = readSettings(config, extendedPublicKey, values)
  const nodes = openNodes(config, platform)
  const onProgress = createProgress(process.stderr)
  const scan = () => scanAddresses(nodes, config, { from, to }, (done) => onProgress('indices scanned', done, done))
  const { listed, stopOf } = values.scan
    ? { listed: await scan(), stopOf: noStops }
    : await readIssuedAddresses(config, place, { from, to })
  const plan = await createPlan(nodes, { ...settings, stopOf }, listed, hours, onProgress)
  for (const line of planTable(plan)) terminal.print(line)
  if (plan.steps.length === 0) {
    terminal.print('There is nothing to collect: no file was written.')
    return 0
  }
  for (const line of planSummary(plan)) terminal.print(line)
  const path = values.out ?? `collect-plan-${plan.createdAt.replace(/[:.]/g, '-')}.json`
  await writeNewFile(path, plan)
  terminal.print(
    `\nWritten to ${path}. Next, on the machine with the mnemonic: npm run collect -- sign ${path}${optionOf(place)}`,
  )
  return 0
}

/**
 * Makes a plan for these addresses. Its transactions are valid for `hours`. It asks nodes and needs
 * no key. Throws a `ToolError` if no plan is possible.
 */
export async function createPlan(
  nodes: AgreedNodes,
  settings: CollectSettings,
  listed: readonly ListedAddress[],
  hours: number,
  onProgress: OnProgress,
): Promise<CollectPlan> {
  const { addresses, leftOut: stays, prices, gas } = await gatherFacts(nodes, settings, listed, onProgress)
  const { header: head } = await nodes.read((session) => readFinalizedHead(session, null))
  const { height, hash, timestamp: newest } = head
  const now = nodes.clock.now()
  const { mode, gasAddress } = settings
  const header = {
    to: formatBase58(settings.to),
    gas: { mode, address: formatBase58(gasAddress) },
    reference: { height, hash },
    timestamp: now,
    // by the newest block or by the clock, whichever is earlier: the clock of this machine may be
    // fast
    expiration: Math.min(newest, now) + hours * hourMs,
    currencies: settings.currencies.map(planCurrency),
  }
  const { steps, leftOut } = orStop(
    decideSteps(header, addresses, settings, prices, gas),
    'send it TRX, or narrow the plan (--currency, --min, --from-index, --to-index)',
  )
  return {
    ...planHeader,
    chainId: settings.config.chainId,
    createdAt: formatInstant(now),
    expiresAt: formatInstant(header.expiration as UnixMs), // safe: milliseconds since 1970
    account: settings.account,
    ...header,
    steps,
    leftOut: [...leftOut, ...stays],
  }
}

/** The options that describe a plan, as typed. */
export type PlanOptions = Readonly<
  Partial<Record<'to' | 'currency' | 'min' | 'trx-price' | 'gas' | 'gas-from' | 'account', string | undefined>>
>

/**
 * Parses the options together with the configuration. Throws an `OptionError`, or a `ToolError`
 * about the configuration.
 */
export function readSettings(
  config: Config,
  extendedPublicKey: string,
  options: PlanOptions,
): Omit<CollectSettings, 'stopOf'> {
  const to = readAddress('--to', options.to ?? '')
  const { gas: mode = 'delegate' } = options
  if (mode !== 'delegate' && mode !== 'transfer') throw new OptionError('--gas: delegate or transfer')
  const gasAddress = readGasAddress(config, options['gas-from'])
  const account = readAccountNumber(extendedPublicKey, options.account)
  const wanted = options.currency?.split(',')
  const currencies = config.currencies.list.filter(({ symbol }) => wanted?.includes(symbol) ?? true)
  const unknown = wanted?.find((symbol) => !currencies.some((one) => one.symbol === symbol))
  if (unknown !== undefined) {
    const known = config.currencies.list.map(({ symbol }) => symbol).join(', ')
    throw new OptionError(`--currency: ${unknown} is not a symbol of CURRENCIES (${known})`)
  }
  if (new Set(currencies.map(({ symbol }) => symbol)).size < currencies.length) {
    throw new ToolError(
      'two currencies of CURRENCIES have the same symbol: a plan could not distinguish them',
      'give them different symbols in CURRENCIES, or name one that has its own with --currency',
    )
  }
  const min = readAmounts('--min', options.min, currencies)
  const tokens = currencies.filter(({ asset }) => asset.kind === 'trc20')
  const trxPrice = readAmounts('--trx-price', options['trx-price'], tokens)
  if ([...trxPrice.values()].includes(0n)) {
    throw new OptionError('--trx-price: what one TRX costs in the token, above 0')
  }
  return { config, account, to, mode, gasAddress, currencies, min, trxPrice }
}

function readInteger(name: string, given: string | undefined, byDefault: number, min: number, max: number): number {
  if (given === undefined) return byDefault
  const value = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  if (value >= min && value <= max) return value
  throw new OptionError(`${name}: a whole number from ${min} to ${max}`)
}

function readAddress(name: string, given: string): Address {
  const address = parseAddress(given)
  if (address.ok) return address.value
  throw new OptionError(`${name}: a Tron address (34 characters, starts with T)`)
}

/**
 * The gas address must be one of the operator's, because the service would credit TRX from any
 * other address to a user.
 */
function readGasAddress({ operators, payouts }: Config, given: string | undefined): Address {
  const why = 'the service would credit the gas to users'
  const next = 'list the gas address in OPERATOR_ADDRESSES, and deploy'
  // `operators` includes the payout address
  const candidates = [...operators].filter((address) => address !== payouts?.address)
  const [only] = candidates
  if (only === undefined) throw new ToolError(`OPERATOR_ADDRESSES has no address for gas: ${why}`, next)
  if (given === undefined) {
    if (candidates.length === 1) return only
    throw new OptionError('--gas-from: which address of OPERATOR_ADDRESSES pays for the gas')
  }
  const address = readAddress('--gas-from', given)
  if (address === payouts?.address) {
    throw new ToolError(
      `--gas-from: ${given} is the address of PAYOUTS, which pays nothing but payouts: gas from it would stop them`,
      'name another address of OPERATOR_ADDRESSES',
    )
  }
  if (candidates.includes(address)) return address
  throw new ToolError(`${given} is not in OPERATOR_ADDRESSES: ${why}`, next)
}

/**
 * The account number of the extended public key. An account key (depth 3) contains it. For the key
 * of an external chain (depth 4), `--account` gives the number, by default 0.
 */
function readAccountNumber(extendedPublicKey: string, given: string | undefined): number {
  const { depth, index } = HDKey.fromExtendedKey(extendedPublicKey)
  const ofKey = depth === accountDepth ? index - hardened : null
  const account = readInteger('--account', given, ofKey ?? 0, 0, hardened - 1)
  if (ofKey !== null && ofKey !== account) throw new OptionError(`--account: TRON_XPUB is the key of account ${ofKey}`)
  return account
}

/**
 * Parses `20` (for all currencies) or `USDT=20,TRX=5`, decimals in whole units. The result has
 * smallest units by symbol.
 */
function readAmounts(
  name: string,
  given: string | undefined,
  currencies: readonly Currency[],
): ReadonlyMap<string, bigint> {
  const amounts = new Map<string, bigint>()
  for (const part of given?.split(',') ?? []) {
    const [symbol, text] = part.includes('=') ? part.split('=') : [null, part]
    const matching = currencies.filter((one) => symbol === null || one.symbol === symbol)
    if (matching.length === 0) throw new OptionError(`${name}: ${symbol} is not a currency of this plan`)
    for (const currency of matching) {
      const units = parseUnits(text ?? '', currency.decimals)
      if (!units.ok)
        throw new OptionError(`${name}: a decimal such as 20, or one for each currency such as USDT=20,TRX=5`)
      amounts.set(currency.symbol, units.value)
    }
  }
  return amounts
}
