import { type SQL, sql } from 'drizzle-orm'
import type { CurrencyId } from '../common/ids.ts'
import { ofHex } from '../d1/database.ts'
import { issuerActs } from '../d1/issuer-tables.ts'
import { holdings } from '../d1/state-tables.ts'
import { addresses } from '../d1/tables.ts'

/**
 * A sum over addresses in one currency, in chain units. `parts`: seven sums of groups of 12 decimal
 * digits, separated by spaces, the most significant first; each can have more than 12 digits.
 * SQLite's integers are too small for the whole sum.
 */
export interface PartsOfCurrency {
  readonly cuy: CurrencyId
  readonly addresses: number
  readonly parts: string
}

/** SQL that sums decimal texts of up to 84 digits as `parts` of `PartsOfCurrency`. */
function partsOf(units: SQL): SQL {
  const digits = sql`substr(hex(zeroblob(42)) || ${units}, -84)`
  const sums = [1, 13, 25, 37, 49, 61, 73].map(
    (from) => sql`sum(CAST(substr(${digits}, ${sql.raw(String(from))}, 12) AS INTEGER))`,
  )
  return sql.join(sums, sql` || ' ' || `)
}

/**
 * SQL that sums, by currency, the balances last read of addresses of the service that are frozen
 * now.
 */
export function selectFrozenSums(): SQL<PartsOfCurrency> {
  return sql`SELECT standing.cuy AS cuy, count(*) AS addresses,
    ${partsOf(sql`coalesce(${holdings.balance}, '0')`)} AS parts
FROM standing_act AS standing CROSS JOIN ${addresses} ON ${addresses.address} = ${ofHex(sql`standing.address`)}
LEFT JOIN ${holdings} ON ${holdings.cuy} = standing.cuy AND ${holdings.address_id} = ${addresses.id}
WHERE standing.kind = 'frozen' GROUP BY standing.cuy`
}

/** SQL that sums, by currency, what issuers have ever destroyed at addresses of the service. */
export function selectDestroyedSums(): SQL<PartsOfCurrency> {
  const { cuy, kind, address, raw } = issuerActs
  return sql`SELECT ${cuy}, count(DISTINCT ${address}) AS addresses, ${partsOf(sql`${raw}`)} AS parts
FROM ${issuerActs} CROSS JOIN ${addresses} ON ${addresses.address} = ${ofHex(address)} WHERE ${kind} = 'destroyed'
  GROUP BY ${cuy}`
}
