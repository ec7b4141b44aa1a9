import { addressFromHex, formatBase58 } from '../../chain/address.ts'
import { nodeName } from '../../chain/node-name.ts'
import type { NodeStatus } from '../../chain/node-status.ts'
import { trxDecimals } from '../../common/amount.ts'
import { type CurrencyId, entryTypes } from '../../common/ids.ts'
import { formatInstant, type UnixMs } from '../../common/time.ts'
import type { Currencies, Currency } from '../../ledger/currencies.ts'
import { currencyOfContract } from '../../payouts/outflow.ts'
import type { PayoutSummary } from '../../payouts/summary.ts'
import { type AlarmKind, type AlarmRule, type AlarmSubject, alarmTable } from '../../platform/alarm-table.ts'
import { endsWithin } from '../../platform/clock.ts'
import { databaseBytesMax } from '../../scan/size.ts'
import * as schemas from '../../schemas/parts.ts'
import { movedKinds, type SummaryData, summaryDays, summarySchema } from '../../schemas/summary.ts'
import { jsonAmount, type Written } from '../../schemas/written.ts'
import type { Services } from '../../services.ts'
import { type CurrencySummary, readSummary, type Summary } from '../../summary/summary.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { success } from '../envelope.ts'
import { toCellProblem } from '../errors.ts'
import * as docs from '../openapi/docs.ts'
import { payoutAddress } from '../openapi/payout.ts'

/** Time limit for the scanner to report its nodes, in milliseconds. */
const nodesMs = 2_000

/** The summary for operators, from stored state and the scanner's knowledge of its nodes. No node is queried. */
export const ledgerSummary = {
  path: '/ledger/summary',
  method: 'GET',
  usersIn: null,
  scope: () => 'ledger:read',
  handle: async (c) => {
    const { settings, endpoints, quorum, ranges } = c.env.services
    const { name, scopes } = c.get('decider')
    const [summary, nodes] = await Promise.all([
      reading(c, (context) => readSummary(context, endpoints, () => c.env.services.storedHealth(c.get('invocation')))),
      nodeStatusesOf(c.env.services),
    ])
    return success({
      ...summaryItem(summary, settings.currencies, settings.clock.now()),
      nodes: nodes?.map(nodeItem) ?? null,
      quorum,
      reader: { name, scopes },
      ...(ranges.length < 2 ? {} : { cells: ranges.map(({ number, users }) => ({ cell: number ?? 1, ...users })) }),
    })
  },
} satisfies LedgerRoute

/** What the scanner knows about each node. Null if the scanner fails or does not answer in time: the summary is then answered without it. */
async function nodeStatusesOf({ scanner, settings }: Services): Promise<readonly NodeStatus[] | null> {
  const statuses = scanner.nodes()
  return (await endsWithin(statuses, nodesMs, settings.clock)) ? statuses.catch(() => null) : null
}

function summaryItem(
  summary: Summary,
  currencies: Currencies,
  now: number,
): Written<Omit<SummaryData, 'nodes' | 'quorum' | 'reader'>> {
  const { addresses, seen, held, gaps, alarms, differences, newestEvent, database, endpoints } = summary
  const { status, scanned, finalized, behind, msg, finalizedTime, problem } = summary.scan
  const oldest = held.map(({ oldestAt }) => oldestAt).sort((a, b) => a - b)[0]
  return {
    currencies: summary.currencies.map((one) => currencyItem(one, currencies)),
    addresses,
    transfers: {
      seen,
      held: held.reduce((sum, { count }) => sum + count, 0),
      held_for: held.map(({ oldestAt, ...one }) => ({ ...one, oldest_at: formatInstant(oldestAt) })),
    },
    gaps: gaps.map(({ from, to, since, attempts, why, seen }) => {
      return { from, to, since: formatInstant(since), attempts, why, seen }
    }),
    alarms: alarms.map(({ kind, subject, since }) => {
      return { kind, subject: subjectItem(subject), since: formatInstant(since), ...rulesOf(kind) }
    }),
    differences: differences.map(({ cuy, address, difference, since }) => ({
      cuy,
      address: formatBase58(address),
      amt: jsonAmount(difference, configured(cuy, currencies).decimals),
      since: formatInstant(since),
    })),
    newest_event: newestEvent,
    database: {
      bytes: database.bytes,
      limit: databaseBytesMax,
      full_on: database.fullAt === null ? null : dayOf(database.fullAt),
    },
    scan: {
      status,
      scanned,
      finalized,
      behind,
      msg,
      problem,
      finalized_at: finalizedTime === null ? null : formatInstant(finalizedTime),
      oldest_held_at: oldest === undefined ? null : formatInstant(oldest),
    },
    endpoints: endpoints.map(({ number, waitingSince, failingSince, lastFailure, beginsAt }) => ({
      number,
      behind_seconds: waitingSince === null ? 0 : Math.max(0, Math.floor((now - waitingSince) / 1000)),
      failing_since: failingSince === null ? null : formatInstant(failingSince),
      last_failure: lastFailure,
      begins_at: formatInstant(beginsAt),
    })),
    payouts: summary.payouts === null ? null : payoutsItem(summary.payouts, currencies),
  }
}

function payoutsItem(
  { address, open, stopped, holds }: PayoutSummary,
  currencies: Currencies,
): Written<NonNullable<SummaryData['payouts']>> {
  return {
    address: formatBase58(address),
    open: open.flatMap(({ state, cuy, count, sum, oldestAt }) => {
      const isOpen = state !== 'paid' && state !== 'cancelled'
      if (!isOpen) return []
      const amount = jsonAmount(sum, configured(cuy, currencies).scale)
      return [{ state, cuy, count, sum: amount, oldest_at: formatInstant(oldestAt) }]
    }),
    stopped: stopped === null ? null : { ...stopped, since: formatInstant(stopped.since) },
    holds: holds.map(({ contract, balance, readAt }) => {
      const { symbol = 'TRX', decimals = trxDecimals } = currencyOfContract(contract, currencies) ?? {}
      return { symbol, amt: jsonAmount(balance, decimals), read_at: formatInstant(readAt) }
    }),
  }
}

function nodeItem(status: NodeStatus, index: number): NonNullable<SummaryData['nodes']>[number] {
  const { name, state, use, answer, behind, error, used, perDay } = status
  return {
    number: index + 1,
    name,
    state,
    use,
    behind,
    answered_at: answer === null ? null : formatInstant(answer.at),
    answer_ms: answer?.ms ?? null,
    failed_at: error === null ? null : formatInstant(error.at),
    failure: error?.why ?? null,
    used,
    per_day: perDay,
  }
}

function configured(cuy: CurrencyId, { byId }: Currencies): Currency {
  const currency = byId.get(cuy)
  if (currency === undefined) throw new Error(`currency ${cuy} is summed up and not configured`)
  return currency
}

function currencyItem(
  { cuy, owed, types, held, moved, unread, frozen, destroyed, unexplained, days }: CurrencySummary,
  currencies: Currencies,
): Written<SummaryData['currencies'][number]> {
  const { symbol, scale, decimals } = configured(cuy, currencies)
  return {
    cuy,
    symbol,
    owed: jsonAmount(owed, scale),
    owed_by: types.map(({ type, sum }) => ({ type, sum: jsonAmount(sum, scale) })),
    held: held === null ? null : jsonAmount(held.sum, decimals),
    held_at: held === null ? null : formatInstant(held.newestAt),
    held_by: movedKinds.map((what) => ({ what, sum: jsonAmount(moved[what], decimals) })),
    compared: held?.addresses ?? 0,
    unread,
    frozen: jsonAmount(frozen.sum, decimals),
    frozen_addresses: frozen.addresses,
    destroyed: jsonAmount(destroyed, decimals),
    unexplained: jsonAmount(unexplained.sum, decimals),
    differing: unexplained.addresses,
    days: days.map(({ startsAt, entries }) => {
      const deposits = entries.find(({ type }) => type === entryTypes.recharge)
      return {
        day: dayOf(startsAt),
        deposits: deposits?.count ?? 0,
        sum: jsonAmount(deposits?.sum ?? 0n, scale),
        entries: entries.map(({ type, count, sum }) => ({ type, count, sum: jsonAmount(sum, scale) })),
      }
    }),
  }
}

/** The day (UTC) of an instant, as `2026-09-21`. */
const dayOf = (at: UnixMs) => formatInstant(at).slice(0, 10)

/** The subject of an alarm, with addresses in Base58Check. */
function subjectItem(subject: AlarmSubject): SummaryData['alarms'][number]['subject'] {
  const shown = (hex: string) => {
    const address = addressFromHex(hex)
    return address === null ? hex : formatBase58(address)
  }
  if ('address' in subject) return { ...subject, address: shown(subject.address) }
  return 'contract' in subject ? { contract: shown(subject.contract) } : { ...subject }
}

/** The urgency and the texts of a kind of alarm. The texts are empty for a kind that no longer exists, which a row of an older version may have. */
function rulesOf(kind: AlarmKind): Omit<AlarmRule, 'ends' | 'needsLine'> {
  const { urgency, raised, remedy } = alarmTable[kind] ?? ({ urgency: 'now', raised: '', remedy: '' } as const)
  return { urgency, raised, remedy }
}

/** An example of a node that has answered. */
const exampleNode = (host: string, index: number) => ({
  number: index + 1,
  name: nodeName(index + 1, { name: null, host }),
  state: 'answers',
  use: 'first',
  behind: 0,
  answered_at: '2026-09-21T14:14:20.000Z',
  answer_ms: 0,
  failed_at: null,
  failure: null,
  used: 34,
  per_day: 100_000_000,
})

const noCell = (): docs.Failure => ({
  name: 'no-cell',
  problem: toCellProblem({
    kind: 'bad-input',
    why: 'the number of a cell: 1 for users 1 to 999999, 2 for users 1000000 to 1999999, 3 for users from 2000000',
  }),
  cause: 'The deployment has several databases, and the request says of none of them that it is meant.',
  cure: 'Add `cell`, or at other paths a `uid`.',
  given: 'three databases',
})

/** `GET /ledger/summary` in the OpenAPI document. The Worker never calls this function, so its bundle has none of these texts. */
export const ledgerSummaryDocs = () => {
  const sums = (sum: number) => ({
    owed: sum,
    owed_by: Object.values(entryTypes).map((type) => ({ type, sum: type === entryTypes.recharge ? sum : 0 })),
    held: null,
    held_at: null,
    held_by: movedKinds.map((what) => ({ what, sum: what === 'credited' ? sum : 0 })),
    compared: 0,
    unread: 1,
    frozen: 0,
    frozen_addresses: 0,
    destroyed: 0,
    unexplained: 0,
    differing: 0,
    days: withToday(sum),
  })
  const days = Array.from({ length: summaryDays }, (_, i) => {
    const day = new Date(Date.UTC(2026, 7, 23 + i)).toISOString().slice(0, 10)
    return { day, deposits: 0, sum: 0, entries: [] as object[] }
  })
  const today = days.pop()
  const withToday = (sum: number) => [...days, { ...today, deposits: 1, sum, entries: [{ type: 1, count: 1, sum }] }]
  return {
    id: 'readLedgerSummary',
    summary: 'Is all well: sums, alarms, scan, endpoints',
    description:
      'The sums owed and held in each currency and by what, the deposits of the last days, and everything that needs attention. No node ' +
      'is asked. Sums are kept as they arise: the cost does not grow with the history.',
    success: schemas.successBody('LedgerSummaryResponse', summarySchema),
    examples: [
      docs.dataExample('two deposits', 'two deposits, credited', '', {
        currencies: [
          { cuy: 1, symbol: 'TRX', ...sums(3.5) },
          { cuy: 2, symbol: 'USDT', ...sums(25) },
        ],
        addresses: 1,
        transfers: { seen: 0, held: 0, held_for: [] },
        gaps: [],
        alarms: [],
        differences: [],
        newest_event: 2,
        database: { bytes: 413_696, limit: databaseBytesMax, full_on: null },
        scan: {
          status: 'ok',
          scanned: 70_000_019,
          finalized: 70_000_019,
          behind: 0,
          msg: null,
          problem: null,
          finalized_at: '2026-09-21T14:13:23.000Z',
          oldest_held_at: null,
        },
        endpoints: [],
        payouts: { address: payoutAddress, open: [], stopped: null, holds: [] },
        nodes: ['one.example', 'two.example'].map(exampleNode),
        quorum: 2,
        reader: { name: 'shop', scopes: ['ledger:read', 'ledger:post', 'ledger:pay', 'ledger:approve', 'ledger:sign'] },
      }),
    ],
    failures: [noCell()],
  } satisfies docs.Operation
}
