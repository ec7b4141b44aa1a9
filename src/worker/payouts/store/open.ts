import { sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { Txid } from '../../chain/block.ts'
import type { CurrencyId, PayoutId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../../d1/database.ts'
import {
  openStates,
  type PayoutState,
  payoutHoldings,
  payoutSums,
  payouts,
  payoutTransactions,
  type StuckReason,
} from '../../d1/payout-tables.ts'
import type { TransferFailure } from '../transfer-failure.ts'
import { failureJson, readFailure } from './costs.ts'
import { isUnresolved } from './facts.ts'

// Sums and faults of open payouts. The number of rows that are read grows with the number of currencies, not with that of payouts.

/** The payouts in one open state and one currency. */
export interface OpenSum {
  readonly state: PayoutState
  readonly cuy: CurrencyId
  readonly count: number
  /** Ledger units. */
  readonly sum: bigint
  /** Since when the longest-waiting payout of this state and currency has been in the state. */
  readonly oldestAt: UnixMs
}

/** Counts and sums the payouts that are waiting, approved, signed or stuck, by state and currency. */
export async function selectOpenSums(db: ReadDatabase): Promise<readonly OpenSum[]> {
  const { results } = await selectSums(db, {}).all<Omit<OpenSum, 'sum'> & { readonly sum: string }>()
  return results.map((row) => ({ ...row, sum: BigInt(row.sum) }))
}

/** The faults of payouts about which an operator must be told. */
export interface PayoutTroubles {
  readonly stuck: readonly {
    readonly payout: PayoutId
    readonly reason: StuckReason
    readonly failure: TransferFailure | null
  }[]
  /** The approved payout that has waited longest for a signer; null if none has waited long enough. */
  readonly unsigned: { readonly payout: PayoutId; readonly since: UnixMs } | null
  /** Transactions of the payout address that stop payouts: see `isUnresolved`. */
  readonly unknown: readonly Txid[]
}

/**
 * Reads at most `max` faults of each kind. A payout that was approved at `before` or earlier has waited long enough for an alarm. `currencies` are
 * those in which payouts may be signed now: a missing signer is not why payouts in other currencies wait.
 */
export async function selectTroubles(
  db: ReadDatabase,
  currencies: readonly CurrencyId[],
  before: UnixMs,
  max: number,
): Promise<PayoutTroubles> {
  const [stuck, unsigned, unknown] = await db.batch([
    selectStuck(db, { max }),
    selectUnsigned(db, { currencies: JSON.stringify(currencies), before }),
    selectUnknown(db, { max }),
  ])
  const [oldest = null] = (unsigned?.results ?? []) as NonNullable<PayoutTroubles['unsigned']>[] // safe: the columns of the statement
  return {
    stuck: ((stuck?.results ?? []) as StuckRow[]).map((row) => ({ ...row, failure: readFailure(row.failure) })), // safe: the columns of the statement
    unsigned: oldest,
    unknown: ((unknown?.results ?? []) as { readonly txid: Txid }[]).map(({ txid }) => txid), // safe: the columns of the statement
  }
}

/** Reads at most `max` transactions of the payout address that stop payouts: see `isUnresolved`. The oldest first. */
export async function selectUnresolved(db: ReadDatabase, max: number): Promise<readonly Txid[]> {
  const { results } = await selectUnknown(db, { max }).all<{ readonly txid: Txid }>()
  return results.map(({ txid }) => txid)
}

interface StuckRow {
  readonly payout: PayoutId
  readonly reason: StuckReason
  readonly failure: string | null
}

/** A balance of the payout address as nodes have shown it. */
export type PayoutHolding = typeof payoutHoldings.$inferSelect

/** Reads the balances of the payout address as they were last read from the chain. */
export async function selectHoldings(db: ReadDatabase, address: Address): Promise<readonly PayoutHolding[]> {
  const { contract, balance, energy, read_at } = payoutHoldings
  const rows = await openTables(db)
    .select({ contract, address: payoutHoldings.address, balance, energy, read_at })
    .from(payoutHoldings)
    .orderBy(contract)
  return rows.filter((row) => row.address === address)
}

/** Stores balances of the payout address. A balance replaces the earlier one of the same contract. */
export async function storeAddressHoldings(db: WriteDatabase, holdings: readonly PayoutHolding[]): Promise<void> {
  const insertion = openTables(db).insert(payoutHoldings)
  const stored = holdings.map((holding) =>
    insertion.values(holding).onConflictDoUpdate({ target: payoutHoldings.contract, set: holding }),
  )
  await db.batch(stored.map((statement) => toStatement(db, statement)))
}

const { id, state, cuy, changed_at } = payouts
/** The condition of the partial index `payout_age`. A query must repeat the condition to use the index. */
const isOpenState = sql.raw(`IN (${openStates.map((name) => `'${name}'`)})`)

const selectSums = fixedStatement(sql`
SELECT ${payoutSums.state}, ${payoutSums.cuy}, ${payoutSums.count}, CAST(${payoutSums.amount} AS TEXT) AS sum,
  (SELECT ${changed_at} FROM ${payouts} INDEXED BY payout_age WHERE ${state} ${isOpenState}
    AND ${state} = ${payoutSums.state} AND ${cuy} = ${payoutSums.cuy} ORDER BY ${changed_at} LIMIT 1) AS "oldestAt"
FROM ${payoutSums} WHERE ${payoutSums.state} ${isOpenState} AND ${payoutSums.count} > 0
ORDER BY ${payoutSums.state}, ${payoutSums.cuy}`)

const selectStuck = fixedStatement<'max'>(sql`
SELECT ${id} AS payout, ${payouts.reason}, ${failureJson} AS failure FROM ${payouts} INDEXED BY payout_state WHERE ${state} = 'stuck'
LIMIT ${sql.placeholder('max')}`)

const selectUnsigned = fixedStatement<'currencies' | 'before'>(sql`
SELECT payout, since FROM (
  SELECT oldest ->> '$[0]' AS payout, oldest ->> '$[1]' AS since FROM (
    SELECT (SELECT json_array(${id}, ${changed_at}) FROM ${payouts} INDEXED BY payout_age
      WHERE ${state} ${isOpenState} AND ${state} = 'approved' AND ${cuy} = currency.value
      ORDER BY ${changed_at} LIMIT 1) AS oldest
    FROM json_each(${sql.placeholder('currencies')}) AS currency))
WHERE since <= ${sql.placeholder('before')} ORDER BY since LIMIT 1`)

const t = payoutTransactions
const selectUnknown = fixedStatement<'max'>(sql`
SELECT ${t.txid} FROM ${t} INDEXED BY payout_transaction_unresolved WHERE ${isUnresolved} ORDER BY ${t.changed_at}, ${t.id} LIMIT ${sql.placeholder('max')}`)
