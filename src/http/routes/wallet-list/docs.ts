import * as z from 'zod/mini'
import { callerFailures } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import { amountSchema, countSchema, failureBody, idSchema, notes, successBody } from '../../openapi/response.ts'

const wallet = z
  .strictObject({
    amt: amountSchema('The balance, in whole units: exact decimal digits, never an exponent.'),
    cuy: idSchema('The currency: 1 is TRX and 2 is USDT as shipped.'),
  })
  .register(notes, { id: 'Wallet' })

/** The documentation of `GET /wallet/list`. */
export const walletListOperation = operation({
  id: 'listWallets',
  tag: 'Wallet',
  summary: 'Your balances',
  description: 'One wallet for each configured currency, ordered by `cuy`; 0 where there is no entry yet.',
  query: z.object({}),
  parameters: {},
  success: successBody(
    'WalletListResponse',
    z.strictObject({ list: z.array(wallet), count: countSchema('The number of wallets in the list.') }),
  ),
  failure: failureBody,
  examples: [
    dataExample('two wallets', 'two deposits, credited', '', {
      list: [
        { amt: 3.5, cuy: 1 },
        { amt: 25, cuy: 2 },
      ],
      count: 2,
    }),
  ],
  failures: callerFailures,
})
