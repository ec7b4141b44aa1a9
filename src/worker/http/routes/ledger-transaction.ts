import * as z from 'zod/mini'
import type { TransactionFinding } from '../../chain/chain.ts'
import { type ChainAnswer, finding } from '../../schemas/finding.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import { toProblem, toReasonedProblem } from '../errors.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery, chainFailures } from '../openapi/failures.ts'
import { withQuery } from '../query.ts'
import { describeUncredited, txidParam } from './tron-recharge.ts'

const query = z.object({ txid: txidParam() })

const credits = {
  credited: 'already credited',
  creditable: 'it is final; the scan or the question of its owner credits it',
} as const

/**
 * For support: what the user of a transaction would be told by `/tron/recharge?txid=`. Unlike that
 * route, it credits nothing.
 */
export const ledgerTransaction = {
  path: '/ledger/transaction',
  method: 'GET',
  usersIn: 'uid', // it only chooses the cell
  scope: () => 'ledger:read',
  handle: withQuery(query, async (c, { txid }) => {
    const found = await c.env.services.scanner.lookUpTransaction(txid)
    if (!found.ok) return refusal(found.error)
    return success({ txid, uid: found.value.uid, ...describeFinding(found.value) })
  }),
} satisfies LedgerRoute

/** What the answer says about a transaction, beside the txid and the user. */
function describeFinding(finding: TransactionFinding): Omit<ChainAnswer, 'txid' | 'uid'> {
  const { answer } = finding
  if (answer === 'credited' || answer === 'creditable') {
    return { answer, why: [credits[answer], ...describeUncredited(finding)].join('; ') }
  }
  if (answer.kind === 'bad-input' || answer.kind === 'not-found') {
    return { answer: 'unknown', why: toProblem(answer).msg }
  }
  const { reason, msg } = toReasonedProblem(answer)
  switch (answer.kind) {
    case 'not-final': {
      const { seconds } = answer
      return { answer: 'not-final', reason, ...(seconds === null ? {} : { seconds }), why: msg }
    }
    case 'worthless':
      return { answer: 'worthless', reason, why: msg }
    default:
      return { answer: 'undecided', reason, why: msg }
  }
}

/**
 * `GET /ledger/transaction` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerTransactionDocs = () => {
  const example = `?txid=${docs.usdtTxid}`
  const trc10 = 'a0c43b162522eb05e0cab1ce841b43c57c47e56d97be335c852ffb539a1e51db'
  return {
    id: 'lookUpTransaction',
    summary: 'What the chain says about a transaction',
    description:
      'The answer that the owner of a transaction would get from `/tron/recharge?txid=`, for support. It credits nothing. Where it ' +
      'is not decided yet, the nodes are asked, out of what all callers share. Whom it concerns is part of the answer, so `uid` is no ' +
      'parameter and changes nothing in it; where there are several databases, it chooses that of the user, as in every request of a backend.',
    query,
    parameters: {
      txid: { description: 'The transaction: 64 hex digits, optionally prefixed with `0x`.', example: docs.usdtTxid },
    },
    success: schemas.successBody('LedgerTransactionResponse', finding),
    examples: [
      { name: 'credited', given: 'two deposits, credited', query: example },
      { name: 'not scanned yet', given: 'two deposits, not scanned yet', query: example },
      { name: 'not final', given: 'two deposits that are not final', query: example },
      { name: 'worthless', given: 'a transaction of each kind', query: `?txid=${trc10}` },
      { name: 'undecided', given: 'nodes that disagree', query: example },
      { name: 'of no user', given: 'an address', query: `?txid=${'ab'.repeat(32)}` },
    ],
    failures: [badQuery('?txid=25'), ...chainFailures(example, 'an address and ')],
  } satisfies docs.Operation
}
