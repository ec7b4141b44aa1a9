import type { Result } from '../common/result.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { DecisionContext } from '../payouts/decide.ts'
import type { PayoutFailure } from '../payouts/failure.ts'
import { type Payout, payoutItem } from '../payouts/payout.ts'
import { jsonAmount } from '../schemas/written.ts'
import { readJsonBody } from './body.ts'
import { type RequestContext, writing } from './context.ts'
import { failure, type JsonMembers, success } from './envelope.ts'
import { toPayoutProblem } from './errors.ts'

// Parts that the payout routes share.

/** The rules of `PAYOUTS` in the cell (database) of the request. Throws if it has none, which is a bug: payout routes exist only in cells that have them. */
export function payoutRulesOf(c: RequestContext): PayoutRules {
  const { payouts } = c.env.services.settings
  if (payouts === null) throw new Error('a route of payouts without PAYOUTS')
  return payouts
}

/** A payout as JSON for backends and people at the desk, with exact amounts in whole units. */
export function writePayout(c: RequestContext, payout: Payout): JsonMembers {
  return payoutItem(payout, c.env.services.settings.currencies, jsonAmount)
}

/** Answers a POST that approves or cancels payouts. `work` gets the JSON body and changes the payouts, which the answer lists. */
export async function answerStep(
  c: RequestContext,
  work: (context: DecisionContext, body: unknown) => Promise<Result<readonly Payout[], PayoutFailure>>,
): Promise<Response> {
  const body = await readJsonBody(c.req.raw)
  if (!body.ok) return failure(body.error)
  const { address } = payoutRulesOf(c)
  const taken = await writing(c, 'note-and-wake', (context) => work({ ...context, address }, body.value))
  if (!taken.ok) return failure(toPayoutProblem(taken.error))
  return success({ list: taken.value.map((payout) => writePayout(c, payout)), count: taken.value.length })
}
