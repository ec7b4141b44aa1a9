import * as z from 'zod/mini'
import { reservedUid } from '../common/ids.ts'
import * as schemas from './parts.ts'

/** What the chain says about a transaction, and whom it concerns. */
export type ChainAnswer = z.output<ReturnType<typeof finding>>

const answers = ['credited', 'creditable', 'unknown', 'not-final', 'undecided', 'worthless'] as const

/**
 * The schema of what the chain says about a transaction. `reason` is why it is not credited;
 * `seconds` is an estimate of the time until it is final, if there is one.
 */
export const finding = () =>
  schemas.object('TransactionFinding', () => ({
    txid: schemas.textSchema('The transaction, 64 hex digits.', /^[0-9a-f]{64}$/),
    uid: schemas.described(
      z.nullable(schemas.idSchema('The user.')),
      `The user whom it concerns; ${reservedUid} where that is a reserved address, null where it concerns nobody, or where that is not known yet.`,
    ),
    answer: schemas.described(
      z.enum(answers),
      'What it is: `creditable` is final and not credited yet, `unknown` is known to no node, `undecided` cannot be decided now.',
    ),
    reason: z.exactOptional(schemas.reasonSchema()),
    seconds: z.exactOptional(
      schemas.countSchema('About how long until it is final, where it is `not-final`. Absent if nobody knows.'),
    ),
    why: schemas.textSchema('The sentence that its owner gets from `/tron/recharge?txid=`.'),
  }))
