import { payoutStates } from '../../worker/common/payout-states.ts'
import { query } from '../kit/api.ts'
import { knownCount } from '../kit/counted.ts'
import { html } from '../kit/dom.ts'
import { type DeskContext, deskAmount, deskSymbol, payoutsNow, sinceText, stateName } from './context.ts'
import { type DeskPayout, readDeskPayouts } from './data.ts'
import { small, storyButton } from './parts.ts'
import { leftTexts } from './payout-left.ts'
import { type FilteredSource, isCounted, type ListRow, type Row } from './walk.ts'

/** The list of payouts: of all users, or of the user or to the address that `of` names. */
export function payoutSource(context: DeskContext, of: { uid?: number; to?: string } = {}): FilteredSource {
  const { texts, api, model } = context
  return {
    name: 'payouts',
    title: texts.payouts,
    columns: [
      ...['id', 'created_at', 'state', 'uid', 'amount', 'fee', 'currency', 'to', 'osn', 'mark', 'txid', 'by'],
      ...['approved_by', 'attempts', 'reason', 'why'],
    ],
    states: {
      name: texts.filterState,
      values: () => payoutStates.map((state) => [state, stateName(context, state)]),
    },
    isThere: () => payoutsNow(model) !== null,
    async read(before, limit, filter) {
      const { state, cuy } = filter
      const page = await api.get(`/ledger/payouts?${query({ ...of, state, cuy, limit, before })}`, readDeskPayouts)
      if (!page.ok) return page
      const { list, count } = page.data
      const rows = list.map((payout) => payoutListRow(context, payout))
      return { ...page, data: { rows, count: isCounted(filter) ? knownCount(count) : null } }
    },
  }
}

/**
 * A payout as a row of the list of payouts: its cells on the page, and its values in the CSV file.
 */
export function payoutListRow(context: DeskContext, payout: DeskPayout): ListRow {
  const { id, created_at: at, state, uid, amt: amount, fee, cuy, to, osn, mark } = payout
  const { txid, by, approved_by, attempts, reason, why } = payout
  const cells = (): Row => {
    const label = storyButton(context, deskAmount(context, amount, cuy), `payout ${id}`)
    const user = small(context.texts.user(String(uid)))
    const left = leftTexts(context, payout).map((text) => html('span', { class: 'fault' }, text))
    return [[label, html('span', {}, stateName(context, state)), user, small(osn), ...left], [sinceText(context, at)]]
  }
  const values = () => [
    ...[id, at, state, uid, amount, fee, deskSymbol(context, cuy), to, osn, mark, txid, by],
    ...[approved_by, attempts, reason, why],
  ]
  return { id, at, state, cuy, amount, cells, values }
}
