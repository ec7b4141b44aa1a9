import * as z from 'zod/mini'
import type { TransactionFinding } from '../../chain/chain.ts'
import { reservedUid } from '../../common/ids.ts'
import type { LedgerRoute } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import { toProblem } from '../errors.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery, chainFailures } from '../openapi/failures.ts'
import { badInput, withQuery } from '../query.ts'
import { describeUncredited, rechargeQuery, txidTakes } from './tron-recharge.ts'

const answers = ['credited', 'creditable', 'unknown', 'not-final', 'undecided', 'worthless'] as const

const credits = {
  credited: 'already credited',
  creditable: 'it is final; the scan or the question of its owner credits it',
} as const

/** What the owner of a transaction would be answered. It credits nothing: support asks for somebody else. */
export const ledgerTransaction = {
  path: '/ledger/transaction',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: withQuery(rechargeQuery, async (c, { txid }) => {
    if (txid === undefined) return refusal(badInput('txid', txidTakes))
    const found = await c.env.services.scanner.lookUpTransaction(txid)
    if (!found.ok) return refusal(found.error)
    return success({ txid, uid: found.value.uid, ...describeFinding(found.value) })
  }),
} satisfies LedgerRoute

function describeFinding({ answer, uncredited }: TransactionFinding): {
  readonly answer: (typeof answers)[number]
  readonly why: string
} {
  if (answer === 'credited' || answer === 'creditable') {
    return { answer, why: [credits[answer], ...describeUncredited(uncredited)].join('; ') }
  }
  const { msg } = toProblem(answer)
  switch (answer.kind) {
    case 'not-final':
    case 'worthless':
      return { answer: answer.kind, why: msg }
    case 'not-found':
      return { answer: 'unknown', why: msg }
    default:
      return { answer: 'undecided', why: msg }
  }
}

const finding = () =>
  docs.object('TransactionFinding', () => ({
    txid: docs.textSchema('The transaction, 64 hex digits.', /^[0-9a-f]{64}$/),
    uid: docs.described(
      z.nullable(docs.idSchema('The user.')),
      `The user whom it concerns; ${reservedUid} where that is a reserved address, null where it concerns nobody, or where that is not known yet.`,
    ),
    answer: docs.described(
      z.enum(answers),
      'What it is: `creditable` is final and not credited yet, `unknown` is known to no node, `undecided` cannot be decided now.',
    ),
    why: docs.textSchema('The sentence that its owner gets from `/tron/recharge?txid=`.'),
  }))

/** The documentation of `GET /ledger/transaction`. */
export const ledgerTransactionDocs = () => {
  const query = `?txid=${docs.usdtTxid}`
  return {
    id: 'lookUpTransaction',
    summary: 'What the chain says about a transaction',
    description:
      'The answer that the owner of a transaction would get from `/tron/recharge?txid=`, for support. It credits nothing. Where it ' +
      'is not decided yet, the nodes are asked, out of what all callers share.',
    query: rechargeQuery,
    parameters: {
      txid: { description: 'The transaction: 64 hex digits, optionally prefixed with `0x`.', example: docs.usdtTxid },
    },
    success: docs.successBody('LedgerTransactionResponse', finding),
    examples: [
      docs.dataExample('credited', 'two deposits, credited', query, {
        ...{ txid: docs.usdtTxid, uid: 7, answer: 'credited', why: 'already credited' },
      }),
      docs.dataExample('not scanned yet', 'two deposits, not scanned yet', query, {
        ...{ txid: docs.usdtTxid, uid: 7, answer: 'creditable' },
        why: 'it is final; the scan or the question of its owner credits it',
      }),
      docs.dataExample('not final', 'two deposits that are not final', query, {
        ...{ txid: docs.usdtTxid, uid: null, answer: 'not-final' },
        why: 'found, not final yet; try again in about 57 s',
      }),
      docs.dataExample('of no user', 'an address', `?txid=${'ab'.repeat(32)}`, {
        ...{ txid: 'ab'.repeat(32), uid: null, answer: 'unknown', why: 'no such transaction' },
      }),
    ],
    failures: [badQuery('?txid=25', 'txid', txidTakes), ...chainFailures(query, 'an address and ')],
  } satisfies docs.Operation
}
