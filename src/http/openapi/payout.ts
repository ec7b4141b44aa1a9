import * as z from 'zod/mini'
import { payoutStates, stuckReasons } from '../../d1/payout-tables.ts'
import * as docs from './docs.ts'

const address = (description: string) => docs.textSchema(description, /^T\w{33}$/)

const moved = () =>
  docs.component('Moved', () =>
    z.union([
      z.strictObject({
        to: address('Who has got it.'),
        cuy: docs.idSchema('The currency.'),
        amt: docs.amountSchema('How much, in whole units.'),
      }),
      z.strictObject({
        to: address('Who has got it.'),
        contract: address('A contract that is no currency here.'),
        units: docs.textSchema('How much, in units of that contract.', /^\d+$/),
      }),
    ]),
  )

/** The members of a payout. */
export const payoutMembers = () => ({
  id: docs.idSchema('The payout. Newer ones have higher ids.'),
  uid: docs.idSchema('The user.'),
  cuy: docs.idSchema('The currency.'),
  amt: docs.amountSchema('What is paid, in whole units, positive.'),
  fee: docs.amountSchema('What was taken beside it; 0 where there is none.'),
  to: address('Who is paid.'),
  osn: docs.textSchema('Its order serial reference, that of its entries.'),
  mark: docs.textSchema('A remark for people.'),
  state: docs.described(
    z.enum(payoutStates),
    '`waiting`: a person must approve it. `approved`: it may be signed. `signed`: its bytes are stored, and may be mined. `paid`: its ' +
      'transaction is final and has paid. `stuck`: its transaction is final and has failed or paid something else, or three have ' +
      'expired. `cancelled`: the money is back.',
  ),
  created_at: docs.instantSchema(),
  by: docs.textSchema('The backend that has asked for it.'),
  approved_by: z.optional(docs.textSchema('A backend, or `limits`. Absent: nobody has.')),
  txid: z.optional(docs.textSchema('Its newest transaction, where it is signed, paid or stuck.', /^[0-9a-f]{64}$/)),
  expires_at: z.optional(docs.instantSchema()),
  height: z.optional(docs.countSchema('The block in which the transaction was found.')),
  attempts: docs.countSchema('Transactions that have ended without paying.'),
  reason: z.optional(docs.described(z.enum(stuckReasons), 'Why it is stuck.')),
  why: z.optional(docs.textSchema('The same for people, or why it was cancelled.')),
  moved: z.optional(
    docs.described(
      z.array(moved()),
      'Where the transaction of a stuck one has succeeded: what has left the payout address by its logs, and to whom.',
    ),
  ),
})

/** A payout. */
export const payoutSchema = () => docs.object('Payout', payoutMembers)
