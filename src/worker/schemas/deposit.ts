import * as z from 'zod/mini'
import { heldReasons, refusedReasons } from '../common/reasons.ts'
import { decisionKinds, type TransferState } from '../d1/tables.ts'
import * as schemas from './parts.ts'
import type { WithAmounts } from './written.ts'

/** The states of a transfer to a user (docs/concepts.md, Words). */
export const depositStates = ['seen', 'held', 'credited', 'refused', 'dropped'] as const satisfies TransferState[]
export type DepositState = (typeof depositStates)[number]

/** A transfer as its user sees it. `A` is the type of an amount. */
export type DepositItem<A> = WithAmounts<z.output<ReturnType<typeof deposit>>, A>
/** A transfer as backends see it: also with its user and, once a review has ended, the decision. */
export type OwnedDepositItem<A> = WithAmounts<z.output<ReturnType<typeof ownedDeposit>>, A>

/** The schema of a transfer as its user sees it. */
export const deposit = () =>
  schemas.object('Deposit', () => ({
    id: schemas.idSchema('The transfer. Newer transfers have higher ids.'),
    txid: schemas.textSchema('The transaction, 64 hex digits.', /^[0-9a-f]{64}$/),
    position: schemas.positionSchema(),
    cuy: schemas.idSchema('The currency.'),
    amt: schemas.amountSchema('What is credited, or, where nothing is, what was sent, in whole units.'),
    address: schemas.textSchema('The address that is paid.', /^T\w{33}$/),
    state: schemas.described(
      z.enum(depositStates),
      '`seen`: in a block that is not final. `credited`: in the ledger. `held`: final, and undecidable for now. `refused`: final, ' +
        'and worth nothing. `dropped`: no longer in the chain; it can be seen again.',
    ),
    created_at: schemas.instantSchema(),
    seconds: z.exactOptional(
      schemas.countSchema(
        'About how long until it is final, if it is seen: 0 if it is final and not read yet. Absent if nobody knows: the answers of ' +
          'the network are late.',
      ),
    ),
    reason: z.exactOptional(
      schemas.described(z.enum([...heldReasons, ...refusedReasons]), 'Where it is held or refused: why, as one word.'),
    ),
    why: z.exactOptional(schemas.textSchema('The same for people.')),
    entry: z.exactOptional(schemas.idSchema('The ledger entry, where it is credited.')),
  }))

/**
 * The schema of a transfer for backends: the members that its user sees, `uid`, and `decided` if
 * somebody has decided about the held transfer.
 */
export const ownedDeposit = () =>
  schemas.component('OwnedDeposit', () =>
    z.extend(deposit(), {
      uid: schemas.idSchema('The user.'),
      decided: z.exactOptional(
        schemas.object('Decided', () => ({
          decision: schemas.described(
            z.enum(decisionKinds),
            'What was decided about a deposit that was held for review.',
          ),
          why: schemas.textSchema('The reason.'),
          by: schemas.textSchema('The backend, or the e-mail address of the person.'),
        })),
      ),
    }),
  )
