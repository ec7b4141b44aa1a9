import { sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import { amountMax } from '../../common/amount.ts'
import type { CurrencyId } from '../../common/ids.ts'
import type { HeldReason } from '../../common/reasons.ts'
import { fixedStatement, type ReadDatabase } from '../../d1/database.ts'
import { transfers, wallets } from '../../d1/tables.ts'
import type { Currency } from '../../ledger/currencies.ts'
import type { StoredTransfer } from '../transfer.ts'
import { readAll, readCallers, type TransferRow, transferColumns } from './rows.ts'

/** Most transfers that are held for a full wallet and looked at in one query. Such wallets are rare: balance and transfer together exceed 2^53 units. */
const fullWalletsMax = 1_000

/** Selects held transfers that may be decided again. */
export interface HeldQuery {
  /** Currencies that are not retired. */
  readonly accepted: readonly Pick<Currency, 'cuy' | 'decimals' | 'scale'>[]
  /** `known`: currencies for whose contract nodes agree on the decimals. `agreed`: those whose configured decimals are the same. */
  readonly known: readonly CurrencyId[]
  readonly agreed: readonly CurrencyId[]
  /** Operator wallets: every held transfer from them is decided again. */
  readonly senders: readonly Address[]
  readonly max: number
}

/** Selects held transfers whose reason may have ended: at most `max` for each kind of reason. */
export async function selectHeldAgain(
  db: ReadDatabase,
  { accepted, known, agreed, senders, max }: HeldQuery,
): Promise<readonly StoredTransfer[]> {
  const units = accepted.map(({ cuy, decimals, scale }) => ({ cuy, divisor: 10 ** (decimals - scale) }))
  const heldFor = (currencies: readonly CurrencyId[], reason: HeldReason) =>
    selectHeldFor(db, { currencies: JSON.stringify(currencies), reason, max })
  const results = await db.batch<TransferRow>([
    heldFor(
      accepted.map(({ cuy }) => cuy),
      'retired',
    ),
    heldFor(known, 'decimals-unknown'),
    heldFor(agreed, 'decimals-differ'),
    selectFitting(db, { units: JSON.stringify(units), max }),
    ...(senders.length === 0 ? [] : [selectSentBy(db, { senders: JSON.stringify(senders), max })]),
  ])
  return results.flatMap(readAll)
}

/** Selects, for each currency and for each reason that only a person can end, the oldest held transfer. */
export async function selectOldestHeld(
  db: ReadDatabase,
  currencies: readonly CurrencyId[],
): Promise<readonly (StoredTransfer & { readonly reason: HeldReason })[]> {
  const { results } = await selectOldest(db, { currencies: JSON.stringify(currencies) }).all<TransferRow>()
  return results.map((row) => ({ ...readCallers(row), reason: row.reason as HeldReason })) // safe: the row is held
}

const { state, reason, cuy, id, raw } = transfers
const max = sql.placeholder('max')
const eachCurrency = sql`json_each(${sql.placeholder('currencies')}) AS currency`
const held = sql`${transfers} INDEXED BY transfer_held`

const selectHeldFor = fixedStatement<'currencies' | 'reason' | 'max'>(sql`
SELECT ${transferColumns} FROM ${eachCurrency} CROSS JOIN ${held}
  ON ${state} = 'held' AND ${reason} = ${sql.placeholder('reason')} AND ${cuy} = currency.value LIMIT ${max}`)

/** The amount is compared as a floating-point number, which can be off by one unit. The exact check runs when the credit is stored. */
const selectFitting = fixedStatement<'units' | 'max'>(sql`
SELECT ${transferColumns} FROM json_each(${sql.placeholder('units')}) AS unit CROSS JOIN (
  SELECT ${id} AS full_id FROM ${held} WHERE ${state} = 'held' AND ${reason} = 'wallet-full' LIMIT ${fullWalletsMax}
) CROSS JOIN ${transfers} ON ${id} = full_id AND ${cuy} = unit.value ->> 'cuy'
CROSS JOIN ${wallets} ON ${wallets.uid} = ${transfers.uid} AND ${wallets.cuy} = ${cuy}
WHERE ${wallets.balance} <= ${sql.raw(String(amountMax))} + 1 - CAST(${raw} AS REAL) / (unit.value ->> 'divisor')
LIMIT ${max}`)

const selectSentBy = fixedStatement<'senders' | 'max'>(sql`
SELECT ${transferColumns} FROM ${transfers} INDEXED BY transfer_held_from WHERE ${state} = 'held'
  AND ${transfers.from_address} IN (SELECT unhex(value) FROM json_each(${sql.placeholder('senders')})) LIMIT ${max}`)

const endedByPerson: readonly HeldReason[] = ['too-large', 'wallet-full', 'review']
const selectOldest = fixedStatement<'currencies'>(sql`
SELECT ${transferColumns} FROM (
  SELECT (SELECT ${id} FROM ${held} WHERE ${state} = 'held' AND ${reason} = why.value AND ${cuy} = currency.value
    ORDER BY ${id} LIMIT 1) AS oldest_id
  FROM json_each(${sql.raw(`'${JSON.stringify(endedByPerson)}'`)}) AS why CROSS JOIN ${eachCurrency}
) CROSS JOIN ${transfers} ON ${id} = oldest_id`)
