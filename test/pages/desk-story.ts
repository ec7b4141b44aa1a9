/**
 * The data with which the scripted service answers the desk: all is well, or there is one fault of
 * each kind.
 */
import type { Reason } from '../../src/worker/common/reasons.ts'
import { type AlarmKind, alarmTable } from '../../src/worker/platform/alarm-table.ts'
import { ago } from './ago.ts'
import type { noneOpen, paidOut } from './payout-fixture.ts'
import { exact } from './scripted-service.ts'
import { order, payAddress, type Story, standing, type ToldOrder, transfer, txidOf } from './story.ts'

const day = (index: number) => ({
  day: new Date(Date.UTC(2026, 9, 24 + index)).toISOString().slice(0, 10),
  deposits: (index * 7) % 11,
  sum: exact(`${(index * 37) % 90}.5`),
  entries: [
    { type: 1, count: (index * 7) % 11, sum: exact(`${(index * 37) % 90}.5`) },
    { type: 4, count: (index * 5) % 7, sum: exact(`-${index}.25`) },
  ],
})

/**
 * A currency's sums. Deposits minus payments are owed; deposits minus what was collected is held.
 */
const currency = (cuy: number, symbol: string) => ({
  cuy,
  symbol,
  owed: exact('9007199254.740993'),
  held: exact('9007199154.740993'),
  held_at: ago(3_600),
  owed_by: [
    { type: 1, sum: exact('9007199257.240993') },
    { type: 4, sum: exact('-2.5') },
  ],
  held_by: [
    { what: 'credited', sum: exact('9007199257.240993') },
    { what: 'collected', sum: exact('-102.5') },
  ],
  compared: 812,
  unread: 0,
  frozen: exact('0'),
  frozen_addresses: 0,
  destroyed: exact('0'),
  unexplained: exact('0'),
  differing: 0,
  days: Array.from({ length: 30 }, (_, n) => day(n)),
})

const wellNode = (number: number, host: string) => ({
  number,
  name: `node ${number} (${host})`,
  state: 'answers',
  use: 'first',
  behind: 0 as number | null,
  answered_at: ago(2) as string | null,
  answer_ms: 140 as number | null,
  failed_at: null as string | null,
  failure: null as string | null,
  used: 34_000,
  per_day: 100_000,
})

/** When the endpoints were registered. */
const longAgo = '2026-01-01T00:00:00.000Z'

/** The summary of a service without any problem. */
export const wellSummary = () => ({
  currencies: [currency(1, 'TRX'), currency(2, 'USDT')],
  addresses: 812,
  transfers: { seen: 2, held: 0, held_for: [] as object[] },
  nodes: ['one.example', 'two.example'].map((host, index) => wellNode(index + 1, host)) as
    | ReturnType<typeof wellNode>[]
    | null,
  gaps: [] as object[],
  alarms: [] as object[],
  differences: [] as object[],
  newest_event: 0,
  database: { bytes: 1_234_567_890, limit: 10_000_000_000, full_on: null as string | null },
  scan: {
    status: 'ok',
    scanned: 70_000_019,
    finalized: 70_000_019,
    behind: 0,
    finalized_at: ago(57) as string | null,
    msg: null as string | null,
    problem: null as string | null,
    oldest_held_at: null as string | null,
  },
  endpoints: [
    { number: 1, behind_seconds: 0, failing_since: null, last_failure: null, begins_at: longAgo },
    { number: 2, behind_seconds: 0, failing_since: null, last_failure: null, begins_at: longAgo },
  ] as object[],
  payouts: null as ReturnType<typeof noneOpen> | null,
  quorum: 2,
  reader: { name: 'office', scopes: ['ledger:read'] },
})

/** A raised alarm, which has lasted for `seconds`. */
export const alarm = (kind: string, subject: object = {}, seconds = 600) => ({
  kind,
  subject,
  since: ago(seconds),
  urgency: Object.hasOwn(alarmTable, kind) ? alarmTable[kind as AlarmKind].urgency : 'now',
  raised: `raised ${kind}`,
  remedy: `remedy ${kind}`,
})

/** A deposit of user 7. */
export const owned = (id: number, state: string, members: object = {}) => ({
  ...transfer(id, state, members),
  uid: 7,
})

/** A ledger entry of user 7; `by` in `members` names the backend that posted it. */
export const posted = (id: number, type: number, amt: string, members: object = {}) => ({
  id,
  uid: 7,
  wid: 3,
  osn: txidOf(id),
  type,
  cuy: 2,
  amt: exact(amt),
  balance: exact('25'),
  mark: '',
  created_at: '2026-11-22T14:00:30.000Z',
  by: '',
  ...members,
})

/** An order of user 7, as the desk gets it, where these are the user's transfers. */
export const ordered = (id: number, members: Partial<ToldOrder> = {}, transfers: Story['transfers'] = []) => ({
  ...standing(order({ id, ...members }), transfers),
  by: 'shop',
})

/** An event about user 7, `seconds` ago. */
export const happened = (id: number, type: string, data: object, seconds = 90) => ({
  id,
  type,
  uid: 7,
  created_at: ago(seconds),
  data,
})

/** The service's answer to a look-up of a transaction. */
export const onChain = (
  answer: string,
  why: string,
  uid: number | null = null,
  more: { readonly reason?: Reason; readonly seconds?: number } = {},
) => ({ uid, answer, why, ...more })

/** The data with which the service answers the desk. */
export interface DeskStory {
  summary: ReturnType<typeof wellSummary>
  deposits: ReturnType<typeof owned>[]
  entries: ReturnType<typeof posted>[]
  events: ReturnType<typeof happened>[]
  payouts: ReturnType<typeof paidOut>[]
  orders: ReturnType<typeof ordered>[]
  /** The `cuy` of each currency whose issuer has frozen the user's address. */
  frozen: number[]
  /** The answer to a look-up of any transaction. */
  chain: ReturnType<typeof onChain>
}

/** A service without any problem, with a user who has deposited and bought something. */
export const wellDesk = (): DeskStory => ({
  summary: wellSummary(),
  deposits: [owned(8, 'credited', { entry: 5 })],
  entries: [posted(6, 4, '-2.5', { osn: 'order-1001', mark: 'two cups', by: 'shop' }), posted(5, 1, '25')],
  events: [],
  payouts: [],
  orders: [],
  frozen: [],
  chain: onChain('unknown', 'no such transaction'),
})

/** Adds an event of each type that a deposit or an entry has. */
export function addEvents(desk: DeskStory): void {
  const place = { txid: txidOf(8), position: 0 }
  const paid = { ...place, cuy: 2, address: payAddress }
  const [order, credit] = desk.entries
  desk.events = [
    happened(31, 'deposit.seen', { ...paid, amt: exact('25'), seconds: 57 }, 400),
    happened(32, 'deposit.credited', { ...place, address: payAddress, entry: credit }, 330),
    happened(33, 'entry.posted', { entry: order }, 300),
    happened(34, 'deposit.held', {
      ...paid,
      txid: txidOf(9),
      reason: 'retired',
      why: 'its currency is no longer accepted',
    }),
    happened(35, 'deposit.refused', { ...paid, txid: txidOf(7), reason: 'dust', why: '0.0000001 USDT is less' }),
    happened(36, 'deposit.dropped', { ...place, txid: txidOf(6) }),
  ]
  desk.summary.newest_event = 36
}

/** Adds an address that holds more than is recorded, and one that holds less. */
export function addDifferences({ summary }: DeskStory): void {
  summary.differences = [
    { cuy: 1, address: payAddress, amt: exact('12.5'), since: ago(600) },
    { cuy: 2, address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', amt: exact('-9007199254.740993'), since: ago(90_000) },
  ]
  summary.alarms.push(
    alarm('reconciliation-surplus', { cuy: 1, address: payAddress }),
    alarm('reconciliation-shortfall', { cuy: 2, address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }, 90_000),
  )
  for (const currency of summary.currencies) currency.differing = 1
}

/**
 * Problems, each with what the desk's first sentence must say is wrong, and the advice below it.
 */
export const faults: readonly (readonly [
  name: string,
  change: (desk: DeskStory) => void,
  says: string,
  advice: string,
])[] = [
  [
    'a gap',
    ({ summary }) => {
      summary.gaps = [
        { from: 100, to: 105, since: ago(7_200), attempts: 7, why: 'the nodes disagree about block 100', seen: 2 },
      ]
      summary.alarms = [alarm('gap-unread', { from: 100 }), alarm('nodes-disagree', { height: 103 })]
    },
    'Blocks 100 to 105 could not be read: deposits in there are not credited yet',
    'add a node to TRON_NODES or replace one',
  ],
  [
    'a held deposit',
    (desk) => {
      desk.summary.transfers.held_for = [{ reason: 'retired', cuy: 2, count: 1, oldest_at: ago(90_000) }]
      desk.summary.scan.oldest_held_at = ago(90_000)
      desk.deposits = [owned(9, 'held', { reason: 'retired', why: 'its currency is no longer accepted' })]
    },
    'Held deposits in USDT: 1. Its currency is not accepted any more.',
    'Take retired off the currency in CURRENCIES',
  ],
  [
    'a surplus',
    ({ summary }) => {
      Object.assign(summary.currencies[0] ?? {}, { unexplained: exact('12.5'), differing: 1 })
      summary.alarms = [alarm('reconciliation-surplus', { cuy: 1, address: payAddress })]
      summary.differences = [{ cuy: 1, address: payAddress, amt: exact('12.5'), since: ago(600) }]
    },
    'An address holds more than is recorded',
    'Compare the story of the address with an explorer.',
  ],
  [
    'an endpoint that fails',
    ({ summary }) => {
      const failing = { behind_seconds: 4_000, failing_since: ago(4_000), last_failure: '500', begins_at: longAgo }
      summary.endpoints[1] = { number: 2, ...failing }
      summary.alarms = [alarm('endpoint-failing', { endpoint: 2 }), alarm('endpoint-behind', { endpoint: 2 })]
    },
    'Webhook endpoint 2 fails: HTTP 500',
    'npm run operate -- webhooks status',
  ],
  [
    'a stalled scan',
    ({ summary }) => {
      Object.assign(summary.scan, { status: 'stopped', behind: 400, msg: 'the scan has not advanced for 1200 s' })
      summary.alarms = [alarm('scan-stalled')]
    },
    'The scan stands still: no new deposit is credited',
    'Run npm run doctor -- --production: it asks each node',
  ],
  [
    'a scan that has stopped',
    ({ summary }) => {
      Object.assign(summary.scan, { status: 'stopped', msg: 'the scan has not advanced for 1200 s' })
    },
    'The scan has stopped: nothing is credited',
    'npm run doctor',
  ],
  [
    'nodes that are behind',
    ({ summary }) => {
      const msg = 'the newest final block that is known is 365 s old'
      Object.assign(summary.scan, { status: 'behind', behind: 102, msg, finalized_at: ago(365) })
    },
    'The newest final block is 6 min old',
    'Run npm run doctor -- --production: it asks each node',
  ],
  [
    'wrong decimals',
    (desk) => {
      desk.summary.alarms.push(alarm('decimals-differ', { cuy: 2 }))
      desk.summary.transfers.held_for = [{ reason: 'decimals-differ', cuy: 2, count: 1, oldest_at: ago(90_000) }]
      desk.deposits = [owned(9, 'held', { reason: 'decimals-differ', why: 'the decimals differ' })]
    },
    'USDT: the decimals in CURRENCIES are not those of the contract, so none of it is credited',
    'npm run operate -- currency --cuy 2',
  ],
  [
    'a service that has just started',
    ({ summary }) => {
      const none = { scanned: 0, finalized: 0, behind: 0, finalized_at: null }
      Object.assign(summary.scan, { ...none, status: 'stopped', msg: 'no scan has started yet' })
    },
    'No scan has started yet',
    'starts by itself within a minute',
  ],
  [
    'a frozen address',
    (desk) => {
      Object.assign(desk.summary.currencies[1] ?? {}, { frozen: exact('25'), frozen_addresses: 1 })
      desk.summary.alarms = [alarm('address-frozen', { cuy: 2, address: payAddress })]
      desk.frozen = [2]
    },
    'The issuer of a token has frozen an address that was issued here',
    'the user keeps the credit. Decide whether the user may go on: to lock the balance, have a backend post an adjustment',
  ],
  [
    'a paused token',
    ({ summary }) => {
      summary.alarms = [alarm('token-paused', { cuy: 2 })]
    },
    'The issuer has paused a token',
    'collect nothing and pay nothing out in it until then',
  ],
  [
    'a deposit that waits for a look',
    (desk) => {
      desk.summary.transfers.held_for = [{ reason: 'review', cuy: 2, count: 1, oldest_at: ago(7_300) }]
      desk.summary.scan.oldest_held_at = ago(7_300)
      desk.deposits = [owned(9, 'held', { reason: 'review', why: 'it is being looked at', created_at: ago(7_300) })]
    },
    'Held deposits in USDT: 1. A person looks at it before it is credited',
    'Decide: credit it, or refuse it.',
  ],
]
