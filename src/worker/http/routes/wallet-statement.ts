import * as z from 'zod/mini'
import type { CurrencyId, EntryId, Uid } from '../../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../../common/result.ts'
import { formatInstant, type UnixMs } from '../../common/time.ts'
import { statementItem } from '../../ledger/entry.ts'
import type { Period } from '../../ledger/period.ts'
import { readStatement, statementRowsDefault, statementRowsMax } from '../../ledger/statement.ts'
import { statementFlow, statementMembers } from '../../schemas/entry.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonAmount } from '../../schemas/written.ts'
import { type RequestContext, type Route, reading } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { badInput, choiceParam, idParam, type NothingElse, textParam, wholeNumber, withQuery } from '../query.ts'
import { answerCsv } from '../statement-csv.ts'

const monthExpected = 'a month of UTC that has begun, such as 2026-11'
const dayExpected = 'a day of UTC that has begun, such as 2026-11-27'

/**
 * The period from the start of a day (UTC, `2026-11-27`) to the date that `end` makes of it; null
 * if the day does not exist.
 */
function periodOf(first: string, end: (date: Date) => void): Period | null {
  const from = new Date(`${first}T00:00:00.000Z`)
  // Date can read 30 February as a day of March
  if (Number.isNaN(from.getTime()) || !from.toISOString().startsWith(first)) return null
  const to = new Date(from)
  end(to)
  return { from: from.getTime() as UnixMs, to: to.getTime() as UnixMs } // safe: times of dates
}

const monthFrom = (month: string) => periodOf(`${month}-01`, (date) => date.setUTCMonth(date.getUTCMonth() + 1))
const monthParam = textParam(monthExpected, /^\d{4}-\d\d$/, monthFrom)
const dayParam = textParam(dayExpected, /^\d{4}-\d\d-\d\d$/, (day) =>
  periodOf(day, (date) => date.setUTCDate(date.getUTCDate() + 1)),
)

/** The parameters that select a page of a statement. `/ledger/statement` has `uid` in addition. */
export const statementQuery = z.object({
  month: z.optional(monthParam),
  day: z.optional(dayParam),
  cuy: z.optional(idParam<CurrencyId>()),
  after: z.optional(idParam<EntryId>()),
  limit: z.optional(wholeNumber(statementRowsMax)),
  format: z.optional(choiceParam(['json', 'csv'])),
})

/** A page of the user's statement of a month or a day. */
export const walletStatement = {
  path: '/wallet/statement',
  rateClass: () => 'lists',
  handle: withQuery(statementQuery, (c, query) => answerStatement(c, { ...query, uid: c.get('uid') }, false)),
} satisfies Route

/** What a statement is asked for by; without `uid` it is that of all users. */
export type AskedStatement = z.output<typeof statementQuery> & { readonly uid: Uid | undefined }

/**
 * Answers with a page of the statement of one user, or of all users if `uid` is undefined.
 * `hasBackends`: entries have the name of their backend in `by`.
 */
export async function answerStatement(
  c: RequestContext,
  asked: AskedStatement,
  hasBackends: boolean,
): Promise<Response> {
  const { currencies, clock } = c.env.services.settings
  const { month, day, format, uid, cuy, after, limit, ...others } = asked
  others satisfies NothingElse
  const period = askedPeriod(month, day, clock.now())
  if (!period.ok) return refusal(period.error)
  const selection = { uid, cuy, after, limit, period: period.value }
  const statement = await reading(c, (context) => readStatement(context, selection))
  const { until, balances, list, count } = statement
  if (format === 'csv') {
    const isLast = list.length < (limit ?? statementRowsDefault)
    const part = { period: period.value, isFirst: after === undefined, isLast }
    return answerCsv(c, statement, part, hasBackends)
  }
  const { from, to } = period.value
  return success({
    from: formatInstant(from),
    to: formatInstant(to),
    until: formatInstant(until),
    balances: balances.map(({ currency: { cuy, scale }, opening, closing }) => {
      return { cuy, opening: jsonAmount(opening, scale), closing: jsonAmount(closing, scale) }
    }),
    list: list.map((entry) => {
      const { by, ...item } = statementItem(entry, currencies, jsonAmount)
      return hasBackends ? { ...item, by } : item
    }),
    count,
  })
}

/** The period that a query selects, if it has begun; by default the current month. */
function askedPeriod(month: Period | undefined, day: Period | undefined, now: UnixMs): Result<Period, QueryFailure> {
  if (month !== undefined && day !== undefined) return err(badInput('day', 'not allowed with month'))
  const period = day ?? month ?? monthFrom(formatInstant(now).slice(0, 7))
  if (period === null) throw new Error('the clock shows no month')
  if (period.from <= now) return ok(period)
  return err(month === undefined ? badInput('day', dayExpected) : badInput('month', monthExpected))
}

/**
 * The schema of a statement, with the name `id` in the OpenAPI document. `item` makes the schema of
 * its entries.
 */
export const statementBody = <Item extends z.ZodMiniType>(id: string, item: () => Item) =>
  schemas.dataBody(id, () => statementMembers(item))

/** Notes for the OpenAPI document on `statementQuery`. */
export const statementParameters = () => ({
  month: { description: 'The month, in UTC; by default the one that is running.', example: '2026-08' },
  day: { description: 'The day, in UTC. Not allowed with `month`.', example: '2026-08-27' },
  cuy: { description: `Only this currency. ${docs.cuyExpected}`, example: 2 },
  after: { description: 'Only entries with a higher `id`: the last one of the previous page.', example: 1000 },
  limit: {
    description: `Entries on a page, at most ${statementRowsMax}; the default is ${statementRowsDefault}.`,
    example: 100,
  },
  format: { description: '`json`, which is the default, or `csv`.', example: 'csv' },
})

/** How pages and CSV work, for the descriptions of both routes of statements. */
export const statementText =
  'Entries are listed oldest first, and `opening` and all of them add up to `closing`, exactly. A page has up to `limit` entries; the next one ' +
  'is that `after` the last of them. While a period is running, the closing balances of the last page are those after its last entry. ' +
  'Within seconds of its end an entry can still come into it. With `format=csv` the answer is a table (RFC 4180, UTF-8): the first page ' +
  'begins with the names of its columns and a line of the kind `opening` for each currency, and the last one ends with lines of the kind ' +
  '`closing`, so that the pages in their order are one file. What a spreadsheet would run as a formula has an apostrophe before it, at the beginning of ' +
  'a field and behind each comma, semicolon, tab and line end in it.'

/** The documented failures of `statementQuery`. `prefix` begins the queries of the examples. */
export const statementFailures = (prefix: '?' | '?uid=7&') => [
  badQuery(`${prefix}month=2999-01`),
  {
    ...badQuery(`${prefix}month=2026-08&day=2026-08-27`),
    name: 'day-with-month',
    cause: 'Both are given.',
  },
]

/** The line of column names in the example, without its last column for backends. */
const csvNames =
  '"kind","id","uid","wid","osn","type","cuy","symbol","amt","balance","mark","created_at","what","to","txid"'

/**
 * The beginning of a statement as CSV, for the OpenAPI document. `last` is `,"by"` for backends,
 * otherwise empty.
 */
export const statementCsv = (last: string) => `${csvNames}${last}\r
"opening",,,,,,"2","USDT","0",,,"2026-09-01T00:00:00.000Z",,,${last && ','}\r
`

/**
 * `GET /wallet/statement` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const walletStatementDocs = () => {
  const given = 'two deposits, credited'
  return {
    id: 'readStatement',
    summary: 'Your statement of a month or a day',
    description: `What your wallets held before it, what changed them, and what they held after it. ${statementText}`,
    query: statementQuery,
    parameters: statementParameters(),
    success: statementBody('StatementResponse', statementFlow),
    csv: statementCsv(''),
    examples: [
      { name: 'a month', given, query: '?month=2026-09' },
      { name: 'a currency', given, query: '?month=2026-09&cuy=2' },
    ],
    failures: statementFailures('?'),
  } satisfies docs.Operation
}
