import { orderStates } from '../../worker/common/order-states.ts'
import { query } from '../kit/api.ts'
import { knownCount } from '../kit/counted.ts'
import { html } from '../kit/dom.ts'
import { lookUp } from '../kit/look-up.ts'
import { type DeskContext, deskAmount, deskSymbol, sinceText } from './context.ts'
import { type DeskOrder, readDeskOrders } from './order-data.ts'
import { small, storyButton } from './parts.ts'
import { type FilteredSource, isCounted, type ListRow, type Row } from './walk.ts'

/** The name of a state of an order; the service's word if this page does not know it. */
export const orderStateName = ({ texts }: DeskContext, state: string): string =>
  lookUp(texts.orderStates, state) ?? state

/** The list of orders: of all users, or of the user or at the address that `of` names. */
export function orderSource(context: DeskContext, of: { uid?: number; address?: string } = {}): FilteredSource {
  const { texts, api } = context
  return {
    name: 'orders',
    title: texts.orders,
    columns: [
      ...['id', 'created_at', 'state', 'uid', 'order', 'amount', 'currency', 'at_least', 'seen', 'credited'],
      ...['late', 'taken', 'until', 'paid_at', 'address', 'mark', 'by'],
    ],
    states: {
      name: texts.filterState,
      values: () => orderStates.map((state) => [state, orderStateName(context, state)]),
    },
    async read(before, limit, filter) {
      const { state } = filter
      const page = await api.get(`/ledger/orders?${query({ ...of, state, limit, before })}`, readDeskOrders)
      if (!page.ok) return page
      const { list, count } = page.data
      const rows = list.map((order) => orderListRow(context, order))
      const isAll = isCounted(filter) && filter.cuy === ''
      return { ...page, data: { rows, count: isAll ? knownCount(count) : null } }
    },
  }
}

/**
 * An order as a row of the list of orders: its cells on the page, and its values in the CSV file.
 */
export function orderListRow(context: DeskContext, order: DeskOrder): ListRow {
  const { id, uid, cuy, amt, state, created_at, until, address, mark, by } = order
  const cells = (): Row => {
    const label = storyButton(context, deskAmount(context, amt, cuy), `${uid} ${order.order}`)
    const user = small(context.texts.user(String(uid)))
    const name = html('span', {}, orderStateName(context, state))
    return [[label, name, user, small(order.order), small(mark)], [sinceText(context, created_at)]]
  }
  const values = () => [
    ...[id, created_at, state, uid, order.order, amt, deskSymbol(context, cuy), order.at_least, order.seen],
    ...[order.credited, String(order.late), String(order.taken), until, order.paid_at, address, mark, by],
  ]
  return { id, at: created_at, state, cuy, amount: amt, cells, values }
}
