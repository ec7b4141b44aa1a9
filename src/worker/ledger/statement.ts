import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { ReadContext } from './context.ts'
import type { Currency } from './currencies.ts'
import type { Entry } from './entry.ts'
import type { StatementSelection } from './period.ts'
import { selectStatement } from './store/statement.ts'

/** Entries on a page without `limit`. */
export const statementRowsDefault = 100
/** Most entries on one page. */
export const statementRowsMax = 1_000

/** The sums of one currency in ledger units: of all users they can be beyond an `Amount`. */
export interface StatementBalance {
  readonly currency: Currency
  /** What was there before the period. */
  readonly opening: bigint
  /** What is there after it or, while it is running, now. */
  readonly closing: bigint
}

/** A page of a statement. `opening` and the amounts of all entries add up to `closing`, in each currency. */
export interface Statement {
  /** The end of the period or, while it is running, now. */
  readonly until: UnixMs
  /** One for each configured currency, or the one that was asked for, ordered by `cuy`. */
  readonly balances: readonly StatementBalance[]
  /** The entries of this page, oldest first. */
  readonly list: readonly Entry[]
  /** The number of entries on all pages. */
  readonly count: number
}

/**
 * Reads a page of a statement at one moment, from the ledger alone. The rows read are those of the page, and of all users those of the
 * sums of each day since the period began: no page and no sum costs more for a longer history.
 */
export async function readStatement(
  { db, currencies, clock }: Pick<ReadContext, 'db' | 'currencies'> & { readonly clock: Pick<Clock, 'now'> },
  selection: StatementSelection,
): Promise<Statement> {
  const { period, cuy, limit = statementRowsDefault } = selection
  const { sums, entries } = await selectStatement(db, currencies, { ...selection, limit })
  const byCuy = new Map(sums.map((row) => [row.cuy, row]))
  const shown = currencies.list.filter((currency) => cuy === undefined || currency.cuy === cuy)
  return {
    until: Math.min(clock.now(), period.to) as UnixMs, // safe: one of two times
    balances: shown.map((currency) => {
      const row = byCuy.get(currency.cuy)
      return { currency, opening: row?.opening ?? 0n, closing: row?.closing ?? 0n }
    }),
    list: entries,
    count: shown.reduce((sum, currency) => sum + (byCuy.get(currency.cuy)?.count ?? 0), 0),
  }
}
