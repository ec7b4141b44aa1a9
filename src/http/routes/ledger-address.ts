import * as z from 'zod/mini'
import type { LedgerRoute } from '../context.ts'
import { refusal } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { parseQuery, uidParam, uidTakes } from '../query.ts'
import { addressDocs, answerAddress, generateQuery, isFresh } from './tron-generate.ts'

const query = z.object({ uid: uidParam(), ...generateQuery.shape })

/** The deposit address of a named user. */
export const ledgerAddress = {
  path: '/ledger/address',
  method: 'GET',
  scope: (url) => (isFresh(url) ? 'ledger:post' : 'ledger:read'),
  handle: async (c) => {
    const request = parseQuery(query, c.req.url)
    return request.ok ? answerAddress(c, request.value.uid, request.value) : refusal(request.error)
  },
} satisfies LedgerRoute

/** The documentation of `GET /ledger/address`. */
export const ledgerAddressDocs = () => {
  const { parameters, failures, ...common } = addressDocs('?uid=7&')
  return {
    ...common,
    id: 'generateLedgerAddress',
    summary: 'The deposit address of a user',
    description:
      'As `/tron/generate`, for a named user. `fresh=1` needs the scope `ledger:post`, and everything else `ledger:read`.',
    query,
    parameters: { ...docs.uidNote, ...parameters },
    examples: [docs.dataExample('an address', 'a new caller', '?uid=7', { id: 1, address: docs.depositAddress })],
    failures: [badQuery('?uid=0', 'uid', uidTakes), ...failures],
  } satisfies docs.Operation
}
