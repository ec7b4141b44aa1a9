import * as z from 'zod/mini'
import { payoutStates } from '../../common/payout-states.ts'
import { stuckReasons } from '../../d1/payout-tables.ts'
import { requestedMax } from '../../payouts/parse-payout-request.ts'
import { pickOwn } from '../../payouts/payout.ts'
import * as schemas from '../../schemas/parts.ts'

const address = (description: string) => schemas.textSchema(description, /^T\w{33}$/)

const moved = () =>
  schemas.component('Moved', () =>
    z.union([
      schemas.object('MovedCurrency', () => ({
        to: address('Who has got it.'),
        cuy: schemas.idSchema('The currency.'),
        amt: schemas.amountSchema('How much, in whole units.'),
      })),
      schemas.object('MovedContract', () => ({
        to: address('Who has got it.'),
        contract: address('A contract that is no currency here.'),
        units: schemas.textSchema('How much, in units of that contract.', /^\d+$/),
      })),
    ]),
  )

/** The schemas of a payout's members. A signer sees `proof` in addition; a user sees only some of them. */
export const payoutMembers = () => ({
  id: schemas.idSchema('The payout. Newer ones have higher ids.'),
  uid: schemas.idSchema('The user.'),
  cuy: schemas.idSchema('The currency.'),
  amt: schemas.amountSchema('What is paid, in whole units, positive.'),
  fee: schemas.amountSchema('What was taken beside it; 0 where there is none.'),
  to: address('Who is paid.'),
  osn: schemas.textSchema('Its order serial reference, that of its entries.'),
  mark: schemas.textSchema('A remark for people.'),
  state: schemas.described(
    z.enum(payoutStates),
    '`waiting`: a person must approve it. `approved`: it may be signed. `signed`: its bytes are stored, and may be mined. `paid`: its ' +
      'transaction is final and has paid. `stuck`: its transaction is final and has failed or paid something else, or three have ' +
      'expired. `cancelled`: the money is back.',
  ),
  created_at: schemas.instantSchema(),
  by: schemas.textSchema('The backend that has asked for it.'),
  approved_by: z.optional(
    schemas.textSchema('A backend, the e-mail address of a person, or `limits`. Absent: nobody has.'),
  ),
  txid: z.optional(schemas.textSchema('Its newest transaction, where it is signed, paid or stuck.', /^[0-9a-f]{64}$/)),
  expires_at: z.optional(schemas.instantSchema()),
  height: z.optional(schemas.countSchema('The block in which the transaction was found.')),
  attempts: schemas.countSchema('Transactions that have ended without paying.'),
  reason: z.optional(schemas.described(z.enum(stuckReasons), 'Why it is stuck.')),
  why: z.optional(schemas.textSchema('The same for people, why it was cancelled, or why an approved one waits.')),
  failure: z.optional(
    schemas.object('PayoutFailure', () => ({
      result: z.optional(
        schemas.textSchema("The chain's word for why the transaction failed, such as `OUT_OF_ENERGY`."),
      ),
      burnt: z.optional(schemas.amountSchema('The TRX that it burnt; absent until nodes have shown it.')),
      energy: z.optional(schemas.countSchema('The energy that it used; absent until nodes have shown it.')),
    })),
  ),
  moved: z.optional(
    schemas.described(
      z.array(moved()),
      'Where the transaction of a stuck one has succeeded: what has left the payout address by its logs, and to whom. Of an unsigned ' +
        'one: what has left for it in another transaction.',
    ),
  ),
  received: z.optional(
    schemas.amountSchema('Of a paid one in a token that took a fee: what has arrived, in whole units.'),
  ),
  answers: z.optional(
    schemas.described(
      z.array(nodeAnswer()),
      'Of a signed one: what each node last said about its sending. That decides nothing.',
    ),
  ),
})

const nodeAnswer = () =>
  schemas.object('NodeAnswer', () => ({
    node: schemas.textSchema('The node.'),
    answer: schemas.textSchema('Its word, such as `SUCCESS` or `SIGERROR`.'),
    at: schemas.instantSchema(),
  }))

/** A payout as backends and people at the desk see it. */
export const payoutSchema = () => schemas.object('Payout', payoutMembers)

/** A payout as its user sees it: without the members that concern only operators (`pickOwn`). */
export const ownPayoutSchema = () => schemas.object('OwnPayout', () => pickOwn(payoutMembers()))

/** The response to approving or cancelling: the payouts of the request, in the order of its ids. */
export const payoutList = (id: string) => schemas.listBody(id, payoutSchema, 'The number of payouts in the list.')

/** The member `ids` of a request that approves or cancels payouts. */
export const idsMember = () => schemas.sentListSchema(schemas.idSchema('A payout.'), requestedMax, 'The payouts.')

/** The member `moved`, which confirms that the caller knows money has left. */
export const movedMember = () =>
  schemas.described(z.literal(true), 'That it is known what has left for a payout: without it such a step is 409.')

/** The member `attempts`, which keeps a repeated approval from approving a payout that got stuck again. */
export const attemptsMember = () =>
  schemas.countSchema(
    'How many each stuck payout of them shows: another number is 409. With it, a request that is sent again approves none that has got ' +
      'stuck since.',
  )

/** The payout address in the examples. Its private key is public, so it must never be paid. */
export const payoutAddress = 'TXgoAQ1o6BJmtNbDmFu7QeatwATExE6xuw'
/** The address that the payouts of the examples pay. */
export const payoutTo = 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4'

/** A signed transaction in hex, which pays the second payout of the examples and refers to the newest final block of the examples.  */
export const signedMessage =
  '0ad3010a021d9322089ab280cc3a38bbaa40f8ddafa38c345aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70' +
  '726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541ee38364a18edef188c9677a43bbad1883f9b72f01215' +
  '41a614f803b6fd780986a42c78ec9c7f77e6ded13c2244a9059cbb000000000000000000000000ab000000000000000000000000000000' +
  '0000003c00000000000000000000000000000000000000000000000000000000002625a070b8efc1a28c34900180c2d72f1241262d2618' +
  '21cd998d5ea969e8a89540ef4af8d4dcf0256731cb5955c06811a3ef348aeb52012389e226fae0be01448eb5c11589665f7da85a24cf56' +
  'f6cc8fb4f31b'
