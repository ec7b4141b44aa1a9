import { whyCharsMax } from '../../d1/payout-tables.ts'
import { cancellation } from '../../payouts/decide.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { toPayoutProblem } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import type * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { describeStepMembers, payoutList } from '../openapi/payout.ts'
import { useCases } from '../use-cases.ts'
import { stepFailures } from './ledger-payouts-approve.ts'

/** Cancels payouts, and gives the money back to the wallets: all payouts of the request or none. */
export const ledgerPayoutsCancel = {
  path: '/ledger/payouts/cancel',
  method: 'POST',
  ...useCases.cancelPayouts,
  handle: handleWrite(useCases.cancelPayouts, (c) => c.get('decider'), toPayoutProblem),
} satisfies LedgerRoute

const body = () =>
  schemas.component('CancelPayoutsRequest', () => {
    describeStepMembers(cancellation.shape)
    schemas.describeWhy(cancellation.shape.why, `Why, in 1 to ${whyCharsMax} characters: it is kept with the payout.`)
    return cancellation
  })

/**
 * `POST /ledger/payouts/cancel` in the OpenAPI document. The Worker never calls this function, so
 * its bundle has none of these texts.
 */
export const ledgerPayoutsCancelDocs = () => {
  const given = 'a payout that waits and an approved one'
  const why = 'the user has changed their mind'
  const { 'bad-step': bad, 'unknown-payout': unknown, 'money-moved': moved } = stepFailures({ ids: [2], why })
  return {
    id: 'cancelPayouts',
    summary: 'Cancel payouts: all or none',
    description:
      'Cancels payouts that wait, are approved or are stuck. The money is back in the wallet with the same statement: one entry of type 5 of ' +
      '`amt` and `fee` together, with the same `osn`. Sent again it is answered as the first time. Where money has left for a payout it takes ' +
      '`moved: true`, the scope `ledger:approve` and another name than has asked for it. While payouts are stopped none is cancelled: ' +
      'a transaction that the service does not know could have paid it.',
    body: body(),
    success: payoutList('CancelledPayouts'),
    examples: [{ name: 'an approved one', given, request: { ids: [2], why } }],
    failures: [
      bad,
      ...bodyFailures({ ids: [2], why }, given, '{"ids": [...], "why"}'),
      unknown,
      moved,
      {
        name: 'own-loss',
        cause:
          'Money has left for the payout, and the backend of the token has asked for it itself, or may not approve.',
        cure: 'Have it cancelled by another name that may approve.',
        given: 'a stuck payout that has moved money',
        request: { ids: [2], why, moved: true },
      },
      refused('not-in-this-state', { given: 'a signed payout', request: { ids: [2], why } }),
      refused('payouts-stopped', {
        given: 'a transaction of the payout address that no payout names',
        request: { ids: [2], why },
      }),
    ],
  } satisfies docs.Operation
}
