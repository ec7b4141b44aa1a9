import { sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import { fixedStatement, type ReadDatabase } from '../d1/database.ts'
import { issuerActs } from '../d1/issuer-tables.ts'
import { type ActRow, type IssuerState, readIssuerState, type StandingRow, type TokenFee } from './state.ts'

/**
 * Reads every fee of a token that an operator has ever confirmed, by currency. Payouts made under
 * an earlier fee are compared with these.
 */
export async function selectConfirmedFees(
  db: ReadDatabase,
): Promise<ReadonlyMap<CurrencyId, readonly Pick<TokenFee, 'basisPoints' | 'maximum'>[]>> {
  const { results } = await selectConfirmed(db, {}).all<Pick<ActRow, 'cuy' | 'raw' | 'basis_points'>>()
  const fees = results.map((row) => {
    return { cuy: row.cuy, basisPoints: BigInt(row.basis_points ?? 0), maximum: BigInt(row.raw ?? 0) }
  })
  return Map.groupBy(fees, (fee) => fee.cuy)
}

/**
 * Reads the acts of issuers that no later act has undone. The statement goes through every stored
 * act, so it is not for each request of a user.
 */
export async function selectIssuerState(db: ReadDatabase): Promise<IssuerState> {
  const { results } = await selectStanding(db, {}).all<StandingRow>()
  return readIssuerState(results)
}

/** Reads the currencies in which an address is frozen, in the order of `cuy`. */
export async function selectFrozenIn(db: ReadDatabase, address: Address): Promise<readonly CurrencyId[]> {
  const { results } = await selectFrozen(db, { address }).all<Pick<ActRow, 'cuy'>>()
  return results.map(({ cuy }) => cuy)
}

const { cuy, kind, address, height, place, position } = issuerActs

/**
 * SQL for the acts of issuers that no later act has undone (`standing_act` in
 * migrations/0001_invariants.sql), also for commands that use Wrangler.
 */
export const standingSql = 'SELECT * FROM standing_act ORDER BY cuy, address'

/**
 * Makes the statement whose rows `readIssuerState` takes, for a caller that reads them in a batch
 * with others.
 */
export const selectStanding = fixedStatement(sql.raw(standingSql))

const selectConfirmed = fixedStatement(sql`
SELECT ${cuy}, ${issuerActs.raw}, ${issuerActs.basis_points} FROM ${issuerActs}
WHERE ${kind} = 'fee-set' AND ${issuerActs.confirmed_at} IS NOT NULL`)

const selectFrozen = fixedStatement<'address'>(sql`
SELECT cuy FROM (
  SELECT ${cuy}, ${kind},
    row_number() OVER (PARTITION BY ${cuy} ORDER BY ${height} DESC, ${place} DESC, ${position} DESC) AS newness
  FROM ${issuerActs} INDEXED BY issuer_act_address
  WHERE ${kind} IN ('frozen', 'released') AND ${address} = ${sql.placeholder('address')})
WHERE newness = 1 AND kind = 'frozen' ORDER BY cuy`)
