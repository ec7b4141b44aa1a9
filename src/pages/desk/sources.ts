import { orderStates } from '../../worker/common/order-states.ts'
import { payoutStates } from '../../worker/common/payout-states.ts'
import { query } from '../kit/api.ts'
import { knownCount } from '../kit/counted.ts'
import { html } from '../kit/dom.ts'
import {
  type DeskContext,
  depositAmount,
  deskAmount,
  deskSymbol,
  payoutsNow,
  sinceText,
  stateName,
  typeName,
} from './context.ts'
import {
  type DeskEvent,
  markOf,
  type OwnedDeposit,
  type PostedEntry,
  readDeskEvents,
  readOwnedDeposits,
  readPostedEntries,
} from './data.ts'
import { orderSource, orderStateName } from './order-source.ts'
import { depositRow, small, storyButton } from './parts.ts'
import { payoutSource } from './payout-source.ts'
import { depositReason, stuckWords } from './reasons.ts'
import { type FilteredSource, isCounted, type ListRow, type Row } from './walk.ts'

/** The lists of the desk, in the order of their buttons. To add a list, add it here. */
export const createSources = (context: DeskContext): readonly FilteredSource[] => [
  depositSource(context),
  orderSource(context),
  payoutSource(context),
  entrySource(context),
  eventSource(context),
]

/** The list of deposits: of all users, or of the user or to the address that `of` names. */
export function depositSource(context: DeskContext, of: { uid?: number; address?: string } = {}): FilteredSource {
  const { texts, api } = context
  const names = ['seen', 'held', 'credited', 'refused', 'dropped']
  return {
    name: 'deposits',
    title: texts.listDeposits,
    columns: ['id', 'created_at', 'state', 'uid', 'amount', 'currency', 'txid', 'address', 'reason', 'why', 'entry'],
    states: { name: texts.filterState, values: () => names.map((name) => [name, stateName(context, name)]) },
    async read(before, limit, filter) {
      const { state, cuy } = filter
      const path = `/ledger/deposits?${query({ ...of, state, cuy, limit, before })}`
      const page = await api.get(path, readOwnedDeposits)
      if (!page.ok) return page
      const { list, count } = page.data
      const rows = list.map((deposit) => depositListRow(context, deposit))
      return { ...page, data: { rows, count: isCounted(filter) ? knownCount(count) : null } }
    },
  }
}

/**
 * A deposit as a row of the list of deposits: its cells on the page, and its values in the CSV
 * file.
 */
export function depositListRow(context: DeskContext, deposit: OwnedDeposit): ListRow {
  const { id, created_at: at, state, uid, amt: amount, cuy, txid, address, reason, why, entry } = deposit
  const values = () => [id, at, state, uid, amount, deskSymbol(context, cuy), txid, address, reason, why, entry]
  return { id, at, state, cuy, amount, cells: () => depositRow(context, deposit), values }
}

/** The list of ledger entries: of all users if `uid` is null. */
export function entrySource(context: DeskContext, uid: number | null = null): FilteredSource {
  const { texts, api } = context
  return {
    name: 'entries',
    title: texts.listEntries,
    columns: ['id', 'created_at', 'type', 'uid', 'amount', 'currency', 'balance', 'osn', 'mark', 'by'],
    states: {
      name: texts.filterType,
      values: () => [1, 2, 3, 4, 5, 9].map((type) => [String(type), typeName(context, type)]),
    },
    async read(before, limit, filter) {
      const page = await api.get(`/ledger/entries?${query({ uid, limit, before })}`, readPostedEntries)
      if (!page.ok) return page
      const { list, count } = page.data
      const rows = list.map((entry) => entryListRow(context, entry))
      const isAll = isCounted(filter) && filter.state + filter.cuy === ''
      return { ...page, data: { rows, count: isAll ? count : null } }
    },
  }
}

/**
 * A ledger entry as a row of the list of entries: its cells on the page, and its values in the CSV
 * file.
 */
export function entryListRow(context: DeskContext, entry: PostedEntry): ListRow {
  const { id, created_at: at, type, uid, amt: amount, cuy, balance, osn, mark, by } = entry
  const values = () => [id, at, type, uid, amount, deskSymbol(context, cuy), balance, osn, mark, by]
  const cells = (): Row => {
    const name = `${deskAmount(context, amount, cuy, 'always')} ${typeName(context, type)}`
    const label = storyButton(context, name, `${uid} ${osn}`)
    const user = small(context.texts.user(String(uid)))
    const after = small(context.texts.balanceAfter(context.format.amount(balance)))
    return [
      [label, user, small(osn), small(markOf(entry))],
      [sinceText(context, at), after],
    ]
  }
  return { id, at, state: String(type), cuy, amount, cells, values }
}

/**
 * The types of events about what a token's issuer did to an address, with the names of their texts.
 */
const issuerTexts = {
  'address.frozen': 'frozenByIssuer',
  'address.released': 'releasedByIssuer',
  'address.destroyed': 'destroyedByIssuer',
} as const
const isOfIssuer = (type: string): type is keyof typeof issuerTexts => Object.hasOwn(issuerTexts, type)

const depositStates = ['seen', 'credited', 'held', 'refused', 'dropped']

/**
 * The types of events that the filter offers: those about payouts only if payouts are configured.
 */
function typesNow({ model }: DeskContext): string[] {
  const ofPayouts = payoutsNow(model) === null ? [] : payoutStates
  const deposits = depositStates.map((state) => `deposit.${state}`)
  const orders = orderStates.filter((state) => state !== 'open').map((state) => `order.${state}`)
  return [
    ...deposits,
    ...orders,
    ...ofPayouts.map((state) => `payout.${state}`),
    ...Object.keys(issuerTexts),
    'entry.posted',
  ]
}

/**
 * The list of events. The service only reads forwards, but event numbers have no gaps: so the
 * `limit` events below an id are those after `id − 1 − limit`.
 */
function eventSource(context: DeskContext): FilteredSource {
  const { texts, api, model } = context
  return {
    name: 'events',
    title: texts.listEvents,
    columns: ['id', 'type', 'created_at', 'uid', 'amount', 'currency', 'txid', 'osn', 'reason', 'why'],
    states: {
      name: texts.filterType,
      values: () => typesNow(context).map((type) => [type, eventName(context, type, null)]),
    },
    async read(before, limit) {
      const end = before ?? (model.summary?.newest_event ?? 0) + 1
      const after = Math.max(0, end - 1 - limit)
      const events = await api.get(`/ledger/events?${query({ after, limit })}`, readDeskEvents)
      if (!events.ok) return events
      const rows = events.data.list.filter(({ id }) => id < end).map((event) => eventListRow(context, event))
      return { ...events, data: { rows: rows.reverse(), count: null } }
    },
  }
}

/** An event in words; a type that this page does not know keeps the service's word. */
function eventName(context: DeskContext, type: string, entry: PostedEntry | null): string {
  const { texts } = context
  const [kind, state = ''] = type.split('.')
  if (kind === 'deposit') return texts.pair(texts.types[1], stateName(context, state))
  if (kind === 'order') return texts.pair(texts.order, orderStateName(context, state))
  if (kind === 'payout') return texts.pair(texts.payout, stateName(context, state))
  if (isOfIssuer(type)) return texts[issuerTexts[type]]
  if (type !== 'entry.posted') return type
  return entry === null ? texts.listEntries : typeName(context, entry.type)
}

/** An event as a row of the list of events. Some types have no amount. */
function eventListRow(context: DeskContext, event: DeskEvent): ListRow {
  const { id, type, uid, created_at: at, data } = event
  const { txid, entry, reason, why } = data
  const { cuy, amt: amount, osn, mark } = entry ?? data
  const symbolOf = () => (cuy === null ? null : deskSymbol(context, cuy))
  const cells = (): Row => {
    const sum = (shown: string, of: number) =>
      entry === null || type.startsWith('deposit.')
        ? depositAmount(context, shown, of)
        : deskAmount(context, shown, of, 'always')
    const about = amount === null || cuy === null ? symbolOf() : sum(amount, cuy)
    const label = [eventName(context, type, entry), about].filter(Boolean).join(' · ')
    const words = reason === null ? null : html('span', {}, reasonText(context, event, reason))
    const remark = small(type.startsWith('deposit.') ? null : mark)
    const user = small(context.texts.user(String(uid)))
    return [[storyButton(context, label, questionOf(event)), words, remark, user], [sinceText(context, at)]]
  }
  const values = () => [id, type, at, uid, amount, symbolOf(), txid, osn ?? data.order, reason, why]
  return { id, at, state: type, cuy, amount, cells, values }
}

const isOfPayout = (type: string) => type.startsWith('payout.')

const reasonText = (context: DeskContext, { type, data: { why } }: DeskEvent, reason: string) =>
  isOfPayout(type)
    ? stuckWords(context, reason, why).why
    : depositReason(context, { state: type.replace('deposit.', ''), reason, why }).why

/**
 * The search that leads to the story of an event. An act of a token's issuer has no story, so its
 * event leads to the address. An event of an unknown type leads to its user.
 */
function questionOf({ type, uid, data }: DeskEvent): string {
  const { id, address, txid, entry, order } = data
  if (isOfPayout(type)) return `payout ${id}`
  if (type.startsWith('order.')) return `${uid} ${order}`
  const named = isOfIssuer(type) ? address : txid
  return named ?? (entry === null ? String(uid) : `${uid} ${entry.osn}`)
}
