/**
 * A scripted service for the desk: it answers from a story, and changes the story when people act.
 */
import { type DeskStory, owned } from './desk-story.ts'
import { exact, type Script, type Scripted, type ScriptedService } from './scripted-service.ts'
import { payAddress } from './story.ts'

/** Answers all routes that the desk uses; the token `good` is valid. */
export function serveDesk(service: ScriptedService, desk: DeskStory): void {
  const { routes } = service
  const guarded = (path: string, script: Script) =>
    routes.set(path, (url, request, sent) => {
      const isGood = request.headers?.authorization !== 'Bearer bad' && request.headers?.authorization !== undefined
      return isGood ? script(url, request, sent) : { status: 401, msg: 'a valid bearer token is required' }
    })
  routes.clear()
  routes.set('/currencies', () => ({ data: { network: 'Tron', list: [], count: 0 } }))
  guarded('/ledger/summary', () => ({ data: desk.summary }))
  guarded('/ledger/deposits', ({ searchParams }) =>
    page(
      desk.deposits.filter((one) => matches(one, searchParams, ['txid', 'address', 'state', 'uid', 'cuy', 'reason'])),
      searchParams,
    ),
  )
  guarded('/ledger/entries', ({ searchParams }) =>
    page(
      desk.entries.filter(
        (one) => matches(one, searchParams, ['uid', 'osn']) && (searchParams.has('uid') || one.type !== 1),
      ),
      searchParams,
    ),
  )
  guarded('/ledger/orders', ({ searchParams }) =>
    page(
      desk.orders.filter((one) => matches(one, searchParams, ['uid', 'order', 'state', 'address'])),
      searchParams,
    ),
  )
  guarded('/ledger/payouts', ({ searchParams }) => {
    if (desk.summary.payouts === null) return { status: 404, msg: 'no such path' }
    const own = desk.payouts.filter((one) => matches(one, searchParams, ['uid', 'cuy', 'state', 'osn', 'to', 'txid']))
    return page(own, searchParams)
  })
  guarded('/ledger/payouts/approve', (_url, _request, sent) => step(desk, sent, 'approved'))
  guarded('/ledger/payouts/cancel', (_url, _request, sent) => step(desk, sent, 'cancelled'))
  guarded('/ledger/deposits/decide', (_url, _request, sent) => decide(desk, sent))
  guarded('/ledger/search', ({ searchParams }) => {
    const [begin = '', end = ''] = ['begin', 'end'].map((name) => searchParams.get(name) ?? '')
    const txids = desk.deposits.map(({ txid }) => txid)
    const own = [payAddress, ...txids].filter((one) => one.startsWith(begin) && one.endsWith(end))
    const list = own.map((one) => (one.startsWith('T') ? { address: one } : { txid: one }))
    return { data: { list, more: list.length > 2 } }
  })
  guarded('/ledger/addresses', ({ searchParams }) => {
    const list = searchParams.get('uid') === '7' ? [{ id: 3, address: payAddress }] : []
    return { data: { list, count: list.length } }
  })
  guarded('/ledger/events', ({ searchParams }) => {
    const after = desk.events.filter(({ id }) => id > Number(searchParams.get('after')))
    const list = after.slice(0, Number(searchParams.get('limit')))
    return { data: { list, count: list.length } }
  })
  guarded('/ledger/transaction', ({ searchParams }) => ({ data: { txid: searchParams.get('txid'), ...desk.chain } }))
  guarded('/ledger/wallets', () => ({
    data: {
      list: [
        { cuy: 1, amt: exact('0') },
        { cuy: 2, amt: exact('22.5') },
      ],
      count: 2,
    },
  }))
  guarded('/ledger/address', ({ searchParams }) => {
    if (searchParams.get('address') !== payAddress) return { status: 404, msg: 'no such address' }
    return { data: { uid: 7, id: 3, address: payAddress, frozen: desk.frozen } }
  })
  service.requests.length = 0
}

/** Approves or cancels payouts in the story, as the service would. */
function step(desk: DeskStory, sent: string | undefined, state: 'approved' | 'cancelled'): Scripted {
  const { ids, why } = JSON.parse(sent ?? '') as { ids: number[]; why?: string } // safe: sent by the page
  const late = desk.payouts.find((one) => ids.includes(one.id) && one.state === 'cancelled' && state === 'approved')
  if (late !== undefined) return { status: 409, reason: 'not-in-this-state', msg: `payout ${late.id}: it is cancelled` }
  const changes = state === 'approved' ? { state, approved_by: desk.summary.reader.name } : { state, why }
  desk.payouts = desk.payouts.map((one) => (ids.includes(one.id) ? { ...one, ...changes } : one))
  const list = desk.payouts.filter(({ id }) => ids.includes(id))
  return { data: { list, count: list.length } }
}

/** Decides about deposits in the story, as the service would. */
function decide(desk: DeskStory, sent: string | undefined): Scripted {
  // safe: sent by the page
  const { deposits } = JSON.parse(sent ?? '') as { deposits: { txid: string; decision: string; why: string }[] }
  desk.deposits = desk.deposits.map((one) => {
    const made = deposits.find(({ txid }) => txid === one.txid)
    if (made === undefined) return one
    const decided = { decision: made.decision, why: made.why, by: desk.summary.reader.name }
    const { id, amt, txid } = one
    const rest = { amt, txid, decided }
    return made.decision === 'credit'
      ? owned(id, 'credited', { ...rest, entry: 5 })
      : owned(id, 'refused', { ...rest, reason: 'review', why: 'a person has refused it' })
  })
  return { data: { list: [], count: 0, replayed: false } }
}

function matches(one: object, params: URLSearchParams, names: readonly string[]): boolean {
  return names.every((name) => {
    const wanted = params.get(name)
    return wanted === null || String((one as Record<string, unknown>)[name]) === wanted // safe: only compared
  })
}

function page(all: readonly { id: number }[], params: URLSearchParams) {
  const after = params.get('after')
  if (after !== null) {
    const oldest = all.filter(({ id }) => id > Number(after)).toSorted((a, b) => a.id - b.id)
    return { data: { list: oldest.slice(0, Number(params.get('limit'))), count: all.length } }
  }
  const before = Number(params.get('before') ?? Number.POSITIVE_INFINITY)
  const list = all.filter(({ id }) => id < before).slice(0, Number(params.get('limit')))
  return { data: { list, count: all.length } }
}
