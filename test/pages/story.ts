/** A user's data, with which the scripted service answers the deposit page. */
import { sumOf } from '../../src/pages/kit/decimal.ts'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { exact, type Script, type ScriptedService } from './scripted-service.ts'

/** The user's deposit address. */
export const payAddress = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'

/** A made-up txid for each number. */
export const txidOf = (n: number) => n.toString(16).padStart(2, '0').repeat(32)

const currency = (cuy: number, symbol: string, name: string, contract: string | null, minDeposit: string | null) => ({
  cuy,
  symbol,
  name,
  decimals: 6,
  scale: 6,
  minDeposit,
  contract,
  retired: false,
  open: true,
})

/** TRX without a minimum, and USDT with a minimum of 1. */
export const currencies = [
  currency(1, 'TRX', 'Tronix', null, null),
  currency(2, 'USDT', 'Tether USD', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', '1'),
]

/** A transfer to the user, by default of 25 USDT. */
export function transfer(id: number, state: string, members: object = {}) {
  const at = `2026-11-22T14:0${id % 10}:00.000Z`
  const basics = { id, txid: txidOf(id), position: 0, cuy: 2, amt: exact('25'), address: payAddress }
  return { ...basics, state, created_at: at, ...members }
}

/** A transfer as the scripted service knows it. */
interface ToldTransfer {
  readonly id: number
  readonly txid?: string
  readonly cuy?: number
  readonly amt?: string
  readonly address?: string
  readonly state?: string
  readonly created_at?: string
}

const orderBasics = {
  id: 1,
  uid: 7,
  cuy: 2,
  amt: '25',
  at_least: '25',
  order: '1041',
  address: payAddress,
  state: '',
  until: '2099-01-01T00:00:00.000Z',
  mark: '',
  created_at: '2026-11-22T14:00:00.000Z',
}

/** An order of the user, with amounts as texts. Without a `state` the transfers decide about it. */
export type ToldOrder = typeof orderBasics & { readonly return?: string }

/** An order of the user, by default 1041 of 25 USDT, older than each transfer here. */
export const order = (members: Partial<ToldOrder> = {}): ToldOrder => ({
  ...orderBasics,
  ...members,
  at_least: members.at_least ?? members.amt ?? orderBasics.at_least,
})

/** An order as the service answers with it, where these are the user's transfers. */
export function standing(told: ToldOrder, transfers: readonly ToldTransfer[]) {
  const { cuy, address, created_at, state } = told
  const own = transfers.filter(
    (one) => one.cuy === cuy && one.address === address && (one.created_at ?? '') >= created_at,
  )
  const counting = state === 'cancelled' ? [] : ['seen', 'held', 'credited']
  const deposits = own.filter((one) => counting.includes(one.state ?? ''))
  const sum = (isIn: (state: string | undefined) => boolean) => {
    const digits = sumOf(deposits.filter((one) => isIn(one.state)).map(({ amt }) => amt?.replaceAll('#', '') ?? '0'))
    return digits.replace(/(\.\d{6})\d+$/, '$1') // no more digits than the ledger keeps
  }
  const credited = sum((one) => one === 'credited')
  const byCredit = Number(credited) >= Number(told.at_least) ? 'paid' : Number(credited) > 0 ? 'partly' : 'open'
  return {
    ...told,
    state: state === 'expired' && byCredit === 'paid' ? byCredit : state || byCredit,
    amt: exact(told.amt),
    at_least: exact(told.at_least),
    seen: exact(sum((one) => one !== 'credited')),
    credited: exact(credited),
    late: false,
    taken: false,
    deposits: deposits.map(({ txid, amt, state: of }) => ({ txid, position: 0, amt, state: of })),
  }
}

/** A ledger entry of the user, by default in USDT. */
export function entry(id: number, type: number, amt: string, balance: string, members: object = {}) {
  const at = `2026-11-${String(1 + (id % 22)).padStart(2, '0')}T09:30:00.000Z`
  const basics = { id, uid: 7, wid: 3, osn: txidOf(id), type, cuy: 2 }
  return { ...basics, amt: exact(amt), balance: exact(balance), mark: '', created_at: at, ...members }
}

/** A user's data, from which the scripted service answers the deposit page. */
export interface Story {
  network: string
  explorer: string | null
  late: number | null
  currencies: object[]
  orders: ToldOrder[]
  transfers: ToldTransfer[]
  balances: [cuy: number, amount: string][]
  entries: { id: number; cuy: number }[]
  payouts: { id: number }[]
}

/** A user who has an order and has paid nothing yet. */
export const newcomer = (): Story => ({
  network: 'Tron',
  explorer: 'https://tronscan.org/#',
  late: null,
  currencies,
  orders: [order()],
  transfers: [],
  balances: [
    [1, '0'],
    [2, '0'],
  ],
  entries: [],
  payouts: [],
})

/** A payout of 5 USDT, whose `osn` is that of an entry of type 2. */
export function payout(id: number, state: string, osn: string, members: object = {}) {
  const basics = { id, cuy: 2, amt: exact('5'), fee: 0, to: payAddress, osn, mark: '', state }
  return { ...basics, created_at: '2026-11-01T09:30:00.000Z', ...members }
}

/** A user with a history. Each credited deposit has its entry. */
export const regular = (): Story => ({
  network: 'Tron',
  explorer: 'https://tronscan.org/#',
  late: null,
  currencies,
  orders: [],
  transfers: [
    transfer(9, 'seen', { seconds: 43, amt: exact('120.5') }),
    transfer(8, 'credited', { entry: 21, amt: exact('9007199254.740991') }),
    transfer(7, 'refused', { reason: 'below-minimum', why: 'below the minimum of 1 USDT', amt: exact('0.25') }),
    transfer(6, 'held', { reason: 'retired', why: 'the currency is retired' }),
    transfer(5, 'dropped'),
    transfer(2, 'credited', { entry: 17, cuy: 1, amt: exact('3.5'), created_at: '2026-11-18T09:29:00.000Z' }),
    transfer(1, 'credited', { entry: 5, created_at: '2026-11-06T09:29:00.000Z' }),
  ],
  balances: [
    [1, '3.5'],
    [2, '9007199279.740991'],
  ],
  entries: [
    entry(21, 1, '9007199254.740991', '9007199279.740991', {
      osn: `${txidOf(8)}:0`,
      mark: 'deposit',
      created_at: '2026-11-22T14:09:05.000Z',
    }),
    entry(20, 4, '-2.5', '25', { mark: 'two cups' }),
    entry(17, 1, '3.5', '3.5', { cuy: 1, osn: txidOf(2) }),
    entry(12, 5, '2.5', '27.5', { osn: '=cmd|calc!A0', mark: '@refund' }),
    entry(5, 1, '25', '25', { osn: `${txidOf(1)}:0` }),
  ],
  payouts: [],
})

/**
 * A user with a withdrawal without a payout, then one with a payout in each state, newest first,
 * and a fee.
 */
export function withdrawing(): Story {
  const at = '2026-11-22T09:30:00.000Z'
  const states = ['waiting', 'approved', 'signed', 'paid', 'stuck', 'cancelled']
  const orders = states.map((state, n) => ({ state, osn: `order-${n}`, n }))
  return {
    ...newcomer(),
    entries: [
      entry(20, 2, '-1', '4', { osn: 'by hand' }),
      ...orders.map(({ osn, n }) => entry(19 - n, 2, '-5', '5', { osn, created_at: at })),
      entry(9, 4, '-1', '10', { osn: 'order-3' }), // the fee of a payout has the payout's `osn`
    ],
    payouts: orders.map(({ state, osn, n }) => {
      const txid = ['signed', 'paid', 'stuck'].includes(state) ? { txid: txidOf(n) } : {}
      return payout(9 - n, state, osn, { created_at: at, ...txid })
    }),
  }
}

/** Answers all routes of the page from `story`, which a test may change at any time. */
export function serve(service: ScriptedService, story: Story): void {
  const { routes } = service
  routes.clear()
  routes.set('/currencies', () =>
    listed(story.currencies, {
      network: story.network,
      explorer: story.explorer,
      late: story.late,
    }),
  )
  routes.set('/tron/orders', ({ searchParams }) => {
    const own = story.orders.filter((one) => one.order === searchParams.get('order'))
    return listed(own.map((one) => standing(one, story.transfers)))
  })
  routes.set('/tron/generate', () => ({ data: { id: 1, address: payAddress } }))
  routes.set(
    '/tron/deposits',
    paged(() => story.transfers),
  )
  routes.set('/wallet/list', () => listed(story.balances.map(([cuy, amt]) => ({ amt: exact(amt), cuy }))))
  routes.set(
    '/wallet/flow/list',
    paged(() => story.entries),
  )
  routes.set(
    '/tron/payouts',
    paged(() => story.payouts),
  )
  routes.set('/tron/recharge', () => ({ msg: 'success: nothing new' }))
  service.requests.length = 0
  service.frameAncestors = "'none'"
  service.settings = noPageSettings
}

function listed(list: object[], members: object = {}) {
  return { data: { ...members, list, count: list.length } }
}

function paged(all: () => readonly { id: number; cuy?: number }[]): Script {
  return ({ searchParams }) => {
    const cuy = searchParams.get('cuy')
    const before = Number(searchParams.get('before') ?? Number.POSITIVE_INFINITY)
    const matching = all().filter((one) => cuy === null || String(one.cuy) === cuy)
    const list = matching.filter(({ id }) => id < before).slice(0, Number(searchParams.get('limit')))
    return { data: { list, count: matching.length } }
  }
}

const words: Readonly<Record<number, string>> = {
  ...{ 1: 'deposit', 2: 'withdrawal', 3: 'transfer', 4: 'payment', 5: 'refund', 9: 'adjustment' },
}
/** An entry as statements have it: with what it was. */
export const stated = <Entry extends object>(one: Entry) => ({
  what: 'type' in one ? words[Number(one.type)] : undefined,
  ...one,
})
