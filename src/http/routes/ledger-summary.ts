import * as z from 'zod/mini'
import { addressFromHex, formatBase58 } from '../../chain/address.ts'
import { type CurrencyId, entryTypes } from '../../common/ids.ts'
import { formatInstant } from '../../common/time.ts'
import { heldReasons } from '../../d1/tables.ts'
import { countedMax } from '../../deposits/deposits.ts'
import type { Currencies, Currency } from '../../ledger/currencies.ts'
import { type AlarmKind, type AlarmSubject, alarmTable } from '../../platform/alarm-table.ts'
import {
  type CurrencySummary,
  readSummary,
  type Summary,
  summaryAlarmsMax,
  summaryDays,
  summaryDifferencesMax,
  summaryGapSeenMax,
  summaryGapsMax,
  summaryUnreadMax,
} from '../../scan/summary.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { type Json, type JsonMembers, jsonAmount, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'

/** What an operator looks at first, from stored state alone. */
export const ledgerSummary = {
  path: '/ledger/summary',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: async (c) => {
    const { settings, endpoints, sharedHealth } = c.env.services
    const summary = await reading(c, (context) => readSummary(context, endpoints, sharedHealth))
    return success(summaryItem(summary, settings.currencies, settings.clock.now()))
  },
} satisfies LedgerRoute

function summaryItem(summary: Summary, currencies: Currencies, now: number): JsonMembers {
  const { addresses, seen, held, gaps, alarms, differences, newestEvent, endpoints } = summary
  const { status, scanned, finalized, behind, msg, finalizedTime } = summary.scan
  const oldest = held.map(({ oldestAt }) => oldestAt).sort((a, b) => a - b)[0]
  return {
    currencies: summary.currencies.map((one) => currencyItem(one, currencies)),
    addresses,
    transfers: {
      seen,
      held: held.reduce((sum, { count }) => sum + count, 0),
      held_for: held.map(({ reason, cuy, count }) => ({ reason, cuy, count })),
    },
    gaps: gaps.map(({ from, to, since, attempts, why, seen }) => {
      return { from, to, since: formatInstant(since), attempts, why, seen }
    }),
    alarms: alarms.map(({ kind, subject, since }) => {
      return { kind, subject: subjectItem(subject), since: formatInstant(since), ...rulesOf(kind) }
    }),
    differences: differences.map(({ cuy, address, difference, since }) => ({
      ...{ cuy, address: formatBase58(address) },
      amt: jsonAmount(difference, configured(cuy, currencies).decimals),
      since: formatInstant(since),
    })),
    newest_event: newestEvent,
    scan: {
      ...{ status, scanned, finalized, behind, msg, problem: summary.problem },
      finalized_at: finalizedTime === null ? null : formatInstant(finalizedTime),
      oldest_held_at: oldest === undefined ? null : formatInstant(oldest),
    },
    endpoints: endpoints.map(({ number, waitingSince, failingSince, lastFailure }) => ({
      number,
      behind_seconds: waitingSince === null ? 0 : Math.max(0, Math.floor((now - waitingSince) / 1000)),
      failing_since: failingSince === null ? null : formatInstant(failingSince),
      last_failure: lastFailure,
    })),
  }
}

function configured(cuy: CurrencyId, { byId }: Currencies): Currency {
  const currency = byId.get(cuy)
  if (currency === undefined) throw new Error(`currency ${cuy} is summed up and not configured`)
  return currency
}

function currencyItem({ cuy, owed, held, unread, unexplained, days }: CurrencySummary, currencies: Currencies): Json {
  const { symbol, scale, decimals } = configured(cuy, currencies)
  return {
    ...{ cuy, symbol },
    owed: jsonAmount(owed, scale),
    held: held === null ? null : jsonAmount(held.sum, decimals),
    held_at: held === null ? null : formatInstant(held.newestAt),
    compared: held?.addresses ?? 0,
    unread,
    unexplained: jsonAmount(unexplained.sum, decimals),
    differing: unexplained.addresses,
    days: days.map(({ startsAt, entries }) => {
      const deposits = entries.find(({ type }) => type === entryTypes.recharge)
      return {
        day: formatInstant(startsAt).slice(0, 10),
        deposits: deposits?.count ?? 0,
        sum: jsonAmount(deposits?.sum ?? 0n, scale),
        entries: entries.map(({ type, count, sum }) => ({ type, count, sum: jsonAmount(sum, scale) })),
      }
    }),
  }
}

/** The subject of an alarm, with addresses in their usual form. */
function subjectItem(subject: AlarmSubject): JsonMembers {
  const shown = (hex: string) => {
    const address = addressFromHex(hex)
    return address === null ? hex : formatBase58(address)
  }
  if ('address' in subject) return { ...subject, address: shown(subject.address) }
  return 'contract' in subject ? { contract: shown(subject.contract) } : { ...subject }
}

/** What the alarm is about and what to do. A row of an older version can have a kind that is no more. */
function rulesOf(kind: AlarmKind): { readonly raised: string; readonly remedy: string } {
  const { raised, remedy } = alarmTable[kind] ?? { raised: '', remedy: '' }
  return { raised, remedy }
}

const typeSum = () =>
  z.strictObject({
    type: z.literal(Object.values(entryTypes)),
    count: docs.countSchema('How many entries.'),
    sum: docs.amountSchema('What they sum up to, signed.'),
  })

const day = () =>
  z.strictObject({
    day: docs.textSchema('The day (UTC).', /^\d{4}-\d\d-\d\d$/),
    deposits: docs.countSchema('How many deposits were credited.'),
    sum: docs.amountSchema('What they sum up to, in whole units.'),
    entries: docs.described(z.array(typeSum()), 'The types of which there are entries; a deposit is of type 1.'),
  })

const nullable = <Schema extends z.ZodMiniType>(schema: Schema, description: string) =>
  docs.described(z.nullable(schema), description)

const currency = () =>
  docs.object('CurrencySummary', () => ({
    cuy: docs.idSchema('The currency.'),
    symbol: docs.textSchema('Its symbol.'),
    owed: docs.amountSchema('What the wallets of all users hold.'),
    held: nullable(
      z.number(),
      'What the addresses held when each was last read. null: none was. It is less than what is owed where money was ' +
        'collected, and more where something arrived that is not credited.',
    ),
    held_at: nullable(docs.instantSchema(), 'About when the newest of these readings was made.'),
    compared: docs.countSchema('How many addresses were read.'),
    unread: docs.countSchema(
      `Of the ${summaryUnreadMax} addresses that are read next: how many have a transfer that \`held\` may lack.`,
    ),
    unexplained: docs.amountSchema(
      'The differences between records and readings that have an alarm, added up: more is there (positive), or less.',
    ),
    differing: docs.countSchema('How many addresses have such a difference.'),
    days: docs.described(z.array(day()), `The last ${summaryDays} days, oldest first, today included.`),
  }))

const gap = () =>
  z.strictObject({
    from: docs.countSchema('The first block that is not read yet.'),
    to: docs.countSchema('The last one.'),
    since: docs.instantSchema(),
    attempts: docs.countSchema('Tries since it last went forward.'),
    why: docs.textSchema('Why it could not be read.'),
    seen: docs.countSchema(
      `Transfers that were seen in these blocks and wait; ${summaryGapSeenMax} means that many or more.`,
    ),
  })

const subject = () =>
  z.strictObject({
    node: z.optional(docs.idSchema('A node, by its place in `TRON_NODES`.')),
    why: z.optional(docs.textSchema('What is wrong with the node, if that is a fault of its own.')),
    height: z.optional(docs.countSchema('A block.')),
    from: z.optional(docs.countSchema('The first block of a gap when it was found.')),
    txid: z.optional(docs.textSchema('A transaction.')),
    position: z.optional(docs.countSchema('The place of a transfer in it.')),
    cuy: z.optional(docs.idSchema('A currency.')),
    address: z.optional(docs.textSchema('An address.')),
    contract: z.optional(docs.textSchema('The contract of a token.')),
    setting: z.optional(docs.textSchema('A setting.')),
    endpoint: z.optional(docs.idSchema('An endpoint, by its place in `WEBHOOKS`.')),
    event: z.optional(docs.idSchema('An event.')),
  })

const alarm = () =>
  z.strictObject({
    kind: docs.described(z.enum(Object.keys(alarmTable)), 'The kind of alarm.'),
    subject: docs.described(subject(), 'What it is about; empty if there is one alarm of the kind at a time.'),
    since: docs.instantSchema(),
    raised: docs.textSchema('When an alarm of this kind is raised.'),
    remedy: docs.textSchema('What to do.'),
  })

const difference = () =>
  z.strictObject({
    cuy: docs.idSchema('The currency.'),
    address: docs.textSchema('The address.'),
    amt: docs.amountSchema('How much more (positive) or less it holds than is recorded.'),
    since: docs.instantSchema(),
  })

const endpoint = () =>
  z.strictObject({
    number: docs.idSchema('Its place in `WEBHOOKS`.'),
    behind_seconds: docs.countSchema('The age of the oldest event that it lacks; 0 where it lacks none.'),
    failing_since: nullable(docs.instantSchema(), 'Since when deliveries fail; null where they do not.'),
    last_failure: nullable(z.string(), 'Why the last failed delivery failed.'),
  })

const held = () =>
  z.strictObject({
    reason: docs.described(z.enum(heldReasons), 'Why.'),
    cuy: docs.idSchema('The currency.'),
    count: docs.countSchema('How many.'),
  })

const scan = () =>
  z.strictObject({
    status: docs.described(z.enum(['ok', 'behind', 'stopped']), 'As `/health`.'),
    scanned: docs.countSchema('Height up to which the chain is scanned.'),
    finalized: docs.countSchema('Newest final height that is known.'),
    behind: docs.countSchema('Blocks between the two.'),
    finalized_at: nullable(
      docs.instantSchema(),
      'The time of that block on the chain: about a minute ago where the nodes follow the chain. null: not known.',
    ),
    msg: nullable(z.string(), 'What is wrong; null where nothing is.'),
    problem: nullable(
      z.enum(['no-answer', 'disagreement', 'forked', 'limited', 'out-of-time']),
      'Why the newest tick did not read every final block; null where it did.',
    ),
    oldest_held_at: nullable(docs.instantSchema(), 'When the oldest held transfer was found; null where none is held.'),
  })

const summary = () =>
  docs.object('Summary', () => ({
    currencies: z.array(currency()),
    addresses: docs.countSchema('How many addresses were issued.'),
    transfers: z.strictObject({
      seen: docs.countSchema(`Transfers that are not final; ${countedMax} means that many or more.`),
      held: docs.countSchema(`Held transfers; ${countedMax} means that many or more.`),
      held_for: z.array(held()),
    }),
    gaps: docs.described(z.array(gap()), `Blocks that could not be read: the lowest ${summaryGapsMax} ranges.`),
    alarms: docs.described(z.array(alarm()), `Raised alarms, at most ${summaryAlarmsMax}, ordered by their kind.`),
    differences: docs.described(
      z.array(difference()),
      `Addresses that hold something else than is recorded, and have an alarm: the first ${summaryDifferencesMax}.`,
    ),
    newest_event: docs.countSchema('The id of the newest event, for `/ledger/events`; 0 where there is none.'),
    scan: scan(),
    endpoints: docs.described(z.array(endpoint()), 'The configured endpoints.'),
  }))

/** The documentation of `GET /ledger/summary`. */
export const ledgerSummaryDocs = () => {
  const none = { held: null, held_at: null, compared: 0, unread: 1, unexplained: 0, differing: 0 }
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
      'What is owed and held in each currency, the deposits of the last days, and everything that needs attention, from stored state ' +
      'alone. Sums are kept as they arise: the cost does not grow with the history.',
    success: docs.successBody('LedgerSummaryResponse', summary),
    examples: [
      docs.dataExample('two deposits', 'two deposits, credited', '', {
        currencies: [
          { cuy: 1, symbol: 'TRX', owed: 3.5, ...none, days: withToday(3.5) },
          { cuy: 2, symbol: 'USDT', owed: 25, ...none, days: withToday(25) },
        ],
        addresses: 1,
        transfers: { seen: 0, held: 0, held_for: [] },
        ...{ gaps: [], alarms: [], differences: [], newest_event: 2 },
        scan: {
          ...{ status: 'ok', scanned: 70_000_019, finalized: 70_000_019, behind: 0, msg: null, problem: null },
          ...{ finalized_at: '2023-11-14T22:14:17.000Z', oldest_held_at: null },
        },
        endpoints: [],
      }),
    ],
    failures: [],
  } satisfies docs.Operation
}
