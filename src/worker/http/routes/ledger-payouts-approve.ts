import { approval } from '../../payouts/decide.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { toPayoutProblem } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import type * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { describeStepMembers, payoutList } from '../openapi/payout.ts'
import { useCases } from '../use-cases.ts'

/** Approves payouts that wait, or stuck ones for another try: all or none. */
export const ledgerPayoutsApprove = {
  path: '/ledger/payouts/approve',
  method: 'POST',
  ...useCases.approvePayouts,
  handle: handleWrite(useCases.approvePayouts, (c) => c.get('decider'), toPayoutProblem),
} satisfies LedgerRoute

const body = () =>
  schemas.component('ApprovePayoutsRequest', () => {
    describeStepMembers(approval.shape)
    schemas.described(
      approval.shape.attempts,
      'How many each stuck payout of them shows: another number is 409. With it, a request that is sent again approves none that has got ' +
        'stuck since.',
    )
    return approval
  })

/**
 * `POST /ledger/payouts/approve` in the OpenAPI document. The Worker never calls this function, so
 * its bundle has none of these texts.
 */
export const ledgerPayoutsApproveDocs = () => {
  const given = 'a payout that waits and an approved one'
  const { 'bad-step': bad, 'unknown-payout': unknown, 'money-moved': moved } = stepFailures({ ids: [2] })
  return {
    id: 'approvePayouts',
    summary: 'Approve payouts: all or none',
    description:
      'Approves payouts that wait, by another name than has asked for them (not the same one in another case); or stuck ones, which may have three more transactions then. ' +
      'Sent again it is answered as the first time: with `attempts` also if one has got stuck since.',
    body: body(),
    success: payoutList('ApprovedPayouts'),
    examples: [{ name: 'one that waits', given, request: { ids: [1] }, by: 'office' }],
    failures: [
      bad,
      ...bodyFailures({ ids: [2] }, given, '{"ids": [...]}'),
      unknown,
      {
        name: 'own-payout',
        cause: 'The backend of the token has asked for the payout itself.',
        cure: 'Have it approved by another name.',
        given,
        request: { ids: [1] },
      },
      moved,
      refused('stuck-since', {
        given: 'a stuck payout that has moved money',
        request: { ids: [2], moved: true, attempts: 0 },
        by: 'office',
      }),
      refused('not-in-this-state', {
        given: 'a cancelled payout',
        request: { ids: [1] },
        by: 'office',
      }),
    ],
  } satisfies docs.Operation
}

/**
 * The documented failures that approving and cancelling share. `request` is a body about the second
 * payout of the examples.
 */
export const stepFailures = (request: object) =>
  ({
    'bad-step': {
      name: 'bad-step',
      cause: 'A member is missing, wrong, or one too many.',
      cure: 'The message has the member and what it takes.',
      given: 'a new caller',
      request: { ...request, ids: [] },
    },
    'unknown-payout': {
      name: 'unknown-payout',
      cause: 'No payout has this id.',
      cure: 'Look for it by `uid`, `cuy` and `osn`.',
      given: 'a new caller',
      request: { ...request, ids: [9] },
    },
    'money-moved': refused('money-moved', { given: 'a stuck payout that has moved money', request, by: 'office' }),
  }) satisfies Record<string, docs.Failure>
