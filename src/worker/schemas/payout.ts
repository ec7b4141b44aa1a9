import * as z from 'zod/mini'
import { payoutStates, waitReasons } from '../common/payout-states.ts'
import { stuckReasons } from '../d1/payout-tables.ts'
import * as schemas from './parts.ts'
import type { WithAmounts } from './written.ts'

/** A payout as backends see it. `A` is the type of an amount. */
export type PayoutItem<A> = WithAmounts<z.output<ReturnType<typeof payoutSchema>>, A>

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

/**
 * The schemas of a payout's members. A signer sees `proof` in addition; a user sees only some of
 * them (`pickOwn`).
 */
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
  approved_by: z.exactOptional(
    schemas.textSchema('A backend, the e-mail address of a person, or `limits`. Absent: nobody has.'),
  ),
  txid: z.exactOptional(
    schemas.textSchema('Its newest transaction, where it is signed, paid or stuck.', /^[0-9a-f]{64}$/),
  ),
  expires_at: z.exactOptional(schemas.instantSchema()),
  height: z.exactOptional(schemas.countSchema('The block in which the transaction was found.')),
  attempts: schemas.countSchema('Transactions that have ended without paying.'),
  waits_for: z.exactOptional(
    schemas.described(
      z.enum(waitReasons),
      'In lists, why a waiting one was not approved by the limits of its currency: it has none (`no-limits`), the payout is above or ' +
        'below those of one payout, or those of a `day` were used up or payouts were stopped.',
    ),
  ),
  reason: z.exactOptional(schemas.described(z.enum(stuckReasons), 'Why it is stuck.')),
  why: z.exactOptional(schemas.textSchema('The same for people, why it was cancelled, or why an approved one waits.')),
  failure: z.exactOptional(
    schemas.object('PayoutFailure', () => ({
      result: z.exactOptional(
        schemas.textSchema("The chain's word for why the transaction failed, such as `OUT_OF_ENERGY`."),
      ),
      burnt: z.exactOptional(schemas.amountSchema('The TRX that it burnt; absent until nodes have shown it.')),
      energy: z.exactOptional(schemas.countSchema('The energy that it used; absent until nodes have shown it.')),
    })),
  ),
  moved: z.exactOptional(
    schemas.described(
      z.array(moved()),
      'Where the transaction of a stuck one has succeeded: what has left the payout address by its logs, and to whom. Of an unsigned ' +
        'one: what has left for it in another transaction.',
    ),
  ),
  received: z.exactOptional(
    schemas.amountSchema('Of a paid one in a token that took a fee: what has arrived, in whole units.'),
  ),
  answers: z.exactOptional(
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

const ownNames = ['id', 'cuy', 'amt', 'fee', 'to', 'osn', 'mark', 'state', 'created_at', 'txid', 'height'] as const
type OwnName = (typeof ownNames)[number]

/**
 * The members of a payout that its user may see, among those of `item`. The user sees neither who
 * approved the payout nor why it waits.
 */
export function pickOwn<T extends Partial<Readonly<Record<OwnName, unknown>>>>(item: T): Pick<T, OwnName & keyof T> {
  const own = ownNames.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]] as const]))
  return Object.fromEntries(own) as Pick<T, OwnName & keyof T> // safe: `own` has only members with these names
}

/** A payout as its user sees it. */
export const ownPayoutSchema = () => schemas.object('OwnPayout', () => pickOwn(payoutMembers()))
