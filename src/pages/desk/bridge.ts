import { difference, isZero, sumOf } from '../kit/decimal.ts'
import { type Child, html, type PageView } from '../kit/dom.ts'
import { lookUp } from '../kit/look-up.ts'
import { type DeskContext, isUncertain, payoutsNow } from './context.ts'
import type { DeskCurrency } from './data.ts'
import { createLiveSlot, small } from './parts.ts'

/**
 * The type of the ledger entries of deposits. Among the movements that make up what addresses hold
 * (`held_by`), deposits have the name `creditedName`.
 */
const depositType = 1
/**
 * The type of the ledger entries of payouts, and of withdrawals that a backend pays without this
 * service.
 */
const withdrawalType = 2
const creditedName = 'credited'

/**
 * A line of a table of sums. `amount` has a sign. A line with `isFault` has the colour of faults.
 */
interface Line {
  readonly name: string
  readonly amount: string
  readonly isFault?: boolean
}

/**
 * Three tables for each currency: what wallets are owed, what addresses hold, and the difference of
 * both. The lines of a table add up to its total exactly.
 */
export function createBridge(context: DeskContext): PageView {
  const { model, texts } = context
  const list = html('div', { class: 'currencies' })
  const show = createLiveSlot(list)
  return {
    element: html('section', { class: 'card wide' }, html('h2', {}, texts.sumsHeading), list),
    update() {
      const { summary } = model
      list.classList.toggle('skeleton', summary === null)
      show((summary?.currencies ?? []).map((one) => bridgeOf(context, one)))
    },
  }
}

/**
 * The three tables of a currency, and when and how completely its addresses were read. They are as
 * of now, whatever the period of a statement that they stand in.
 */
export function bridgeOf(context: DeskContext, currency: DeskCurrency): HTMLElement {
  const { texts, format } = context
  const { cuy, symbol, owed, held, held_at, compared, unread, differing, frozen, frozen_addresses } = currency
  const owedLines = currency.owed_by.map(({ type, sum }) => ({ name: ledgerName(context, type), amount: sum }))
  const read = held_at === null ? texts.notCompared : texts.comparedAt(format.count(compared), format.time(held_at))
  const heldLines = held === null ? [] : heldLinesOf(context, currency, held)
  const notes = [
    small(read),
    small(unread === 0 ? null : texts.unread(format.count(unread))),
    differing === 0 ? null : html('span', { class: 'fault' }, texts.differing(format.count(differing))),
    small(isUncertain(context, cuy) ? texts.decimalsNote : null),
    small(frozen_addresses === 0 ? null : texts.frozenSum(format.amount(frozen), format.count(frozen_addresses))),
  ]
  const tables = [
    sumTable(context, texts.bridgeOwed, owedLines, owed),
    held === null ? null : sumTable(context, texts.bridgeHeld, heldLines, held),
    held === null
      ? null
      : sumTable(
          context,
          texts.bridgeBetween,
          betweenLines(context, currency, heldLines),
          difference(held, owed),
          'always',
        ),
  ]
  return html(
    'div',
    { 'data-cuy': String(cuy) },
    html('h3', {}, symbol),
    html('div', { class: 'bridge' }, ...tables),
    ...notes,
  )
}

/**
 * The lines that add up to what addresses hold: money received, collected, burnt and destroyed,
 * unexplained differences, and changes not yet in balances.
 */
function heldLinesOf(context: DeskContext, { held_by, destroyed, unexplained }: DeskCurrency, held: string): Line[] {
  const { texts } = context
  const moved = held_by.map(({ what, sum }) => ({ name: movedName(context, what), amount: sum }))
  const fault = { name: texts.movedUnexplained, amount: unexplained, isFault: true }
  const lost = difference('0', destroyed)
  const unread = difference(held, sumOf([...held_by.map(({ sum }) => sum), lost, unexplained]))
  return [...moved, { name: texts.movedDestroyed, amount: lost }, fault, { name: texts.movedUnread, amount: unread }]
}

/**
 * The lines of the difference between what is held and what is owed: amounts that only one of the
 * two contains.
 */
function betweenLines(context: DeskContext, { owed_by, held_by }: DeskCurrency, held: readonly Line[]): Line[] {
  const { texts, model } = context
  // payouts are sent from the payout address, which is not among the addresses here
  const hasPayouts = payoutsNow(model) !== null
  const posted = owed_by.filter(({ type }) => type !== depositType)
  const credited = held_by.find(({ what }) => what === creditedName)?.sum ?? '0'
  const rest = difference(credited, owed_by.find(({ type }) => type === depositType)?.sum ?? '0')
  return [
    ...posted.map(({ type, sum }) => ({
      name: (type === withdrawalType && hasPayouts ? texts.notFromHere : texts.postedOnly)(ledgerName(context, type)),
      amount: difference('0', sum),
    })),
    { name: texts.movedRest, amount: rest },
    ...held.filter(({ name }) => name !== movedName(context, creditedName)),
  ]
}

/** A table of the lines whose amount is not 0. The last row is `total`. */
function sumTable(
  { texts, format }: DeskContext,
  title: string,
  lines: readonly Line[],
  total: string,
  sign?: 'always',
): HTMLElement {
  const row = (name: string, amount: string, attributes: { readonly class: string | null }): Child =>
    html('tr', attributes, html('th', { scope: 'row' }, name), html('td', { class: 'number' }, amount))
  const shown = lines.filter(({ amount }) => !isZero(amount))
  const body = shown.map(({ name, amount, isFault }) =>
    row(name, format.amount(amount, 'always'), { class: isFault ? 'fault' : null }),
  )
  const end = row(texts.sumTotal, format.amount(total, isZero(total) ? undefined : sign), { class: 'total' })
  return html('table', {}, html('caption', {}, title), html('tbody', {}, ...body, end))
}

/** The name of a type of entries in these tables; its number if this page does not know it. */
const ledgerName = ({ texts }: DeskContext, type: number): string => lookUp(texts.sums, type) ?? String(type)

/**
 * The name of a kind of movement in these tables; the service's word if this page does not know it.
 */
const movedName = ({ texts }: DeskContext, what: string): string => lookUp(texts.moved, what) ?? what
