import type { Address } from '../chain/address.ts'
import { nativeAsset, trc20Asset } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import { transferEnergyMin } from '../chain/transaction.ts'
import { formatUnits, trxDecimals } from '../common/amount.ts'
import type { UnixMs } from '../common/time.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { PayoutRules, WriteContext } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { PayoutRow } from './lifecycle.ts'
import { currencyOfContract } from './outflow.ts'
import { type PayoutHolding, selectHoldings, storeAddressHoldings } from './store/facts.ts'
import { selectOpenSums } from './store/lists.ts'

/** Milliseconds between two readings of the payout address's balances. */
export const walletEveryMs = 180_000

/**
 * The amount of one asset that the payout address must hold for approved and signed payouts, in
 * chain units. `contract` is empty for TRX.
 */
interface Need {
  readonly contract: Address | ''
  readonly raw: bigint
  /**
   * With less than this, a payout may be plainly beyond the balance, so the balance is read at each
   * tick.
   */
  readonly least: bigint
}

/**
 * The lowest price of an energy that the main network has had, in sun. At a higher price the same
 * TRX pays for less.
 */
const sunPerEnergyMin = 10n
/** With less sun than this, and without energy, no transfer of a token is possible. */
const feeMin = transferEnergyMin * sunPerEnergyMin

/**
 * Sums what the payout address must hold, by contract. If tokens are to be paid, TRX includes what
 * one transfer may burn. Empty if no payout needs money.
 */
async function selectNeeds(
  db: ReadDatabase,
  { feeLimit }: PayoutRules,
  { byId }: Currencies,
): Promise<readonly Need[]> {
  const needs = new Map<Address | '', bigint>()
  for (const { state, cuy, sum } of await selectOpenSums(db)) {
    const currency = byId.get(cuy)
    if (currency === undefined || (state !== 'approved' && state !== 'signed')) continue
    const { asset, decimals, scale } = currency
    const contract = asset.kind === 'native' ? '' : asset.contract
    needs.set(contract, (needs.get(contract) ?? 0n) + sum * 10n ** BigInt(decimals - scale))
  }
  const tokens = [...needs].filter(([contract]) => contract !== '')
  if (needs.size === 0) return []
  const sun = needs.get('') ?? 0n
  const [fees, least] = tokens.length > 0 ? [feeLimit, feeMin] : [0n, 0n]
  return [
    ...tokens.map(([contract, raw]): Need => ({ contract, raw, least: raw })),
    { contract: '', raw: sun + fees, least: sun + least },
  ]
}

/**
 * Reads those balances of the payout address that approved and signed payouts need, and stores
 * them. Does nothing if there is no such payout, or if all these balances were read within
 * `walletEveryMs` and suffice: what is too little is read at each call, so that it is known soon
 * that more has come.
 */
export async function readWallet(
  { db, clock, currencies }: Pick<WriteContext, 'db' | 'clock' | 'currencies'>,
  rules: PayoutRules,
  chain: Pick<Chain, 'holdings' | 'energy'>,
): Promise<void> {
  const needs = await selectNeeds(db, rules, currencies)
  const known = needs.length === 0 ? [] : await selectHoldings(db, rules.address)
  const isRead = ({ contract, least }: Need) =>
    known.some((one) => one.contract === contract && isYoung(one, clock.now()) && BigInt(one.balance) >= least)
  if (needs.every(isRead)) return
  const assets = needs.map(({ contract }) => (contract === '' ? nativeAsset : trc20Asset(contract)))
  const balances = await chain.holdings(rules.address, assets)
  if (!balances.ok) return // the next tick asks the nodes again
  const isFeeless = needs.length > 1 && (balances.value.at(-1) ?? feeMin) < feeMin // TRX comes last
  const energy = isFeeless ? await chain.energy(rules.address) : null
  const holdings = balances.value.flatMap((balance, i): PayoutHolding[] => {
    const contract = needs[i]?.contract
    if (contract === undefined) return []
    const held = { contract, address: rules.address, balance: String(balance), read_at: clock.now() }
    return [{ ...held, energy: contract === '' && energy?.ok === true ? energy.value : null }]
  })
  await storeAddressHoldings(db, holdings)
}

const isYoung = ({ read_at }: PayoutHolding, now: UnixMs) => now - read_at < walletEveryMs

/**
 * The most that one payout of an asset can take from the payout address, in chain units, by young
 * balances: what it holds, or nothing of a token while it has neither TRX nor energy for any
 * transfer. Null if nobody knows: an older balance says nothing, so a figure that cannot be read
 * again keeps nothing from being paid.
 */
export function payableMost(contract: Address | '', held: readonly PayoutHolding[], now: UnixMs): bigint | null {
  const young = (asset: string) => held.find((one) => one.contract === asset && isYoung(one, now))
  const [own, trx] = [young(contract), young('')]
  const hasNoFee =
    contract !== '' &&
    trx !== undefined &&
    trx.energy !== null &&
    BigInt(trx.energy) + BigInt(trx.balance) / sunPerEnergyMin < transferEnergyMin
  if (hasNoFee) return 0n
  return own === undefined ? null : BigInt(own.balance)
}

/** Whether the payout address plainly cannot pay this payout alone. */
export function isBeyond(
  { contract, raw }: Pick<PayoutRow, 'contract' | 'raw'>,
  held: readonly PayoutHolding[],
  now: UnixMs,
): boolean {
  const most = payableMost(contract, held, now)
  return most !== null && BigInt(raw) > most
}

/**
 * A currency of which the payout address holds too little; `holds` and `needs` are whole units.
 * `cuy` is null for TRX if it is not configured.
 */
export interface Shortage {
  readonly cuy: number | null
  readonly symbol: string
  readonly holds: string
  readonly needs: string
}

/**
 * The currencies of which the payout address holds too little, by the newest stored balances. A
 * currency whose balance was never read is left out.
 */
export async function findShortages(
  db: ReadDatabase,
  rules: PayoutRules,
  currencies: Currencies,
): Promise<readonly Shortage[]> {
  const needs = await selectNeeds(db, rules, currencies)
  const held = needs.length === 0 ? [] : await selectHoldings(db, rules.address)
  return needs.flatMap(({ contract, raw }) => {
    const balance = held.find((one) => one.contract === contract)?.balance
    if (balance === undefined || BigInt(balance) >= raw) return []
    const currency = currencyOfContract(contract, currencies)
    const decimals = currency?.decimals ?? trxDecimals
    const amounts = { holds: formatUnits(BigInt(balance), decimals), needs: formatUnits(raw, decimals) }
    return [{ cuy: currency?.cuy ?? null, symbol: currency?.symbol ?? 'TRX', ...amounts }]
  })
}
