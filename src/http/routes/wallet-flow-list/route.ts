import { formatInstant } from '../../../common/time.ts'
import type { Currencies } from '../../../ledger/currencies.ts'
import type { Entry } from '../../../ledger/entry.ts'
import type { EntryFilter, EntryPage } from '../../../ledger/ledger-reader.ts'
import type { Route } from '../../context.ts'
import { jsonAmount, refusal, success } from '../../envelope.ts'
import { offsetMax, parseFlowListQuery, tooDeep } from './query.ts'

const noFilter: EntryFilter = { cuy: null, wid: null, type: null, osn: null, from: null, to: null }
const onePage: EntryPage = { kind: 'number', page: 1, limit: 1 }

/** The caller's ledger entries, newest first. */
export const walletFlowList = {
  path: '/wallet/flow/list',
  rateClass: () => 'lists',
  handle: async (c) => {
    const { services } = c.env
    const { currencies } = services.settings
    const query = parseFlowListQuery(c.req.url, currencies)
    if (!query.ok) return refusal(query.error)
    const { filter, page } = query.value
    const uid = c.get('uid')
    const found = await services.read(c.get('invocation'), async ({ ledger }) => {
      const isDeep = page.kind === 'number' && (page.page - 1) * page.limit > offsetMax
      // A page past the end of a short history is empty. The number of all entries is stored, so it costs nothing to read.
      if (isDeep && (await ledger.entries(uid, noFilter, onePage)).count > offsetMax) return null
      return ledger.entries(uid, filter, page)
    })
    if (found === null) return refusal({ kind: 'bad-input', field: 'page', why: tooDeep })
    const { list, count } = found
    return success({ list: list.map((entry) => toItem(entry, currencies)), count })
  },
} satisfies Route

function toItem(entry: Entry, currencies: Currencies) {
  const currency = currencies.byId.get(entry.cuy)
  // Without the scale, which is configuration, an amount cannot be written: a guess could be wrong by powers of ten.
  if (currency === undefined) throw new Error(`entry ${entry.id} is in currency ${entry.cuy}, which is not configured`)
  return {
    id: entry.id,
    uid: entry.uid,
    wid: entry.wid,
    osn: entry.osn,
    type: entry.type,
    cuy: entry.cuy,
    amt: jsonAmount(entry.amount, currency.scale),
    balance: jsonAmount(entry.balance, currency.scale),
    mark: entry.mark,
    created_at: formatInstant(entry.createdAt),
  }
}
