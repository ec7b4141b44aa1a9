import * as z from 'zod/mini'
import { balanceAddressesMax } from '../../../addresses/read-balance.ts'
import { toProblem } from '../../errors.ts'
import { depositAddress } from '../../openapi/example-data.ts'
import { badQuery, callerFailures, chainUnavailable } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import { amountSchema, failureBody, successBody } from '../../openapi/response.ts'
import { balanceQuery } from './query.ts'

/** The documentation of `GET /tron/balance`. */
export const tronBalanceOperation = operation({
  id: 'readBalance',
  tag: 'Tron',
  summary: 'Your balance on the chain now',
  description:
    'The sum over all of your addresses in one currency, from the newest state of a node. It can include transfers that ' +
    `are not final, so it can differ from the wallet. Without an address it is 0. With more than ${balanceAddressesMax} addresses, ` +
    '`address` is required. The same query within 3 seconds has the same answer.',
  query: balanceQuery,
  parameters: {
    cuy: { description: 'The currency; the default is 1 (TRX).', example: 2 },
    address: { description: 'One of your own addresses, in Base58Check: only its balance.', example: depositAddress },
  },
  success: successBody(
    'BalanceResponse',
    z.strictObject({ amt: amountSchema('The balance of the addresses on the chain now, in whole units.') }),
  ),
  failure: failureBody,
  examples: [
    dataExample('TRX', 'two deposits, credited', '', { amt: 3.5 }),
    dataExample('USDT at one address', 'two deposits, credited', `?cuy=2&address=${depositAddress}`, { amt: 25 }),
  ],
  failures: [
    badQuery('?cuy=3', 'cuy: one of 1 (TRX), 2 (USDT), given at most once'),
    {
      status: 404,
      name: 'unknown-address',
      cause: 'The address is not one of yours.',
      cure: 'Leave `address` out, or use an address from `/tron/generate`.',
      given: 'an address',
      query: '?address=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      msg: toProblem({ kind: 'not-found', what: 'address' }).msg,
    },
    { ...chainUnavailable, given: 'an address and nodes that do not respond', query: '?cuy=2' },
    ...callerFailures,
  ],
})
