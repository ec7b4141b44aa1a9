import * as z from 'zod/mini'
import { handInTexts } from '../../common/reasons.ts'
import { headRetrySeconds } from '../../payouts/failure.ts'
import { type HandedIn, handIn, takeSigned } from '../../payouts/hand-in.ts'
import * as schemas from '../../schemas/parts.ts'
import { readJsonBody } from '../body.ts'
import { type LedgerRoute, writing } from '../context.ts'
import { failure, success } from '../envelope.ts'
import { toPayoutProblem } from '../errors.ts'
import type * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { signedMessage } from '../openapi/payout.ts'
import { payoutRulesOf } from '../use-cases.ts'

/**
 * Accepts or refuses each of the signed transactions, whatever happens to the others. Accepted ones
 * are stored before any is sent.
 */
export const ledgerPayoutsSigned = {
  path: '/ledger/payouts/signed',
  method: 'POST',
  isOfPayouts: true,
  usersIn: null,
  scope: () => 'ledger:sign',
  handle: async (c) => {
    const body = await readJsonBody(c.req.raw)
    if (!body.ok) return failure(body.error)
    const taken = await writing(c, 'wake', (context) =>
      takeSigned({ ...context, rules: payoutRulesOf(context) }, body.value, context.clock.now()),
    )
    if (!taken.ok) return failure(toPayoutProblem(taken.error))
    if (taken.value.some((one) => 'txid' in one)) c.env.services.sendPayouts()
    const response = success({ list: taken.value.map(handedInItem), count: taken.value.length })
    const isEarly = taken.value.some((one) => 'refused' in one && one.refused.reason === 'no-final-block')
    if (isEarly) response.headers.set('retry-after', String(headRetrySeconds))
    return response
  },
} satisfies LedgerRoute

const handedInItem = (one: HandedIn) => ('refused' in one ? { ...one, refused: { ...one.refused } } : { ...one })

const body = () =>
  schemas.component('SignedPayoutsRequest', () => {
    const { id, transaction } = handIn.shape.signed.def.element.shape
    schemas.described(id, 'The payout.')
    schemas.described(
      transaction,
      'The whole signed message in hex, as for `broadcasthex`. Another text is refused alone, with the word `not-a-transaction`.',
    )
    return handIn
  })

const item = () =>
  schemas.component('HandedIn', () =>
    z.union([
      schemas.object('TakenTransaction', () => ({
        id: schemas.idSchema('The payout.'),
        state: schemas.described(
          z.literal('signed'),
          'Its transaction is stored, and is sent until it is final or has expired.',
        ),
        txid: schemas.textSchema('The transaction.', /^[0-9a-f]{64}$/),
      })),
      schemas.object('RefusedTransaction', () => ({
        id: schemas.idSchema('The payout.'),
        refused: z.strictObject({
          code: schemas.described(z.literal([404, 409, 422]), 'The status that it would have alone.'),
          reason: schemas.reasonSchema(),
          why: schemas.textSchema('What differs.'),
        }),
      })),
    ]),
  )

/**
 * `POST /ledger/payouts/signed` in the OpenAPI document. The Worker never calls this function, so
 * its bundle has none of these texts.
 */
export const ledgerPayoutsSignedDocs = () => {
  const given = 'a payout that waits and an approved one'
  const request = { signed: [{ id: 2, transaction: signedMessage }] }
  return {
    id: 'handInSignedPayouts',
    summary: 'For the signer: hand in what was signed',
    description:
      'Each transaction is taken or refused by itself, and the list has the result of each in the order sent. Taken is only what pays exactly what ' +
      'was approved: from the payout address, to `to`, of this amount, in bytes as a node would write them. It is stored before it is sent. ' +
      'The same one again is taken again. Nothing else is ever sent. Where one of them is refused with `no-final-block`, `Retry-After` says ' +
      'when to send it again. The words of what is refused, besides those of the failures:\n\n' +
      Object.entries(handInTexts())
        .map(([word, { cause }]) => `- \`${word}\`: ${cause}`)
        .join('\n'),
    body: body(),
    success: schemas.listBody('SignedPayoutsResponse', item, 'The number of results.'),
    examples: [
      { name: 'one transaction', given, request },
      { name: 'the same again', given: 'a signed payout', request },
      {
        name: 'for other payouts',
        given,
        request: { signed: [1, 9].map((id) => ({ id, transaction: signedMessage })) },
      },
    ],
    failures: [
      ...bodyFailures(request, given, '{"signed": [{"id", "transaction"}]}'),
      refused('no-final-block', { given: 'a new caller', request }),
    ],
  } satisfies docs.Operation
}
