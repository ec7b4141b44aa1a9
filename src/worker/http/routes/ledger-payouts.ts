import * as z from 'zod/mini'
import type { CurrencyId, PayoutId } from '../../common/ids.ts'
import { payoutStates } from '../../d1/payout-tables.ts'
import { osnCharsMax, osnForm } from '../../ledger/entry.ts'
import { listPayouts } from '../../payouts/list.ts'
import * as schemas from '../../schemas/parts.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { approvedPayout, payoutSchema, payoutTo, waitingPayout } from '../openapi/payout.ts'
import { writePayout } from '../payouts.ts'
import { addressParam, choiceParam, idParam, textParam, uidParam, wholeNumber, withQuery } from '../query.ts'
import { payoutPage } from './tron-payouts.ts'
import { rechargeQuery } from './tron-recharge.ts'
import { pageRowsMax } from './wallet-flow-list.ts'

const osnExpected = `an osn of at most ${osnCharsMax} printable ASCII characters`

/** The parameters of the list of payouts, over HTTP and over RPC. */
export const ledgerPayoutsQuery = z.object({
  uid: z.optional(uidParam()),
  cuy: z.optional(idParam<CurrencyId>()),
  state: z.optional(choiceParam(payoutStates)),
  osn: z.optional(textParam(osnExpected, osnForm, (osn) => osn, osnCharsMax)),
  to: z.optional(addressParam()),
  ...rechargeQuery.shape,
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<PayoutId>()),
})

/** The payouts of all users, newest first, in pages, for the selection in the query. */
export const ledgerPayouts = {
  path: '/ledger/payouts',
  method: 'GET',
  isOfPayouts: true,
  usersIn: 'uid',
  scope: () => 'ledger:read',
  handle: withQuery(ledgerPayoutsQuery, async (c, selection) => {
    const { list, count } = await reading(c, (context) => listPayouts(context, selection))
    return success({ list: list.map((payout) => writePayout(c, payout)), count })
  }),
} satisfies LedgerRoute

/** `GET /ledger/payouts` in the OpenAPI document. The Worker never calls this function, so its bundle has none of these texts. */
export const ledgerPayoutsDocs = () => {
  const given = 'a payout that waits and an approved one'
  return {
    id: 'listPayouts',
    summary: 'Payouts, and where each one is',
    description:
      'Payouts of all users, newest first. For older ones use `before`: the cost of a page does not grow with its depth. `txid` finds a ' +
      'payout by any transaction that was handed in for it.',
    query: ledgerPayoutsQuery,
    parameters: {
      ...docs.uidNote,
      cuy: { description: 'Only this currency.', example: 2 },
      state: { description: 'Only this state; the response schema lists them.', example: 'waiting' },
      osn: { description: 'Only this order.', example: 'payout-1' },
      to: { description: 'Only to this address.', example: payoutTo },
      txid: { description: 'Only the payout of this transaction.', example: docs.usdtTxid },
      ...payoutPage().parameters,
    },
    success: schemas.listBody('PayoutListResponse', payoutSchema, payoutPage().count),
    examples: [
      docs.dataExample('all', given, '', { list: [approvedPayout(), waitingPayout()], count: 2 }),
      docs.dataExample('what waits', given, '?state=waiting', { list: [waitingPayout()], count: 1 }),
      docs.dataExample('by order', given, '?uid=7&osn=payout-2', { list: [approvedPayout()], count: 1 }),
    ],
    failures: [badQuery('?state=lost', 'state', `one of ${payoutStates.join(', ')}`)],
  } satisfies docs.Operation
}
