import { backendFailures, badQuery } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import { failureBody } from '../../openapi/response.ts'
import { walletListOperation } from '../wallet-list/docs.ts'
import { ledgerWalletsQuery } from './query.ts'

/** The documentation of `GET /ledger/wallets`. */
export const listLedgerWalletsOperation = operation({
  id: 'listLedgerWallets',
  tag: 'Ledger',
  summary: 'The balances of a user',
  description: 'As `/wallet/list`, for a named user.',
  query: ledgerWalletsQuery,
  parameters: { uid: { description: 'The user.', example: 7 } },
  success: walletListOperation.success,
  failure: failureBody,
  examples: [
    dataExample('two wallets', 'two deposits and a payment', '?uid=7', {
      list: [
        { amt: 3.5, cuy: 1 },
        { amt: 22.5, cuy: 2 },
      ],
      count: 2,
    }),
  ],
  failures: [badQuery('', 'uid: a whole number from 1 to 9007199254740991'), ...backendFailures('ledger:read')],
})
