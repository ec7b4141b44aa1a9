import * as schemas from '../../schemas/parts.ts'
import { payoutSchema } from '../../schemas/payout.ts'
import type { LedgerRoute } from '../context.ts'
import { handleRead } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { payoutTo } from '../openapi/payout.ts'
import { useCases } from '../use-cases.ts'
import { payoutPage } from './tron-payouts.ts'

/** The payouts of all users, newest first, in pages, for the selection in the query. */
export const ledgerPayouts = {
  path: '/ledger/payouts',
  method: 'GET',
  ...useCases.payouts,
  handle: handleRead(useCases.payouts),
} satisfies LedgerRoute

/**
 * `GET /ledger/payouts` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerPayoutsDocs = () => {
  const given = 'a payout that waits and an approved one'
  return {
    id: 'listPayouts',
    summary: 'Payouts, and where each one is',
    description:
      'Payouts of all users, newest first. For older ones use `before`: the cost of a page does not grow with its depth. With `after` ' +
      'the oldest are first. `txid` finds a payout by any transaction that was handed in for it.',
    query: useCases.payouts.input,
    parameters: {
      ...docs.uidNote,
      cuy: { description: 'Only this currency.', example: 2 },
      state: { description: 'Only this state; the response schema lists them.', example: 'waiting' },
      osn: { description: 'Only this order.', example: 'payout-1' },
      to: { description: 'Only to this address.', example: payoutTo },
      txid: { description: 'Only the payout of this transaction.', example: docs.usdtTxid },
      ...payoutPage().parameters,
      after: docs.afterNote('payouts'),
    },
    success: schemas.listBody('PayoutListResponse', payoutSchema, payoutPage().count),
    examples: [
      { name: 'all', given },
      { name: 'what waits, oldest first', given, query: '?state=waiting&after=0' },
      { name: 'by order', given, query: '?uid=7&osn=payout-2' },
    ],
    failures: [badQuery('?state=lost'), { ...badQuery('?before=9&after=0'), name: 'before-and-after' }],
  } satisfies docs.Operation
}
