import type { Address } from '../chain/address.ts'
import { nativeAsset, trc20Asset } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import { formatUnits } from '../common/amount.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { PayoutRules, WriteContext } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { currencyOfContract } from './moved.ts'
import { selectHoldings, selectOpenSums, storeAddressHoldings } from './store/open.ts'

/** Milliseconds between two readings of the payout address's balances. */
export const walletEveryMs = 180_000
const trxDecimals = 6

/** The amount of one asset that the payout address must hold for approved and signed payouts, in chain units. `contract` is empty for TRX. */
interface Need {
  readonly contract: Address | ''
  readonly raw: bigint
}

/** Sums what the payout address must hold, by contract. If tokens are to be paid, TRX includes what one transfer may burn. Empty if no payout needs money. */
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
  const native = (needs.get('') ?? 0n) + (tokens.length > 0 ? feeLimit : 0n)
  return [...tokens, ['', native] as const].map(([contract, raw]) => ({ contract, raw }))
}

/**
 * Reads those balances of the payout address that approved and signed payouts need, and stores them. Does nothing if there is no such payout, or if all these
 * balances were read within `walletEveryMs`.
 */
export async function readWallet(
  { db, clock, currencies }: Pick<WriteContext, 'db' | 'clock' | 'currencies'>,
  rules: PayoutRules,
  chain: Pick<Chain, 'holdings'>,
): Promise<void> {
  const needs = await selectNeeds(db, rules, currencies)
  const known = needs.length === 0 ? [] : await selectHoldings(db, rules.address)
  const isRead = ({ contract }: Need) =>
    known.some((one) => one.contract === contract && clock.now() - one.read_at < walletEveryMs)
  if (needs.every(isRead)) return
  const assets = needs.map(({ contract }) => (contract === '' ? nativeAsset : trc20Asset(contract)))
  const balances = await chain.holdings(rules.address, assets)
  if (!balances.ok) return // the next tick asks the nodes again
  const holdings = balances.value.flatMap((balance, i) => {
    const contract = needs[i]?.contract
    return contract === undefined
      ? []
      : { contract, address: rules.address, balance: String(balance), read_at: clock.now() }
  })
  await storeAddressHoldings(db, holdings)
}

/** A currency of which the payout address holds too little; `holds` and `needs` are whole units. `cuy` is null for TRX if it is not configured. */
export interface Shortage {
  readonly cuy: number | null
  readonly symbol: string
  readonly holds: string
  readonly needs: string
}

/** The currencies of which the payout address holds too little, by the newest stored balances. A currency whose balance was never read is left out. */
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
