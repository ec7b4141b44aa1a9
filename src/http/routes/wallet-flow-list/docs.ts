import * as z from 'zod/mini'
import { entryTypes } from '../../../common/ids.ts'
import { offsetMax } from '../../../ledger/list-entries.ts'
import { trxTxid, usdtTxid } from '../../openapi/example-data.ts'
import { badQuery, callerFailures } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import {
  amountSchema,
  countSchema,
  failureBody,
  idSchema,
  notes,
  successBody,
  textSchema,
} from '../../openapi/response.ts'
import { flowListQuery, pageRowsDefault, pageRowsMax } from './query.ts'

/** The item of an entry. */
export const flow = z
  .strictObject({
    id: idSchema('The entry. Newer entries have higher ids.'),
    uid: idSchema('The caller.'),
    wid: idSchema('The wallet: one per user and currency.'),
    osn: textSchema(
      'The order serial reference, unique per type and wallet. A recharge has its txid for TRX, and `txid:k` for a token, ' +
        'where k is the position of the log among the logs of the transaction.',
    ),
    type: z.literal(Object.values(entryTypes)).register(notes, {
      description:
        '1 recharge, 2 withdraw, 3 transfer between wallets, 4 payment, 5 refund, 9 adjustment by an operator.',
    }),
    cuy: idSchema('The currency.'),
    amt: amountSchema('The change of the balance, signed, in whole units: entries can be summed.'),
    balance: amountSchema('The balance of the wallet after the entry.'),
    mark: textSchema('A remark for people.'),
    created_at: z.iso.datetime({ precision: 3 }).register(notes, { description: 'UTC, with milliseconds.' }),
  })
  .register(notes, { id: 'Flow' })

const usdtEntry = {
  id: 2,
  uid: 7,
  wid: 2,
  osn: `${usdtTxid}:0`,
  type: 1,
  cuy: 2,
  amt: 25,
  balance: 25,
  mark: 'deposit',
  created_at: '2026-09-21T14:13:20.417Z',
} as const
const trxEntry = { ...usdtEntry, id: 1, wid: 1, osn: trxTxid, cuy: 1, amt: 3.5, balance: 3.5 } as const

/** The documentation of `GET /wallet/flow/list`. */
export const walletFlowListOperation = operation({
  id: 'listFlows',
  tag: 'Wallet',
  summary: 'Your ledger entries',
  description:
    'Your entries, newest first. Use `page` to turn pages or, for long histories, `before`: then the cost of a page does ' +
    `not grow with its depth. A page past the end is empty. In a history of more than ${offsetMax} entries, a page behind so many ` +
    'of them is refused: use `before`.',
  query: flowListQuery,
  parameters: {
    page: { description: 'From 1, which is the default. Not allowed with `before`.', example: 1 },
    limit: {
      description: `Entries on a page, at most ${pageRowsMax}; the default is ${pageRowsDefault}.`,
      example: 20,
    },
    before: { description: 'Only entries with a smaller `id`: the last one of the previous page.', example: 1000 },
    cuy: { description: 'Only this currency.', example: 2 },
    wid: { description: 'Only this wallet.', example: 2 },
    type: { description: 'Only this type; the response schema lists them.', example: '1' },
    osn: { description: 'A full `osn`, or a txid in any form for all of its entries.', example: usdtTxid },
    from: { description: 'Only entries created at or after this instant.', example: '2026-11-01T00:00:00Z' },
    to: { description: 'Only entries created before this instant.', example: '2026-12-01T00:00:00Z' },
  },
  success: successBody(
    'FlowListResponse',
    z.strictObject({ list: z.array(flow), count: countSchema('The number of entries that match, on all pages.') }),
  ),
  failure: failureBody,
  examples: [
    dataExample('two entries', 'two deposits, credited', '', { list: [usdtEntry, trxEntry], count: 2 }),
    dataExample('the second page', 'two deposits, credited', '?page=2&limit=1', { list: [trxEntry], count: 2 }),
    dataExample('one transaction', 'two deposits, credited', `?osn=${usdtTxid}`, { list: [usdtEntry], count: 1 }),
  ],
  failures: [
    badQuery('?limit=1000', 'limit: a whole number from 1 to 100', ' Or `page` and `before` are both given.'),
    ...callerFailures,
  ],
})
