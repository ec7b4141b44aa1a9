import * as z from 'zod/mini'
import { countedMax } from '../../common/counted.ts'
import type { CurrencyId, TransferId } from '../../common/ids.ts'
import type { Deposit, DepositFilter, DepositKey, DepositPage } from '../../deposits/deposit.ts'
import { depositItem } from '../../deposits/deposit-item.ts'
import { listDeposits } from '../../deposits/deposits.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { pageRowsDefault } from '../../ledger/store/entries.ts'
import { deposit, depositStates } from '../../schemas/deposit.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonAmount } from '../../schemas/written.ts'
import { type RequestContext, type Route, reading } from '../context.ts'
import { type JsonMembers, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { choiceParam, idParam, type NothingElse, textParam, wholeNumber, withQuery } from '../query.ts'
import { pageRowsMax } from './wallet-flow-list.ts'

/**
 * The parameters that a user's list of transfers and the backends' list share. The backends' list
 * has further parameters.
 */
export const depositsQuery = z.object({
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<TransferId>()),
  state: z.optional(choiceParam(depositStates)),
  cuy: z.optional(idParam<CurrencyId>()),
})

/**
 * The longest time in seconds for which a request can be held. Proxies end requests that take much
 * longer.
 */
export const waitSecondsMax = 25

/** The parameters of a user's list: also those by which a page waits for a change. */
const ownDepositsQuery = z.extend(depositsQuery, {
  wait: z.optional(wholeNumber(waitSecondsMax)),
  mark: z.optional(textParam('the `mark` of an earlier answer', /^[0-9a-z]+-\d{1,15}$/, (mark) => mark)),
})

/**
 * The transfers to the user, newest first. Reads only the database. With `wait` the request is held
 * while nothing changes, and then answered without a look at the database.
 */
export const tronDeposits = {
  path: '/tron/deposits',
  rateClass: () => 'lists',
  handle: withQuery(ownDepositsQuery, async (c, { wait, mark = null, ...query }) => {
    const uid = c.get('uid')
    const change = wait === undefined ? null : await c.env.services.waitForDeposit(uid, mark, wait)
    if (change?.isChanged === false) return success({ list: [], count: 0, unchanged: true, mark: change.mark })
    // The answer must be as new as the mark, whatever the caller has read before.
    if (change !== null) c.get('invocation').bookmark = null
    const { filter, page } = depositSelection(query)
    const item = (one: Deposit, currencies: Currencies) => depositItem(one, currencies, jsonAmount)
    return answerDeposits(c, { ...filter, uid }, page, item, change === null ? {} : { mark: change.mark })
  }),
} satisfies Route

/**
 * The filter and the page that parameters select, with null for each absent parameter. The filter's
 * `uid` is null, and the caller sets it.
 */
export function depositSelection(query: z.output<typeof depositsQuery>): {
  readonly filter: DepositFilter
  readonly page: DepositPage
} {
  const { limit = pageRowsDefault, before, state, cuy, ...others } = query
  others satisfies NothingElse
  return { filter: { uid: null, state: state ?? null, cuy: cuy ?? null }, page: { before: before ?? null, limit } }
}

/** Answers with a page of transfers, each rendered by `shown`, and `more` members. */
export async function answerDeposits(
  c: RequestContext,
  filter: DepositFilter | DepositKey,
  page: DepositPage,
  shown: (deposit: Deposit, currencies: Currencies) => JsonMembers,
  more: JsonMembers = {},
): Promise<Response> {
  const { currencies } = c.env.services.settings
  const { list, count } = await reading(c, (context) => listDeposits(context, filter, page))
  return success({ list: list.map((deposit) => shown(deposit, currencies)), count, ...more })
}

/** Documentation shared by both lists of transfers: the parameters, and the count. */
export const depositDocs = () => ({
  parameters: {
    limit: {
      description: `Transfers in the list, at most ${pageRowsMax}; the default is ${pageRowsDefault}.`,
      example: 20,
    },
    before: { description: 'Only transfers with a smaller `id`: the last one of the previous page.', example: 1000 },
    state: { description: 'Only this state; the response schema lists them.', example: 'credited' },
    cuy: { description: `Only this currency. ${docs.cuyExpected}`, example: 2 },
  },
  count: `The number of transfers that match, on all pages; ${countedMax} means that many or more.`,
})

/**
 * `GET /tron/deposits` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const tronDepositsDocs = () => {
  const { parameters, count } = depositDocs()
  return {
    id: 'listDeposits',
    summary: 'Your transfers, and what became of them',
    description:
      'Transfers to your addresses as the scan has found them, newest first, from the moment they are in a block. Asks no node. For ' +
      'older ones use `before`: the cost of a page does not grow with its depth. With `wait` the request is held until something ' +
      'changes; while anybody holds one, a transfer is seen some seconds after its block.',
    query: ownDepositsQuery,
    parameters: {
      ...parameters,
      wait: {
        description:
          `Holds the request for at most this many seconds, up to ${waitSecondsMax}, until one of your transfers may have changed since ` +
          '`mark`. It is answered at once without a `mark`, and where nobody knows whether something has changed.',
        example: 25,
      },
      mark: { description: 'With `wait`: the `mark` of the last answer.', example: 'k3v9x0q1-17' },
    },
    success: schemas.dataBody('DepositListResponse', () => ({
      list: z.array(deposit()),
      count: schemas.countSchema(count),
      unchanged: z.exactOptional(
        schemas.described(
          z.literal(true),
          'Where the request was held, and nothing has changed: `list` is empty, whatever transfers there are.',
        ),
      ),
      mark: z.exactOptional(
        schemas.textSchema('Where `wait` was given: send it with the next request.', /^[0-9a-z]+-\d+$/),
      ),
    })),
    examples: [
      { name: 'two deposits', given: 'two deposits, credited' },
      { name: 'the second page', given: 'two deposits, credited', query: '?before=2' },
      { name: 'none on its way', given: 'two deposits, credited', query: '?state=seen' },
    ],
    failures: [badQuery('?state=lost')],
  } satisfies docs.Operation
}
