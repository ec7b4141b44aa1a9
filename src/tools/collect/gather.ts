import { type Address, formatBase58 } from '../../chain/address.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { Currency } from '../../ledger/currencies.ts'
import type { ListedAddress } from './address-list.ts'
import { readAgreedBalances } from './agreed-balances.ts'
import type { AddressFacts, ChainPrices, GasFacts, TokenHolding, UnknownBalance } from './facts.ts'
import type { CollectNodes } from './node-access.ts'
import {
  estimateTransfer,
  readAccount,
  readDelegatable,
  readDelegated,
  readPrices,
  readReceivers,
  readResources,
} from './node-api.ts'
import type { PlanCurrency } from './plan.ts'
import type { CollectSettings } from './settings.ts'
import { transferParameters } from './transaction.ts'

/** Everything that a plan is decided from. */
export interface CollectFacts {
  readonly addresses: readonly AddressFacts[]
  readonly unknown: readonly UnknownBalance[]
  readonly prices: ChainPrices
  readonly gas: GasFacts
}

/** Progress for the person at the terminal. */
export type OnProgress = (what: string, done: number, of: number) => void

/** A currency as a plan names it. */
export function planCurrency({ symbol, asset, decimals }: Currency): PlanCurrency {
  return { symbol, contract: asset.kind === 'native' ? null : formatBase58(asset.contract), decimals }
}

/** Asks the nodes about these addresses, the destination and the gas address. The error is one sentence. */
export async function gatherFacts(
  nodes: CollectNodes,
  settings: CollectSettings,
  listed: readonly ListedAddress[],
  onProgress: OnProgress,
): Promise<Result<CollectFacts, string>> {
  const wrong = await checkDestination(nodes, settings, listed)
  if (wrong !== null) return err(wrong)
  const prices = await readPrices(nodes)
  if (!prices.ok) return prices
  const gas = await readGas(nodes, settings.gasAddress)
  if (!gas.ok) return gas
  const receivers = await readReceivers(nodes, settings.gasAddress)
  if (!receivers.ok) return receivers
  const holdings = await readHoldings(nodes, settings, listed, onProgress)
  if (!holdings.ok) return holdings
  const { balances, unknown, agreedSun } = holdings.value
  const wanted = listed.filter(({ address }) => balances.has(address) || receivers.value.has(formatBase58(address)))
  const addresses: AddressFacts[] = []
  for (const [i, one] of wanted.entries()) {
    const before = receivers.value.has(formatBase58(one.address))
    const own = balances.get(one.address) ?? new Map<string, bigint>()
    const facts = await readAddress(nodes, settings, one, own, agreedSun, before)
    if (!facts.ok) return facts
    addresses.push(facts.value)
    onProgress('accounts and energy', i + 1, wanted.length)
  }
  return ok({ addresses, unknown, prices: prices.value, gas: gas.value })
}

/** What is wrong with the destination, or null. */
async function checkDestination(
  nodes: CollectNodes,
  { to, gasAddress }: CollectSettings,
  listed: readonly ListedAddress[],
): Promise<string | null> {
  if (listed.some(({ address }) => address === to)) return '--to: one of the deposit addresses itself'
  if (listed.some(({ address }) => address === gasAddress)) return 'the gas address is one of the deposit addresses'
  const answer = await readAccount(nodes, to)
  if (!answer.ok) return answer.error
  const { account } = answer.value
  if (account === null) {
    return '--to: this account does not exist on the chain yet. Compare it; if it is right, send it 1 TRX first'
  }
  return account.isContract ? '--to: a contract, which could keep the money for ever' : null
}

async function readGas(nodes: CollectNodes, address: Address): Promise<Result<GasFacts, string>> {
  const name = formatBase58(address)
  const answer = await readAccount(nodes, address)
  if (!answer.ok) return answer
  const { account } = answer.value
  if (account === null) return err(`the gas address ${name} does not exist on the chain yet: send it TRX first`)
  if (!account.hasOwnKey) return err(`the owner permission of the gas address ${name} names another key`)
  const resources = await readResources(nodes, address)
  if (!resources.ok) return resources
  const delegatable = await readDelegatable(nodes, address)
  if (!delegatable.ok) return delegatable
  const { energy, weight } = resources.value.total
  if (energy === 0 || weight === 0) return err('the node does not report what a stake gives (TotalEnergyLimit)')
  const perTrx = { energy: BigInt(energy), trx: BigInt(weight) }
  return ok({ address: name, sun: account.sun, resources: resources.value, delegatable: delegatable.value, perTrx })
}

interface Holdings {
  /** What is to be collected, by address and symbol. */
  readonly balances: ReadonlyMap<Address, ReadonlyMap<string, bigint>>
  readonly unknown: readonly UnknownBalance[]
  /** Where TRX is collected: the balances on which the nodes agree, null where they do not. */
  readonly agreedSun: ReadonlyMap<Address, bigint | null>
}

async function readHoldings(
  nodes: CollectNodes,
  { currencies, min }: CollectSettings,
  listed: readonly ListedAddress[],
  onProgress: OnProgress,
): Promise<Result<Holdings, string>> {
  const addresses = listed.map(({ address }) => address)
  const agreedSun = new Map<Address, bigint | null>()
  const balances = new Map<Address, Map<string, bigint>>()
  const unknown: UnknownBalance[] = []
  for (const { symbol, asset } of currencies) {
    const what = `balances in ${symbol}`
    const read = await readAgreedBalances(nodes, addresses, asset, (done) => onProgress(what, done, addresses.length))
    if (!read.ok) return read
    for (const [i, units] of read.value.entries()) {
      const one = listed[i]
      if (one === undefined) continue
      if (asset.kind === 'native') agreedSun.set(one.address, units)
      if (units === null) unknown.push({ index: one.index, address: formatBase58(one.address), symbol })
      else if (units > 0n && units >= (min.get(symbol) ?? 0n)) {
        const own = balances.get(one.address) ?? new Map<string, bigint>()
        balances.set(one.address, own.set(symbol, units))
      }
    }
  }
  return ok({ balances, unknown, agreedSun })
}

async function readAddress(
  nodes: CollectNodes,
  { currencies, to, gasAddress }: CollectSettings,
  { index, address }: ListedAddress,
  balances: ReadonlyMap<string, bigint>,
  agreedSun: Holdings['agreedSun'],
  wasDelegatedTo: boolean,
): Promise<Result<AddressFacts, string>> {
  const answer = await readAccount(nodes, address)
  if (!answer.ok) return answer
  const { account } = answer.value
  const resources = account === null ? null : await readResources(nodes, address)
  if (resources?.ok === false) return resources
  const delegated = wasDelegatedTo ? await readDelegated(nodes, gasAddress, address) : ok(0n)
  if (!delegated.ok) return delegated
  const tokens: TokenHolding[] = []
  for (const currency of currencies) {
    const units = balances.get(currency.symbol)
    if (units === undefined || currency.asset.kind === 'native') continue
    const transfer = { from: address, contract: currency.asset.contract, parameter: transferParameters(to, units) }
    const estimate = await estimateTransfer(nodes, transfer)
    if (!estimate.ok) return estimate
    tokens.push({ currency: planCurrency(currency), units, estimate: estimate.value })
  }
  const agreed = agreedSun.get(address)
  return ok({
    index,
    address: formatBase58(address),
    sun: agreed === undefined ? (account?.sun ?? 0n) : agreed,
    tokens,
    resources: resources?.value ?? null,
    hasOwnKey: account?.hasOwnKey ?? true,
    delegatedBefore: delegated.value,
  })
}
