import { deriveAddress, indexMax } from '../../worker/addresses/derive.ts'
import { checkKeyUse } from '../../worker/addresses/issue-address.ts'
import { type Address, formatBase58 } from '../../worker/chain/address.ts'
import { balancesMax } from '../../worker/chain/chain.ts'
import { transferArguments } from '../../worker/chain/transaction.ts'
import type { Config } from '../../worker/config/config.ts'
import { standingSql } from '../../worker/issuer/store.ts'
import type { Currency } from '../../worker/ledger/currencies.ts'
import { readDatabase } from '../database.ts'
import { readUse } from '../node-pool.ts'
import type { AgreedNodes } from '../nodes.ts'
import type { Place } from '../place.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import type { AddressFacts, CollectFacts, CollectWishes, GasFacts, TokenHolding } from './collect-address.ts'
import { type StopOf, stopsOfRows } from './issuer-stops.ts'
import * as api from './node-api.ts'
import type { GasMode, LeftOut, PlanCurrency } from './plan.ts'

export interface CollectSettings extends CollectWishes {
  readonly config: Config
  /** The account number in the derivation paths `m/44'/195'/account'/0/index`. */
  readonly account: number
  readonly to: Address
  readonly mode: GasMode
  readonly gasAddress: Address
  readonly currencies: readonly Currency[]
  readonly stopOf: StopOf
}

/** A deposit address. `index` is the last step of its derivation path. */
export interface ListedAddress {
  readonly index: number
  readonly address: Address
}

/** The indices of the addresses for a plan, both ends included. */
export interface IndexRange {
  readonly from: number
  readonly to: number
}

export const wholeRange: IndexRange = { from: 0, to: indexMax }

/**
 * Reads the addresses that a deployment issued, and the acts of token issuers, from its database.
 * Throws a `ToolError` if the database cannot be read, or if an address is not derived from the
 * extended public key. The mnemonic of another key could sign nothing for that address.
 */
export async function readIssuedAddresses(
  { extendedPublicKey, currencies }: Pick<Config, 'extendedPublicKey' | 'currencies'>,
  place: Place,
  { from, to }: IndexRange,
): Promise<{ readonly listed: readonly ListedAddress[]; readonly stopOf: StopOf }> {
  const query = `SELECT derivation_index AS i, address FROM address WHERE derivation_index BETWEEN ${from} AND ${to} ORDER BY i`
  const read = await readDatabase(place, query, standingSql)
  if (!read.ok)
    throw new ToolError(read.error.why, `${read.error.next}; or look for the addresses on the chain (--scan)`)
  const [rows = [], acts = []] = read.value
  const listed = rows.map(({ i, address }) => {
    const index = Number(i)
    const derived = deriveAddress(extendedPublicKey, index)
    if (derived === address) return { index, address: derived }
    throw new ToolError(
      `address ${index} of the database is not one of TRON_XPUB: the key is another one`,
      'set TRON_XPUB to the key of this database, or name the right database in wrangler.toml',
    )
  })
  return { listed, stopOf: stopsOfRows(currencies, acts) }
}

/**
 * Finds addresses without a database. If the person has named the end of the range, the result is
 * the whole range. Otherwise the result ends before the first `balancesMax` addresses in a row that
 * the chain shows as never used: without balance and without account (the gap limit of BIP-44). An
 * address from which everything was collected counts as used, because it still has an account.
 */
export async function scanAddresses(
  nodes: AgreedNodes,
  { extendedPublicKey, currencies }: Pick<Config, 'extendedPublicKey' | 'currencies'>,
  { from, to }: IndexRange,
  onProgress: (done: number) => void,
): Promise<readonly ListedAddress[]> {
  const listed: ListedAddress[] = []
  const addressAt = (index: number) => deriveAddress(extendedPublicKey, Math.min(index, indexMax))
  const alarms = { raise: async () => {} }
  for (let start = from; start <= to; start += balancesMax) {
    const use = { currencies, addressAt: (i: number) => addressAt(start + i), alarms }
    // If the person has named the end of the range, every address of it is taken, so none is looked
    // up.
    const keyUse = { wasUsed: to !== wholeRange.to, withoutAccount: 0 }
    const found = await nodes.read((session) => checkKeyUse({ chain: readUse(session), ...use, keyUse }))
    if (found === 'unused') break
    const size = Math.min(balancesMax, to - start + 1)
    listed.push(...Array.from({ length: size }, (_, i) => ({ index: start + i, address: addressAt(start + i) })))
    onProgress(listed.length)
  }
  return listed
}

const unknownWhy = 'the nodes do not agree on the balance: plan again'

/**
 * Shows progress to the person at the terminal: `done` of `of` items are done. `what` names them.
 */
export type OnProgress = (what: string, done: number, of: number) => void

/**
 * An address with the balances on which nodes agree, in chain units by symbol; null if they do not
 * agree.
 */
interface Holder extends ListedAddress {
  readonly balances: Map<string, bigint | null>
}

/** Converts a configured currency to the form that it has in a plan. */
export function planCurrency({ symbol, asset, decimals }: Currency): PlanCurrency {
  return { symbol, contract: asset.kind === 'native' ? null : formatBase58(asset.contract), decimals }
}

/**
 * Asks the nodes for the facts of a plan: about these addresses, the destination and the gas
 * address. Throws a `ToolError` if no plan is possible or too few nodes answer.
 */
export async function gatherFacts(
  nodes: AgreedNodes,
  settings: CollectSettings,
  listed: readonly ListedAddress[],
  onProgress: OnProgress,
): Promise<CollectFacts> {
  await checkDestination(nodes, settings, listed)
  const prices = await api.readPrices(nodes)
  const gas = await readGas(nodes, settings.gasAddress, settings.mode)
  const receivers = await api.readReceivers(nodes, settings.gasAddress)
  const holders = await readHolders(nodes, settings, listed, onProgress)
  const stopped = holders.flatMap((one) => takeStopped(one, settings.stopOf))
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
  return { addresses, leftOut: [...stopped, ...unknown], prices, gas }
}

async function checkDestination(
  nodes: AgreedNodes,
  { to, gasAddress }: CollectSettings,
  listed: readonly ListedAddress[],
): Promise<void> {
  if (listed.some(({ address }) => address === to))
    throw new OptionError('--to: not one of the deposit addresses itself')
  if (listed.some(({ address }) => address === gasAddress)) {
    throw new ToolError(
      'the gas address is one of the deposit addresses',
      'use one that the service has not issued: "npm run keys -- show" prints one',
    )
  }
  const account = await api.readAccount(nodes, to)
  if (account === null) {
    throw new ToolError(
      '--to: this account does not exist on the chain yet',
      'compare it; if it is right, send it 1 TRX first',
    )
  }
  if (account.isContract) throw new OptionError('--to: no contract, which could keep the money for ever')
}

async function readGas(nodes: AgreedNodes, address: Address, mode: GasMode): Promise<GasFacts> {
  const name = formatBase58(address)
  const account = await api.readAccount(nodes, address)
  if (account === null)
    throw new ToolError(`the gas address ${name} does not exist on the chain yet`, 'send it TRX first')
  if (!account.hasOwnKey) {
    throw new ToolError(
      `the owner permission of the gas address ${name} names another key`,
      'use another gas address (--gas-from), or set its owner permission back',
    )
  }
  const resources = await api.readResources(nodes, address)
  const delegatable = await api.readDelegatable(nodes, address)
  const { energy, weight } = resources.total // a weight of 0: nobody has staked for energy
  if (mode === 'delegate' && energy === 0) {
    throw new ToolError(
      'the nodes do not report what a stake gives (TotalEnergyLimit)',
      'use another node in TRON_NODES, or send TRX for the gas (--gas transfer)',
    )
  }
  const perTrx = { energy: BigInt(energy), trx: BigInt(weight) }
  return { address: name, sun: account.sun, resources, delegatable, perTrx }
}

async function readHolders(
  nodes: AgreedNodes,
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

/**
 * Removes from a holder the balances that cannot be sent now because of an act of the token's
 * issuer, and returns them with the reason.
 */
function takeStopped({ index, address, balances }: Holder, stopOf: StopOf): readonly LeftOut[] {
  const named = formatBase58(address)
  return [...balances].flatMap(([symbol, units]) => {
    const why = units === null || units === 0n ? null : stopOf(symbol, named)
    if (why === null) return []
    balances.delete(symbol)
    return [{ index, address: named, symbol, units: `${units}`, why }]
  })
}

function wantedSymbols({ min }: CollectSettings, { balances }: Holder): readonly string[] {
  const isWanted = (symbol: string, units: bigint | null) =>
    units !== null && units > 0n && units >= (min.get(symbol) ?? 0n)
  return [...balances].flatMap(([symbol, units]) => (isWanted(symbol, units) ? [symbol] : []))
}

async function readAddress(
  nodes: AgreedNodes,
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
    const parameter = transferArguments(settings.to, units)
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
