import * as z from 'zod/mini'
import type { DecideReason } from '../../common/reasons.ts'
import { decisionsMax, decisionToMake } from '../../deposits/decide.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { toDecideProblem, wrongBody } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'
import { ownedDeposit } from './ledger-deposits.ts'
import { depositDocs } from './tron-deposits.ts'

/** Decides about deposits that are held for review: all or none. */
export const decideLedgerDeposits = {
  path: '/ledger/deposits/decide',
  method: 'POST',
  ...useCases.decideDeposits,
  handle: handleWrite(useCases.decideDeposits, (c) => c.get('decider'), toDecideProblem),
} satisfies LedgerRoute

const body = () =>
  schemas.object('DecideDepositsRequest', () => {
    const { decision } = decisionToMake.shape
    const one = schemas.component('DecisionToMake', () =>
      z.strictObject({
        txid: schemas.sentTxidSchema(),
        position: schemas.positionSchema(),
        decision: schemas.described(decision, '`credit` or `refuse`. What was refused can still be credited.'),
        why: schemas.whySchema('The reason, for those who look later.'),
      }),
    )
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

const examples = () => {
  const { usdt } = depositDocs()
  const { entry: held, uid, ...facts } = { ...usdt, uid: 7 }
  const entry = held + 1 // the event of holding the deposit takes a number, too: events and entries share one numbering
  const answer = (name: string, decision: 'credit' | 'refuse', item: object) =>
    docs.dataExample(name, given, '', { list: [item], count: 1, replayed: false }, { deposits: [decisionOf(decision)] })
  const decided = (decision: 'credit' | 'refuse') => ({ decision, why: decisionOf(decision).why, by: 'shop' })
  const why = '25 USDT was looked at by the operator of this service and is not credited'
  return [
    answer('credited', 'credit', { ...facts, entry, uid, decided: decided('credit') }),
    answer('refused', 'refuse', { ...facts, state: 'refused', reason: 'review', why, uid, decided: decided('refuse') }),
  ]
}

const failures = (): readonly docs.Failure[] => [
  {
    name: 'bad-decision',
    problem: toDecideProblem({ kind: 'bad-input', deposit: 1, member: 'decision', why: 'one of credit, refuse' }),
    cause: 'A decision has a wrong member, a transfer is named twice, or there are too many of them.',
    cure: 'The message has the number of the deposit, the member, and what it takes.',
    given,
    request: { deposits: [{ ...decisionOf('credit'), decision: 'wait' }] },
  },
  ...bodyFailures({ deposits: [decisionOf('credit')] }, given, wrongBody('deposits'), '{"deposits": [...]}'),
  {
    name: 'unknown-deposit',
    problem: toDecideProblem({ kind: 'not-found', deposit: 1, why: 'no such transfer' }),
    cause: 'No transfer to a user has this txid and position.',
    cure: 'Send `txid` and `position` as `GET /ledger/deposits` lists them.',
    given,
    request: { deposits: [decisionOf('credit', 'ab'.repeat(32))] },
  },
  refused(conflict('not-in-review', 'it is credited, not held for review'), {
    given: 'two deposits, credited',
    request: { deposits: [decisionOf('credit')] },
  }),
  refused(conflict('decided-otherwise', 'it was decided to credit it'), {
    given: 'a deposit that was looked at',
    request: { deposits: [decisionOf('refuse')] },
  }),
  refused(
    conflict(
      'from-operator',
      "its sender is an operator's wallet or the payout address: it is a movement, and no deposit",
    ),
    {
      given: 'a deposit that is held for review, of a sender that is an operator by now',
      request: { deposits: [decisionOf('credit')] },
    },
  ),
]

const conflict = (reason: DecideReason, why: string) => ({ status: 409, reason, msg: `deposit 1: ${why}` }) as const

/** `POST /ledger/deposits/decide` in the OpenAPI document. The Worker never calls this function, so its bundle has none of these texts. */
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
    examples: examples(),
    failures: failures(),
  }) satisfies docs.Operation
