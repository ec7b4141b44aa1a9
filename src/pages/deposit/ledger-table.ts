import { html } from '../kit/dom.ts'
import type { DepositContext } from './context.ts'

/**
 * A row of the table: an entry, or the balance at the beginning or end of a period. Empty members
 * are not shown.
 */
export interface LedgerRow {
  readonly name: string
  readonly time: HTMLElement
  readonly remark: string
  readonly more: readonly HTMLElement[]
  readonly amount: string
  /** The balance after the entry. */
  readonly balance: string
}

/**
 * A table of entries. On a phone the style sheet changes the display of rows, so their roles are
 * set explicitly for screen readers.
 */
export function ledgerTable({ texts }: DepositContext, rows: readonly LedgerRow[]): HTMLElement {
  const small = (words: string) => (words === '' ? null : html('span', { class: 'muted' }, words))
  const shown = rows.map(({ name, time, remark, more, amount, balance }) => {
    const first = html('td', { role: 'cell' }, html('span', {}, name), time, small(remark), ...more)
    const after = small(balance === '' ? '' : texts.balanceAfter(balance))
    return html(
      'tr',
      { role: 'row' },
      first,
      html('td', { role: 'cell', class: 'number' }, html('span', {}, amount), after),
    )
  })
  const head = html('th', { role: 'columnheader' }, texts.entry)
  const amounts = html('th', { role: 'columnheader', class: 'number' }, texts.amountAndBalance)
  return html(
    'table',
    { role: 'table', class: 'ledger' },
    html('thead', { role: 'rowgroup' }, html('tr', { role: 'row' }, head, amounts)),
    html('tbody', { role: 'rowgroup' }, ...shown),
  )
}

/**
 * The name of a type of entry for payers; one general name for all types that this page does not
 * know.
 */
export function entryName({ texts }: DepositContext, type: number): string {
  const names: Readonly<Record<number, string>> = {
    1: texts.type1,
    2: texts.type2,
    3: texts.type3,
    4: texts.type4,
    5: texts.type5,
    9: texts.type9,
  }
  return names[type] ?? texts.typeOther
}
