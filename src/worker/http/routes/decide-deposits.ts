import * as z from 'zod/mini'
import { decisionsMax, decisionToMake } from '../../deposits/decide.ts'
import { ownedDeposit } from '../../schemas/deposit.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { toDecideProblem } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'

/** Decides about deposits that are held for review: all or none. */
export const decideLedgerDeposits = {
  path: '/ledger/deposits/decide',
  method: 'POST',
  ...useCases.decideDeposits,
  handle: handleWrite(useCases.decideDeposits, (c) => c.get('decider'), toDecideProblem),
} satisfies LedgerRoute

const body = () =>
  schemas.object('DecideDepositsRequest', () => {
    const one = schemas.component('DecisionToMake', () => {
      const { txid, decision, why } = decisionToMake.shape
      schemas.describeSentTxid(txid)
      schemas.described(decision, '`credit` or `refuse`. What was refused can still be credited.')
      schemas.describeWhy(why, 'The reason, for those who look later.')
      return z.extend(decisionToMake, { position: schemas.positionSchema() })
    })
    return { deposits: schemas.sentListSchema(one, decisionsMax, 'The decisions.') }
  })

const response = () =>
  schemas.dataBody('DecidedDeposits', () => ({
    list: z.array(ownedDeposit()),
    count: schemas.countSchema('The number of deposits in the list.'),
    replayed: schemas.described(z.boolean(), 'Whether all of it was decided before.'),
  }))

const decisionOf = (decision: 'credit' | 'refuse', txid: string = docs.usdtTxid) => ({
  txid,
  position: 0,
  decision,
  why: decision === 'credit' ? 'checked' : 'of a listed address',
})
const given = 'a deposit that is held for review'

const examples = (['credit', 'refuse'] as const).map((decision) => ({
  name: decision === 'credit' ? 'credited' : 'refused',
  given,
  request: { deposits: [decisionOf(decision)] },
})) satisfies readonly docs.Example[]

const failures = (): readonly docs.Failure[] => [
  {
    name: 'bad-decision',
    cause: 'A decision has a wrong member, a transfer is named twice, or there are too many of them.',
    cure: 'The message has the number of the deposit, the member, and what it takes.',
    given,
    request: { deposits: [{ ...decisionOf('credit'), decision: 'wait' }] },
  },
  ...bodyFailures({ deposits: [decisionOf('credit')] }, given, '{"deposits": [...]}'),
  {
    name: 'unknown-deposit',
    cause: 'No transfer to a user has this txid and position.',
    cure: 'Send `txid` and `position` as `GET /ledger/deposits` lists them.',
    given,
    request: { deposits: [decisionOf('credit', 'ab'.repeat(32))] },
  },
  refused('not-in-review', {
    given: 'two deposits, credited',
    request: { deposits: [decisionOf('credit')] },
  }),
  refused('decided-otherwise', {
    given: 'a deposit that was looked at',
    request: { deposits: [decisionOf('refuse')] },
  }),
  refused('from-operator', {
    given: 'a deposit that is held for review, of a sender that is an operator by now',
    request: { deposits: [decisionOf('credit')] },
  }),
]

/**
 * `POST /ledger/deposits/decide` in the OpenAPI document. The Worker never calls this function, so
 * its bundle has none of these texts.
 */
export const decideLedgerDepositsDocs = () =>
  ({
    id: 'decideDeposits',
    summary: 'Credit or refuse deposits that are held for review',
    description:
      `Decides about 1 to ${decisionsMax} deposits that \`reviewFrom\` of their currency holds: all or none. The same decision again is ` +
      'answered as the first time, whatever its reason and whoever sends it; the first ones are kept. What was refused can still be ' +
      'credited; what was decided to be credited cannot be refused. A deposit that does not fit into its wallet is held until it does. The ' +
      'decision and the ledger entry are stored together.',
    body: body(),
    success: response(),
    examples,
    failures: failures(),
  }) satisfies docs.Operation
