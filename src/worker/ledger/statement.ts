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

/** The sums of one currency in ledger units. Over all users they may exceed an `Amount`. */
export interface StatementBalance {
  readonly currency: Currency
  /** The sum before the period. */
  readonly opening: bigint
  /** The sum at the end of the period, or now if the period is still running. */
  readonly closing: bigint
}

/** A page of a statement. In each currency, `opening` plus the amounts of all entries gives `closing`. */
export interface Statement {
  /** The end of the period, or now if it is still running. */
  readonly until: UnixMs
  /** One for each configured currency, or only the selected one, ordered by `cuy`. */
  readonly balances: readonly StatementBalance[]
  /** The entries of this page, oldest first. */
  readonly list: readonly Entry[]
  /** The number of entries on all pages. */
  readonly count: number
}

/**
 * Reads a page of a statement at one moment, from the ledger alone. It reads the rows of the page and, for all users, the sums of each day since the period
 * began. So the cost does not grow with the history before the period.
 */
export async function readStatement(
  { db, currencies, clock }: Pick<ReadContext, 'db' | 'currencies'> & { readonly clock: Pick<Clock, 'now'> },
  selection: StatementSelection,
): Promise<Statement> {
  const { period, cuy, limit = statementRowsDefault } = selection
  const { sums, entries } = await selectStatement(db, currencies, { ...selection, limit })
  const byCuy = new Map(sums.map((row) => [row.cuy, row]))
  const shown = currencies.offered.filter((currency) => cuy === undefined || currency.cuy === cuy)
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
