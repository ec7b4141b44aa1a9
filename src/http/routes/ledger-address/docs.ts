import { gapLimit } from '../../../addresses/issue-address.ts'
import { toProblem } from '../../errors.ts'
import { depositAddress } from '../../openapi/example-data.ts'
import { backendFailures, badQuery, chainUnavailable } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import { failureBody } from '../../openapi/response.ts'
import { tronGenerateOperation } from '../tron-generate/docs.ts'
import { ledgerAddressQuery } from './query.ts'

/** The documentation of `GET /ledger/address`. */
export const ledgerAddressOperation = operation({
  id: 'generateLedgerAddress',
  tag: 'Ledger',
  summary: 'The deposit address of a user',
  description:
    'As `/tron/generate`, for a named user. `fresh=1` needs the scope `ledger:post`, and everything else `ledger:read`.',
  query: ledgerAddressQuery,
  parameters: { uid: { description: 'The user.', example: 7 }, ...tronGenerateOperation.parameters },
  success: tronGenerateOperation.success,
  failure: failureBody,
  examples: [dataExample('an address', 'a new caller', '?uid=7', { id: 1, address: depositAddress })],
  failures: [
    badQuery('?uid=0', 'uid: a whole number from 1 to 9007199254740991'),
    {
      status: 409,
      name: 'gap-limit',
      cause: `${gapLimit} addresses of the user have no deposit yet. The gap scan of a wallet (BIP-44) would miss further ones.`,
      cure: 'Use one of them: without `fresh` the response is the newest one.',
      given: 'twenty addresses without a deposit',
      query: '?uid=7&fresh=1',
      msg: toProblem({ kind: 'gap-limit', limit: gapLimit }).msg,
    },
    { ...chainUnavailable, query: '?uid=7' },
    ...backendFailures('ledger:read'),
  ],
})
