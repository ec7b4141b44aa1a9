import { sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import { nativeAsset, trc20Asset } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import { formatUnits } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import { openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payoutHoldings, payouts } from '../d1/payout-tables.ts'
import type { PayoutRules, WriteContext } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { currencyOfContract } from './payout.ts'

/** Between two readings of what the payout address holds. */
export const walletEveryMs = 180_000
const trxDecimals = 6

/** What the payout address needs for what is approved and signed, in chain units; `contract` is empty for TRX. */
interface Need {
  readonly contract: Address | ''
  readonly raw: bigint
}

/** What is open of one contract: the sum in ledger units, as text. */
interface OpenSum {
  readonly contract: Address | ''
  readonly cuy: CurrencyId
  readonly sum: string
}

/** What the payout address must hold of each contract; of TRX also what one token's transfer may burn. Empty: nothing is open. */
async function selectNeeds(
  db: ReadDatabase,
  { feeLimit }: PayoutRules,
  { byId }: Currencies,
): Promise<readonly Need[]> {
  const { contract, cuy, amount, state } = payouts
  const query = sql`SELECT ${contract}, ${cuy}, CAST(sum(${amount}) AS TEXT) AS sum FROM ${payouts} INDEXED BY payout_state
    WHERE ${state} IN ('approved', 'signed') GROUP BY ${contract}, ${cuy}`
  const open = (await toStatement(db, query).all<OpenSum>()).results
  if (open.length === 0) return []
  const needs = open.map(({ contract, cuy, sum }): Need => {
    const { decimals = 0, scale = 0 } = byId.get(cuy) ?? {}
    return { contract, raw: BigInt(sum) * 10n ** BigInt(decimals - scale) }
  })
  const tokens = needs.filter(({ contract }) => contract !== '')
  const native = needs.find(({ contract }) => contract === '')?.raw ?? 0n
  return [...tokens, { contract: '', raw: native + (tokens.length > 0 ? feeLimit : 0n) }]
}

/** Reads what the payout address holds of what is needed, if that was not read for some minutes. */
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
  if (!balances.ok) return // the next tick asks again
  const holdings = balances.value.flatMap((balance, i) => {
    const contract = needs[i]?.contract
    return contract === undefined
      ? []
      : { contract, address: rules.address, balance: String(balance), read_at: clock.now() }
  })
  await storeHoldings(db, holdings)
}

type Holding = typeof payoutHoldings.$inferSelect

/** What the payout address held when it was last read. */
export async function selectHoldings(db: ReadDatabase, address: Address): Promise<readonly Holding[]> {
  const { contract, balance, read_at } = payoutHoldings
  const rows = await openTables(db)
    .select({ contract, address: payoutHoldings.address, balance, read_at })
    .from(payoutHoldings)
    .orderBy(contract)
  return rows.filter((row) => row.address === address)
}

async function storeHoldings(db: WriteDatabase, holdings: readonly Holding[]): Promise<void> {
  const insertion = openTables(db).insert(payoutHoldings)
  const stored = holdings.map((holding) =>
    insertion.values(holding).onConflictDoUpdate({ target: payoutHoldings.contract, set: holding }),
  )
  await db.batch(stored.map((one) => toStatement(db, one)))
}

/** A currency of which the payout address holds too little, in whole units. Null: TRX that is no currency here. */
export interface Shortage {
  readonly cuy: number | null
  readonly symbol: string
  readonly holds: string
  readonly needs: string
}

/** Of what the payout address holds too little, by the newest readings. */
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
