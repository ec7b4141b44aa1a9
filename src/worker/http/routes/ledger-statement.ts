import * as z from 'zod/mini'
import { postedStatementFlow } from '../../schemas/entry.ts'
import type { LedgerRoute } from '../context.ts'
import { refusal } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { badInput, type ParametersOf, uidParam, withQuery } from '../query.ts'
import {
  type AskedStatement,
  answerStatement,
  statementBody,
  statementCsv,
  statementFailures,
  statementParameters,
  statementQuery,
  statementText,
} from './wallet-statement.ts'

const parameters = { uid: z.optional(uidParam()), ...statementQuery.shape } satisfies ParametersOf<AskedStatement>
const query = z.object(parameters)

const onlyWithUid = 'only allowed with uid'

/** A page of the statement of a user or of all users, for a month or a day. */
export const ledgerStatement = {
  path: '/ledger/statement',
  method: 'GET',
  usersIn: 'uid',
  scope: () => 'ledger:read',
  handle: withQuery(query, async (c, asked) => {
    // No index finds the entries of one currency over all users.
    if (asked.uid === undefined && asked.cuy !== undefined) return refusal(badInput('cuy', onlyWithUid))
    return answerStatement(c, { ...asked, uid: asked.uid }, true)
  }),
} satisfies LedgerRoute

/**
 * `GET /ledger/statement` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerStatementDocs = () =>
  ({
    id: 'readLedgerStatement',
    summary: 'The statement of a user, or of all',
    description:
      'As `/wallet/statement`, for a named user. Without `uid` that of all users, such as an operator closes a day with: the balances are what all ' +
      `wallets held together. Each entry has the name of its backend in \`by\`, which is the last column of CSV. ${statementText}`,
    query,
    parameters: {
      ...statementParameters(),
      cuy: { description: `Only this currency, of a user. ${docs.cuyExpected}`, example: 2 },
      uid: { ...docs.uidNote.uid, description: 'Only of this user. Required by `cuy`.' },
    },
    success: statementBody('LedgerStatementResponse', postedStatementFlow),
    csv: statementCsv(',"by"'),
    examples: [
      { name: 'the month of a user', given: 'two deposits and a payment', query: '?uid=7&month=2026-09&cuy=2&after=2' },
      { name: 'the day of all', given: 'two deposits and a payment', query: '?day=2026-09-21&after=2' },
    ],
    failures: [...statementFailures('?uid=7&'), { ...badQuery('?day=2026-08-27&cuy=2'), name: 'cuy-without-uid' }],
  }) satisfies docs.Operation
