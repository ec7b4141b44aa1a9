import * as z from 'zod/mini'
import { countedMax } from '../../common/counted.ts'
import type { CurrencyId, PayoutId } from '../../common/ids.ts'
import { payoutStates } from '../../common/payout-states.ts'
import { pageRowsDefault } from '../../ledger/store/entries.ts'
import { listPayouts } from '../../payouts/list.ts'
import { payoutItem } from '../../payouts/payout.ts'
import type { PayoutSelection } from '../../payouts/store/lists.ts'
import * as schemas from '../../schemas/parts.ts'
import { ownPayoutSchema, pickOwn } from '../../schemas/payout.ts'
import { jsonAmount } from '../../schemas/written.ts'
import { type Route, reading } from '../context.ts'
import { success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { choiceParam, idParam, type ParametersOf, wholeNumber, withQuery } from '../query.ts'
import { pageRowsMax } from './wallet-flow-list.ts'

const payoutsQuery = z.object({
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<PayoutId>()),
  state: z.optional(choiceParam(payoutStates)),
  cuy: z.optional(idParam<CurrencyId>()),
} satisfies Partial<ParametersOf<PayoutSelection>>)

/** The user's payouts, newest first. Reads only the database. */
export const tronPayouts = {
  path: '/tron/payouts',
  rateClass: () => 'lists',
  handle: withQuery(payoutsQuery, async (c, selection) => {
    const { list, count } = await reading(c, (context) => listPayouts(context, { ...selection, uid: c.get('uid') }))
    const { currencies } = c.env.services.settings
    return success({ list: list.map((payout) => pickOwn(payoutItem(payout, currencies, jsonAmount))), count })
  }),
} satisfies Route

/**
 * Documentation shared by both lists of payouts, of users and of backends: the parameters of a
 * page, and the count.
 */
export const payoutPage = () => ({
  parameters: {
    limit: {
      description: `Payouts in the list, at most ${pageRowsMax}; the default is ${pageRowsDefault}.`,
      example: 20,
    },
    before: { description: 'Only payouts with a smaller `id`: the last one of the previous page.', example: 1000 },
  },
  count: `The number of payouts that match, on all pages; ${countedMax} means that many or more.`,
})

/**
 * `GET /tron/payouts` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const tronPayoutsDocs = () => {
  const given = 'a payout that waits and an approved one'
  return {
    id: 'listOwnPayouts',
    summary: 'Your payouts, and where each one is',
    description:
      'What leaves your wallet on the chain, newest first. `osn` is that of its entries in `/wallet/flow/list`, and `txid` its transaction. ' +
      'For older ones use `before`: the cost of a page does not grow with its depth.',
    query: payoutsQuery,
    parameters: {
      ...payoutPage().parameters,
      state: { description: 'Only this state; the response schema lists them.', example: 'paid' },
      cuy: { description: `Only this currency. ${docs.cuyExpected}`, example: 2 },
    },
    success: schemas.listBody('OwnPayoutListResponse', ownPayoutSchema, payoutPage().count),
    examples: [
      { name: 'all', given },
      { name: 'what waits', given, query: '?state=waiting' },
    ],
    failures: [badQuery('?state=lost')],
  } satisfies docs.Operation
}
