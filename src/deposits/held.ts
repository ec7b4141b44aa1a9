import { eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import { amountMax } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { HeldReason } from '../common/reasons.ts'
import { type ReadDatabase, toStatement } from '../d1/database.ts'
import { transfers, wallets } from '../d1/tables.ts'
import type { Currency } from '../ledger/currencies.ts'
import type { StoredTransfer } from './transfer.ts'
import { readAll, readTransfer, type TransferRow } from './transfers.ts'

/** Transfers held for a full wallet that are looked at in one query: there is more than 2^53 units in each such wallet. */
const fullWalletsMax = 1_000

/** Which held transfers may be decided again. */
export interface HeldQuery {
  /** Currencies that are not retired. */
  readonly accepted: readonly Pick<Currency, 'cuy' | 'decimals' | 'scale'>[]
  /** Currencies whose contract's decimals nodes agree on, and those of them that are configured with these. */
  readonly known: readonly CurrencyId[]
  readonly agreed: readonly CurrencyId[]
  /** Wallets of the operator of which every held transfer is decided again. */
  readonly senders: readonly Address[]
  readonly max: number
}

/** Held transfers whose reason may have ended: at most `max` of each kind of reason. */
export async function selectHeldAgain(
  db: ReadDatabase,
  { accepted, known, agreed, senders, max }: HeldQuery,
): Promise<readonly StoredTransfer[]> {
  const units = accepted.map(({ cuy, decimals, scale }) => ({ cuy, divisor: 10 ** (decimals - scale) }))
  const currencies = units.map(({ cuy }) => cuy)
  const queries = [
    selectEnded([
      heldFor(currencies, 'retired', max),
      heldFor(known, 'decimals-unknown', max),
      heldFor(agreed, 'decimals-differ', max),
    ]),
    selectFitting(units, max),
    ...(senders.length === 0 ? [] : [selectSentBy(senders, max)]),
  ]
  const results = await db.batch<TransferRow>(queries.map((query) => toStatement(db, query)))
  return results.flatMap(readAll)
}

/** The oldest transfer of each of these currencies that is held for a reason that only a person ends, by its reason. */
export async function selectOldestHeld(
  db: ReadDatabase,
  currencies: readonly CurrencyId[],
): Promise<readonly (StoredTransfer & { readonly reason: HeldReason })[]> {
  const { results } = await toStatement(db, selectOldest(currencies)).all<TransferRow>()
  return results.map((row) => ({ ...readTransfer(row), reason: row.reason as HeldReason })) // safe: the row is held
}

const { state, reason } = transfers
const largestAmount = sql.raw(String(amountMax))

const heldFor = (currencies: readonly CurrencyId[], why: HeldReason, max: number) => sql`
SELECT * FROM (
  SELECT ${transfers}.* FROM json_each(${JSON.stringify(currencies)}) AS currency
  CROSS JOIN ${transfers} INDEXED BY transfer_held
  ON ${state} = 'held' AND ${eq(reason, why)} AND ${transfers.cuy} = currency.value LIMIT ${max})`
const selectEnded = (kinds: readonly SQL[]) => sql.join([...kinds], sql` UNION ALL `)

const filled = alias(transfers, 'filled')

/** As a fraction the amount is off by a unit at most: whether it fits is decided where it is stored. */
const selectFitting = (units: readonly { readonly cuy: CurrencyId; readonly divisor: number }[], max: number) => sql`
SELECT ${filled}.* FROM json_each(${JSON.stringify(units)}) AS unit CROSS JOIN (
  SELECT * FROM ${transfers} INDEXED BY transfer_held
  WHERE ${state} = 'held' AND ${reason} = 'wallet-full' LIMIT ${fullWalletsMax}
) AS ${filled} ON ${filled.cuy} = unit.value ->> 'cuy'
CROSS JOIN ${wallets} ON ${wallets.uid} = ${filled.uid} AND ${wallets.cuy} = ${filled.cuy}
WHERE ${wallets.balance} <= ${largestAmount} + 1 - CAST(${filled.raw} AS REAL) / (unit.value ->> 'divisor') LIMIT ${max}`

const selectSentBy = (senders: readonly Address[], max: number) => sql`
SELECT * FROM ${transfers} INDEXED BY transfer_held_from WHERE ${state} = 'held'
  AND ${transfers.from_address} IN (SELECT value FROM json_each(${JSON.stringify(senders)})) LIMIT ${max}`

const endedByPerson: readonly HeldReason[] = ['too-large', 'wallet-full', 'review']
const oldest = alias(transfers, 'oldest')
const selectOldest = (currencies: readonly CurrencyId[]) => sql`
SELECT ${oldest}.* FROM json_each(${JSON.stringify(endedByPerson)}) AS why
CROSS JOIN json_each(${JSON.stringify(currencies)}) AS currency
CROSS JOIN ${transfers} AS ${oldest} ON ${oldest.id} = (
  SELECT ${transfers.id} FROM ${transfers} INDEXED BY transfer_held
  WHERE ${state} = 'held' AND ${reason} = why.value AND ${transfers.cuy} = currency.value ORDER BY ${transfers.id} LIMIT 1)`
