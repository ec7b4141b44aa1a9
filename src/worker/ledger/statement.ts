import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { ReadContext } from './context.ts'
import type { Currency } from './currencies.ts'
import type { StatementEntry } from './entry.ts'
import type { StatementSelection } from './period.ts'
import { selectStatement } from './store/statement.ts'

/** Most entries on a page of a statement if `limit` is absent. */
export const statementRowsDefault = 100
/** The highest `limit` of a statement. */
export const statementRowsMax = 1_000

/**
 * The balance of one currency at the start and end of a period, in ledger units. A sum over all
 * users may exceed the largest `Amount`.
 */
export interface StatementBalance {
  readonly currency: Currency
  readonly opening: bigint
  /** At the end of the period, or now if it has not ended. */
  readonly closing: bigint
}

/**
 * A page of a statement. In each currency, `opening` plus the amounts of the entries on all pages
 * gives `closing`.
 */
export interface Statement {
  /** The end of the period, or now if it has not ended. */
  readonly until: UnixMs
  /**
   * One for each configured currency, or only for the selected one, in the order of `CURRENCIES`.
   */
  readonly balances: readonly StatementBalance[]
  /** The entries of this page, oldest first. */
  readonly list: readonly StatementEntry[]
  /** The number of entries on all pages. */
  readonly count: number
}

/**
 * Reads a page of a statement. Balances and entries are of the same moment. Only the rows of the
 * page and a few stored sums are read, so the cost does not grow with the number of entries in the
 * database.
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
    until: Math.min(clock.now(), period.to) as UnixMs, // safe: the lower of two times
    balances: shown.map((currency) => {
      const row = byCuy.get(currency.cuy)
      return { currency, opening: row?.opening ?? 0n, closing: row?.closing ?? 0n }
    }),
    list: entries,
    count: shown.reduce((sum, currency) => sum + (byCuy.get(currency.cuy)?.count ?? 0), 0),
  }
}
