import { explainPending } from '../../../deposits/explain.ts'
import { failedTransaction } from '../../../deposits/verify-deposit.ts'
import { toProblem } from '../../errors.ts'
import { usdtTxid } from '../../openapi/example-data.ts'
import { badQuery, callerFailures, chainUnavailable } from '../../openapi/failures.ts'
import { noteExample, operation } from '../../openapi/operation.ts'
import { failureBody, successBodyWithoutData } from '../../openapi/response.ts'
import { rechargeQuery } from './query.ts'

const failedTxid = '703166253dd709237fbae363a41ba025171ed440fd218ae92d482977b4055640'
const unknownTxid = 'ab'.repeat(32)

/** The documentation of `GET /tron/recharge`. */
export const tronRechargeOperation = operation({
  id: 'recharge',
  tag: 'Tron',
  summary: 'Check for deposits now',
  description:
    'Credits what is final and not credited yet; `msg` has the result. Idempotent: however often it is called, at once or ' +
    'later, a deposit is credited once. It is a success where nothing is found. With `txid` the response is about that ' +
    'transaction only, whatever the position of the scan is.',
  query: rechargeQuery,
  parameters: {
    txid: { description: 'One transaction: 64 hex digits, optionally prefixed with `0x`.', example: usdtTxid },
  },
  success: successBodyWithoutData('RechargeResponse'),
  failure: failureBody,
  examples: [
    noteExample('two deposits', 'two deposits, not scanned yet', '', 'credited 3.5 TRX and 25 USDT'),
    noteExample('nothing new', 'two deposits, credited', '', 'nothing new'),
    noteExample(
      'not final yet',
      'two deposits that are not final',
      '',
      'nothing new; 1 transfer and 1 possible TRX transfer found, final in about 57 s',
    ),
    noteExample('one transaction', 'two deposits, not scanned yet', `?txid=${usdtTxid}`, 'credited 25 USDT'),
    noteExample('one transaction, again', 'two deposits, credited', `?txid=0x${usdtTxid}`, 'already credited 25 USDT'),
  ],
  failures: [
    badQuery('?txid=25', 'txid: 64 hex digits, optionally prefixed with 0x'),
    {
      status: 404,
      name: 'unknown-transaction',
      cause: 'The nodes do not have the transaction: it is mistyped, on another network, or was never broadcast.',
      cure: 'Look it up in the wallet that sent it. If it was sent just now, try again in a few seconds.',
      given: 'an address',
      query: `?txid=${unknownTxid}`,
      msg: toProblem({ kind: 'not-found', what: 'transaction' }).msg,
    },
    {
      status: 409,
      name: 'not-final',
      cause: 'The transaction is found, and its block is not final.',
      cure: 'Try again after the seconds in `Retry-After`.',
      headers: { 'retry-after': '57' },
      given: 'two deposits that are not final',
      query: `?txid=${usdtTxid}`,
      msg: toProblem({ kind: 'not-final', seconds: 57 }).msg,
    },
    {
      status: 409,
      name: 'undecided',
      cause: 'It cannot be decided now: the nodes disagree, or no node returns the bytes of the transaction.',
      cure: 'Try again later. If the reason stays, report it to the operator.',
      given: 'nodes that disagree',
      query: `?txid=${usdtTxid}`,
      msg: explainPending('disagreement'),
    },
    {
      status: 422,
      name: 'worthless',
      cause:
        'The transaction is final and has no deposit for you: it failed, transfers a TRC-10 or another token that is not ' +
        'accepted, pays none of your addresses, or is below the minimum. The message has the reason.',
      cure: 'This does not change. Compare the transaction with your address and the accepted currencies.',
      given: 'a failed transaction',
      query: `?txid=${failedTxid}`,
      msg: failedTransaction,
    },
    { ...chainUnavailable, given: 'an address and nodes that do not respond', query: `?txid=${usdtTxid}` },
    ...callerFailures,
  ],
})
