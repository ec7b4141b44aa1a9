import { formatUnits } from '../common/amount.ts'
import { toCsv } from '../common/csv.ts'
import { formatInstant } from '../common/time.ts'
import { configured } from '../ledger/currencies.ts'
import { statementItem } from '../ledger/entry.ts'
import type { Period } from '../ledger/period.ts'
import type { Statement } from '../ledger/statement.ts'
import type { RequestContext } from './context.ts'

/**
 * Which page of a statement to answer with. Only the first has the column names and opening
 * balances, only the last the closing ones.
 */
export interface StatementPart {
  readonly period: Period
  readonly isFirst: boolean
  readonly isLast: boolean
}

type Item = ReturnType<typeof statementItem<string>>
type Column = 'kind' | 'symbol' | keyof Item
type Line = { readonly [Name in Column]?: string | number }

const columns = [
  'kind',
  'id',
  'uid',
  'wid',
  'osn',
  'type',
  'cuy',
  'symbol',
  'amt',
  'balance',
  'mark',
  'created_at',
  'what',
  'to',
  'txid',
] as const

/**
 * Answers with a page of a statement as CSV. The first page begins with the column names and a line
 * for each opening balance; the last page ends with a line for each closing balance. So the pages,
 * one after the other, are one file. `hasBackends` adds the column `by`: the backend that posted an
 * entry.
 */
export function answerCsv(
  c: RequestContext,
  { balances, list, until }: Statement,
  { period, isFirst, isLast }: StatementPart,
  hasBackends: boolean,
): Response {
  const { currencies } = c.env.services.settings
  const shown: readonly Column[] = hasBackends ? [...columns, 'by'] : columns
  const sums = (kind: 'opening' | 'closing', created_at: string): Line[] =>
    balances.map(({ currency: { cuy, symbol, scale }, ...one }) => ({
      kind,
      cuy,
      symbol,
      amt: formatUnits(one[kind], scale),
      created_at,
    }))
  const entries = list.map((entry): Line => {
    const item = statementItem(entry, currencies, formatUnits)
    return { kind: 'entry', symbol: configured(entry.cuy, currencies).symbol, ...item }
  })
  const lines = [
    ...(isFirst ? sums('opening', formatInstant(period.from)) : []),
    ...entries,
    ...(isLast ? sums('closing', formatInstant(until)) : []),
  ]
  const rows = lines.map((line) => shown.map((name) => String(line[name] ?? '')))
  return new Response(toCsv(isFirst ? [shown, ...rows] : rows), {
    headers: { 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' },
  })
}
