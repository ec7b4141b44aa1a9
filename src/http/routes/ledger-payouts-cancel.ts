import * as z from 'zod/mini'
import { whyCharsMax } from '../../d1/payout-tables.ts'
import { cancelPayouts } from '../../payouts/steps.ts'
import { stop, stoppedForUnknown } from '../../payouts/stopped.ts'
import type { LedgerRoute } from '../context.ts'
import { toPayoutRefusal } from '../errors.ts'
import * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { approvedPayout, idsMember, movedMember, payoutList } from '../openapi/payout.ts'
import { answerStep } from '../payouts.ts'
import { stepFailures, wrongStep } from './ledger-payouts-approve.ts'

/** Cancels payouts: all or none. */
export const ledgerPayoutsCancel = {
  path: '/ledger/payouts/cancel',
  method: 'POST',
  isOfPayouts: true,
  scope: () => ['ledger:pay', 'ledger:approve'] as const,
  handle: (c) => {
    const { scanner, settings } = c.env.services
    const isRestored = () => scanner.isRestored()
    return answerStep(c, (db, body) =>
      cancelPayouts({ db, isRestored }, body, c.get('backend').name, settings.clock.now()),
    )
  },
} satisfies LedgerRoute

const body = () =>
  docs.object('CancelPayoutsRequest', () => ({
    ids: idsMember(),
    why: docs.remarkSchema(`Why, in 1 to ${whyCharsMax} characters: it is kept with the payout.`, 1),
    moved: z.exactOptional(movedMember()),
  }))

/** The documentation of `POST /ledger/payouts/cancel`. */
export const ledgerPayoutsCancelDocs = () => {
  const given = 'a payout that waits and an approved one'
  const why = 'the user has changed their mind'
  const { 'bad-step': bad, 'unknown-payout': unknown, 'money-moved': moved } = stepFailures({ ids: [2], why })
  return {
    id: 'cancelPayouts',
    summary: 'Cancel payouts: all or none',
    description:
      'Cancels payouts that wait, are approved or are stuck. The money is back in the wallet with the same statement: one entry of type 5 of ' +
      '`amt` and `fee` together, with the same `osn`. Sent again it is answered as the first time. While payouts are stopped none is cancelled: ' +
      'a transaction that the service does not know could have paid it.',
    body: body(),
    success: payoutList('CancelPayoutsResponse'),
    examples: [
      docs.dataExample(
        'an approved one',
        given,
        '',
        { list: [{ ...approvedPayout(), state: 'cancelled', why }], count: 1 },
        { ids: [2], why },
      ),
    ],
    failures: [
      bad,
      ...bodyFailures({ ids: [2], why }, given, wrongStep('ids, why'), '{"ids": [...], "why"}'),
      unknown,
      moved,
      refused(
        toPayoutRefusal({
          kind: 'conflict',
          reason: 'not-in-this-state',
          why: 'payout 2: it is signed: its transaction can be mined',
        }),
        { given: 'a signed payout', request: { ids: [2], why } },
      ),
      refused(toPayoutRefusal(stop(stoppedForUnknown)), {
        given: 'a transaction of the payout address that no payout names',
        request: { ids: [2], why },
      }),
    ],
  } satisfies docs.Operation
}
