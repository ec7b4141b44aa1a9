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

/**
 * Most transfers with the reason `wallet-full` that one query looks at. They are rare: balance and
 * transfer together exceed 2^53 ledger units.
 */
const fullWalletsMax = 1_000

/** What may have changed since transfers were held, as `selectHeldAgain` needs it. */
export interface HeldQuery {
  /**
   * The configured currencies that are not retired: transfers held because their currency was
   * `retired` may be credited.
   */
  readonly accepted: readonly Pick<Currency, 'cuy' | 'decimals' | 'scale'>[]
  /**
   * The currencies on whose contract's decimals nodes agree: transfers held for `decimals-unknown`
   * can be judged.
   */
  readonly known: readonly CurrencyId[]
  /**
   * Those of `known` whose configured decimals are the same: transfers held for `decimals-differ`
   * may be credited.
   */
  readonly agreed: readonly CurrencyId[]
  /**
   * The operator's wallets. A held transfer from one of these was judged before the wallet was
   * configured, and is no deposit any more.
   */
  readonly senders: readonly Address[]
  readonly max: number
}

/**
 * Reads held transfers whose reason may have ended, at most `max` for each reason, in one round
 * trip.
 */
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

/**
 * Reads the oldest held transfer of each currency and of each reason that may need a person, for
 * alarms.
 */
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

/**
 * Transfers that now fit into their wallets. This compares floating-point numbers, which can be off
 * by a unit; the exact check is made when a credit is stored.
 */
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
