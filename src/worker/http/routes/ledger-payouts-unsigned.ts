import * as z from 'zod/mini'
import { formatBase58 } from '../../chain/address.ts'
import type { PayoutId } from '../../common/ids.ts'
import { formatInstant } from '../../common/time.ts'
import { offeredMax, offerPayouts } from '../../payouts/offer.ts'
import { payoutItem } from '../../payouts/payout.ts'
import * as schemas from '../../schemas/parts.ts'
import { payoutMembers } from '../../schemas/payout.ts'
import { jsonAmount } from '../../schemas/written.ts'
import type { LedgerRoute } from '../context.ts'
import { failure, success } from '../envelope.ts'
import { toPayoutProblem } from '../errors.ts'
import type * as docs from '../openapi/docs.ts'
import { badQuery, refused } from '../openapi/failures.ts'
import { idParam, withQuery } from '../query.ts'
import { payoutRulesOf } from '../use-cases.ts'

const unsignedQuery = z.object({ after: z.optional(idParam<PayoutId>()) })

/**
 * The payouts that a signer may sign. Reads the primary database, because a replica may be behind.
 */
export const ledgerPayoutsUnsigned = {
  path: '/ledger/payouts/unsigned',
  method: 'GET',
  isOfPayouts: true,
  usersIn: null,
  scope: () => 'ledger:sign',
  handle: withQuery(unsignedQuery, async (c, { after }) => {
    const context = c.env.services.primary(c.get('invocation'))
    const rules = payoutRulesOf(context)
    const offer = await offerPayouts({ ...context, rules }, after)
    if (!offer.ok) return failure(toPayoutProblem(offer.error))
    const { payouts, head } = offer.value
    return success({
      list: payouts.map((payout) => {
        const item = payoutItem(payout, context.currencies, jsonAmount)
        return { ...item, ...(payout.proof === null ? {} : { proof: payout.proof }) }
      }),
      count: payouts.length,
      address: formatBase58(rules.address),
      head: { height: head.height, hash: head.hash, created_at: formatInstant(head.timestamp) },
    })
  }),
} satisfies LedgerRoute

const unsigned = () =>
  schemas.object('UnsignedPayout', () => ({
    ...payoutMembers(),
    proof: z.optional(schemas.textSchema('What the backend has signed of it.')),
  }))

const head = () =>
  schemas.object('Head', () => ({
    height: schemas.countSchema('The height of the newest agreed final block.'),
    hash: schemas.textSchema('Its hash.', /^[0-9a-f]{64}$/),
    created_at: schemas.instantSchema(),
  }))

/**
 * `GET /ledger/payouts/unsigned` in the OpenAPI document. The Worker never calls this function, so
 * its bundle has none of these texts.
 */
export const ledgerPayoutsUnsignedDocs = () => {
  const given = 'a payout that waits and an approved one'
  return {
    id: 'listUnsignedPayouts',
    summary: 'For the signer: what may be signed',
    description:
      `The approved payouts, oldest first, at most ${offeredMax}, the address that they are paid from, and the newest agreed final block, which a ` +
      'transaction may refer to. Amounts are in whole units: a signer has the decimals in its own configuration. If the list is full, `after` ' +
      'has the next ones: those that a signer leaves must not keep it from the others.',
    query: unsignedQuery,
    parameters: {
      after: { description: 'Only payouts with a larger `id`: the last one of the list before.', example: 100 },
    },
    success: schemas.dataBody('UnsignedPayoutsResponse', () => ({
      list: z.array(unsigned()),
      count: schemas.countSchema('The number of payouts in the list.'),
      address: schemas.textSchema('The address that they are paid from.', /^T\w{33}$/),
      head: head(),
    })),
    examples: [{ name: 'an approved one', given }],
    failures: [
      badQuery('?after=0'),
      refused('payouts-stopped', {
        given: 'a transaction of the payout address that no payout names',
      }),
      refused('no-final-block', { given: 'a new caller' }),
    ],
  } satisfies docs.Operation
}
