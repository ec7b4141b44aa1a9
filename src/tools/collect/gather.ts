import { type Address, formatBase58 } from '../../chain/address.ts'
import { balancesMax } from '../../chain/limits.ts'
import type { Currency } from '../../ledger/currencies.ts'
import { ToolError } from '../keys/terminal.ts'
import type { ListedAddress } from './address-list.ts'
import type { AddressFacts, CollectFacts, GasFacts, TokenHolding } from './facts.ts'
import * as api from './node-api.ts'
import type { CollectNodes } from './nodes.ts'
import type { LeftOut, PlanCurrency } from './plan.ts'
import type { CollectSettings } from './settings.ts'
import { transferParameters } from './transaction.ts'

const unknownWhy = 'the nodes do not agree on the balance: plan again'

/** Progress for the person at the terminal. */
export type OnProgress = (what: string, done: number, of: number) => void

/** An address with the balances that the nodes agree on, in chain units by symbol; null where they do not. */
interface Holder extends ListedAddress {
  readonly balances: Map<string, bigint | null>
}

/** A currency as a plan names it. */
export function planCurrency({ symbol, asset, decimals }: Currency): PlanCurrency {
  return { symbol, contract: asset.kind === 'native' ? null : formatBase58(asset.contract), decimals }
}

/** Asks the nodes about these addresses, the destination and the gas address. Where a plan is impossible it throws a `ToolError`. */
export async function gatherFacts(
  nodes: CollectNodes,
  settings: CollectSettings,
  listed: readonly ListedAddress[],
  onProgress: OnProgress,
): Promise<CollectFacts> {
  await checkDestination(nodes, settings, listed)
  const prices = await api.readPrices(nodes)
  const gas = await readGas(nodes, settings.gasAddress)
  const receivers = await api.readReceivers(nodes, settings.gasAddress)
  const holders = await readHolders(nodes, settings, listed, onProgress)
  const isLent = ({ address }: Holder) => receivers.has(formatBase58(address))
  const wanted = holders.filter((one) => isLent(one) || wantedSymbols(settings, one).length > 0)
  const addresses: AddressFacts[] = []
  for (const one of wanted) {
    addresses.push(await readAddress(nodes, settings, one, isLent(one)))
    onProgress('accounts and energy', addresses.length, wanted.length)
  }
  const unknown = holders.flatMap(({ index, address, balances }) =>
    [...balances].flatMap(([symbol, units]): LeftOut[] => {
      return units === null ? [{ index, address: formatBase58(address), symbol, units: '0', why: unknownWhy }] : []
    }),
  )
  return { addresses, unknown, prices, gas }
}

async function checkDestination(
  nodes: CollectNodes,
  { to, gasAddress }: CollectSettings,
  listed: readonly ListedAddress[],
): Promise<void> {
  if (listed.some(({ address }) => address === to)) throw new ToolError('--to: one of the deposit addresses itself')
  if (listed.some(({ address }) => address === gasAddress))
    throw new ToolError('the gas address is one of the deposit addresses')
  const account = await api.readAccount(nodes, to)
  if (account === null) {
    const advice = 'Compare it; if it is right, send it 1 TRX first'
    throw new ToolError(`--to: this account does not exist on the chain yet. ${advice}`)
  }
  if (account.isContract) throw new ToolError('--to: a contract, which could keep the money for ever')
}

async function readGas(nodes: CollectNodes, address: Address): Promise<GasFacts> {
  const name = formatBase58(address)
  const account = await api.readAccount(nodes, address)
  if (account === null)
    throw new ToolError(`the gas address ${name} does not exist on the chain yet: send it TRX first`)
  if (!account.hasOwnKey) throw new ToolError(`the owner permission of the gas address ${name} names another key`)
  const resources = await api.readResources(nodes, address)
  const delegatable = await api.readDelegatable(nodes, address)
  const { energy, weight } = resources.total
  if (energy === 0 || weight === 0) throw new ToolError('the nodes do not report what a stake gives (TotalEnergyLimit)')
  const perTrx = { energy: BigInt(energy), trx: BigInt(weight) }
  return { address: name, sun: account.sun, resources, delegatable, perTrx }
}

async function readHolders(
  nodes: CollectNodes,
  { currencies }: CollectSettings,
  listed: readonly ListedAddress[],
  onProgress: OnProgress,
): Promise<readonly Holder[]> {
  const holders = listed.map((one): Holder => ({ ...one, balances: new Map() }))
  for (const { symbol, asset } of currencies) {
    for (let from = 0; from < holders.length; from += balancesMax) {
      const part = holders.slice(from, from + balancesMax)
      const read = await nodes.balances(
        part.map(({ address }) => address),
        asset,
      )
      for (const [i, { balances }] of part.entries()) balances.set(symbol, read[i] ?? null)
      onProgress(`balances in ${symbol}`, from + part.length, holders.length)
    }
  }
  return holders
}

function wantedSymbols({ min }: CollectSettings, { balances }: Holder): readonly string[] {
  const isWanted = (symbol: string, units: bigint | null) =>
    units !== null && units > 0n && units >= (min.get(symbol) ?? 0n)
  return [...balances].flatMap(([symbol, units]) => (isWanted(symbol, units) ? [symbol] : []))
}

async function readAddress(
  nodes: CollectNodes,
  settings: CollectSettings,
  holder: Holder,
  isLent: boolean,
): Promise<AddressFacts> {
  const { index, address, balances } = holder
  const account = await api.readAccount(nodes, address)
  const wanted = wantedSymbols(settings, holder)
  const tokens: TokenHolding[] = []
  for (const currency of settings.currencies) {
    const units = balances.get(currency.symbol) ?? 0n
    if (currency.asset.kind === 'native' || !wanted.includes(currency.symbol)) continue
    const parameter = transferParameters(settings.to, units)
    const estimate = await api.estimateTransfer(nodes, { from: address, contract: currency.asset.contract, parameter })
    tokens.push({ currency: planCurrency(currency), units, estimate })
  }
  const native = settings.currencies.find(({ asset }) => asset.kind === 'native')
  const agreedSun = native === undefined ? undefined : balances.get(native.symbol)
  return {
    index,
    address: formatBase58(address),
    sun: agreedSun === undefined ? (account?.sun ?? 0n) : agreedSun,
    tokens,
    resources: account === null ? null : await api.readResources(nodes, address),
    hasOwnKey: account?.hasOwnKey ?? true,
    delegatedBefore: isLent ? await api.readDelegated(nodes, settings.gasAddress, address) : 0n,
  }
}
