import * as z from 'zod/mini'
import { remarkCharsMax } from '../../common/remark.ts'
import { proofCharsMax } from '../../d1/payout-tables.ts'
import { requestedMax, requestedPayout } from '../../payouts/parse-payout-request.ts'
import { proofForm } from '../../payouts/proof.ts'
import * as schemas from '../../schemas/parts.ts'
import { payoutSchema } from '../../schemas/payout.ts'
import type { LedgerRoute } from '../context.ts'
import { toPayoutProblem } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { payoutAddress, payoutTo } from '../openapi/payout.ts'
import { useCases } from '../use-cases.ts'

/**
 * Takes a backend's request for payouts: all or none. A repeated request stores nothing, and gets
 * the payouts as they are now.
 */
export const postLedgerPayouts = {
  path: '/ledger/payouts',
  method: 'POST',
  ...useCases.askPayouts,
  handle: handleWrite(useCases.askPayouts, (c) => c.get('backend'), toPayoutProblem),
} satisfies LedgerRoute

const payoutToAsk = () =>
  schemas.component('PayoutToAsk', () => {
    // cloned below, because the routes of entries describe these schemas in other words
    const { uid, cuy, osn } = requestedPayout.shape
    return z.strictObject({
      uid: schemas.described(uid.clone(), 'The user whose wallet pays.'),
      cuy: schemas.described(cuy.clone(), 'The currency.'),
      amt: schemas.sentAmountSchema('positive'),
      to: schemas.sentAddressSchema('Who is paid: `T…`, 34 characters, with a right checksum.'),
      osn: schemas.described(osn.clone(), 'The order serial reference: with `uid` and `cuy` the key of the payout.'),
      fee: schemas.described(
        z.optional(schemas.sentAmountSchema('not negative')),
        'What is taken beside it, as a payment.',
      ),
      mark: z.optional(schemas.remarkSchema(`A remark for people, at most ${remarkCharsMax} characters.`)),
      proof: z.optional(
        schemas
          .textSchema(
            'A compact JWS (EdDSA, Ed25519 or ES256) of exactly `uid`, `cuy`, `amt`, `to` and `osn` of this payout, by a key of yours, for a ' +
              `signer that asks for one; at most ${proofCharsMax} characters.`,
            proofForm,
          )
          .check(z.maxLength(proofCharsMax)),
      ),
    })
  })

const body = () =>
  schemas.object('AskPayoutsRequest', () => ({
    payouts: schemas.sentListSchema(payoutToAsk(), requestedMax, 'The payouts.'),
  }))

const response = () =>
  schemas.dataBody('AskedPayouts', () => ({
    list: z.array(payoutSchema()),
    count: schemas.countSchema('The number of payouts in the list.'),
    replayed: schemas.described(z.boolean(), 'Whether they were asked for before.'),
  }))

const small = { uid: 7, cuy: 2, amt: '2.5', to: payoutTo, osn: 'payout-2' }
const large = { uid: 7, cuy: 2, amt: '10', to: payoutTo, osn: 'payout-1', fee: '0.5', mark: 'to my own wallet' }
const before = 'two deposits, credited'
const after = 'a payout that waits and an approved one'

const failures = (): readonly docs.Failure[] => {
  const sent = (given: docs.Situation, changes: object) => ({ given, request: { payouts: [{ ...small, ...changes }] } })
  return [
    {
      name: 'bad-payout',
      cause:
        'A payout has a wrong member: its form, its currency, too many decimals, an address with a wrong checksum. Or a key comes twice.',
      cure: 'The message has the number of the payout, the member, and what it takes.',
      ...sent(before, { to: payoutTo.replace(/.$/, '1') }),
    },
    ...bodyFailures({ payouts: [small] }, before, '{"payouts": [...]}'),
    refused('content-differs', sent(after, { amt: '3' })),
    refused('key-in-use', sent('two deposits and a payment', { osn: 'order-1001', fee: '0.5' })),
    refused('insufficient', sent(before, { amt: '25.000001' })),
    refused('to-user', sent(before, { to: docs.depositAddress })),
    refused('to-payout-address', sent(before, { to: payoutAddress })),
    refused('to-contract', sent(before, { to: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' })),
    refused('to-nobody', sent(before, { to: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb' })),
  ]
}

/**
 * `POST /ledger/payouts` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const postLedgerPayoutsDocs = () =>
  ({
    id: 'askPayouts',
    summary: 'Ask for payouts: all or none',
    description:
      `Asks for 1 to ${requestedMax} payouts. The money leaves the wallets in the same statement: an entry of type 2 of −\`amt\` and, where there is a ` +
      '`fee`, one of type 4, both with the `osn`. The key of a payout is its `uid`, `cuy` and `osn`: asked for again with the same content by the ' +
      'same backend it is shown as it is now, with `replayed: true`, so a request whose answer was lost can always be sent again. A payout ' +
      'within the limits is approved at once; any other one waits for a second name.',
    body: body(),
    success: response(),
    examples: [
      { name: 'within the limits', given: before, request: { payouts: [small] } },
      { name: 'above them', given: before, request: { payouts: [large] } },
      { name: 'the same again', given: after, request: { payouts: [small] } },
    ],
    failures: failures(),
  }) satisfies docs.Operation
