import * as z from 'zod/mini'
import type { TransferId } from '../../common/ids.ts'
import { heldReasons } from '../../common/reasons.ts'
import type { DepositKey } from '../../deposits/deposit.ts'
import { ownedDepositItem } from '../../deposits/deposit-item.ts'
import { ownedDeposit } from '../../schemas/deposit.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonAmount } from '../../schemas/written.ts'
import type { LedgerRoute } from '../context.ts'
import { refusal } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import {
  addressParam,
  afterParam,
  badInput,
  choiceParam,
  type NothingElse,
  notWithAfter,
  uidParam,
  withQuery,
} from '../query.ts'
import { answerDeposits, depositDocs, depositSelection, depositsQuery } from './tron-deposits.ts'
import { rechargeQuery } from './tron-recharge.ts'

const query = z.object({
  uid: z.optional(uidParam()),
  ...rechargeQuery.shape,
  address: z.optional(addressParam()),
  ...depositsQuery.shape,
  reason: z.optional(choiceParam(heldReasons)),
  after: z.optional(afterParam<TransferId>('a transfer')),
})

/**
 * Transfers to users, newest first: those of one user, transaction or address, or all. No other
 * filter can be combined with a transaction or an address.
 */
export const ledgerDeposits = {
  path: '/ledger/deposits',
  method: 'GET',
  usersIn: 'uid',
  scope: () => 'ledger:read',
  handle: withQuery(query, async (c, parameters) => {
    const { uid = null, txid, address, limit, before, state, cuy, reason, after, ...others } = parameters
    others satisfies NothingElse
    if (after !== undefined && before !== undefined) return refusal(badInput('before', notWithAfter))
    const isOfHeld = uid === null && (state ?? 'held') === 'held'
    if (reason !== undefined && !isOfHeld)
      return refusal(badInput('reason', 'not allowed with uid or another state than held'))
    const { filter, page } = depositSelection({ limit, before, state: reason === undefined ? state : 'held', cuy })
    const wanted: DepositKey | null = txid !== undefined ? { txid } : address !== undefined ? { address } : null
    const key = txid !== undefined ? 'txid' : 'address'
    const filters = (['uid', 'address', 'state', 'cuy', 'reason'] as const).filter(
      (one) => parameters[one] !== undefined,
    )
    const other = filters.find((one) => one !== key)
    if (wanted !== null && other !== undefined) return refusal(badInput(other, `not allowed with ${key}`))
    return answerDeposits(c, wanted ?? { ...filter, uid, reason }, { ...page, after }, (one, currencies) =>
      ownedDepositItem(one, currencies, jsonAmount),
    )
  }),
} satisfies LedgerRoute

const alone = 'Not allowed with `txid` or `address`.'

const failures = () => [
  badQuery('?address=T1'),
  {
    ...badQuery(`?txid=${docs.usdtTxid}&uid=7`),
    name: 'filtered-key',
    cause: 'A transaction or an address is looked up by itself.',
  },
]

/**
 * `GET /ledger/deposits` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerDepositsDocs = () => {
  const { parameters, count } = depositDocs()
  const given = 'two deposits, credited'
  return {
    id: 'listLedgerDeposits',
    summary: 'Transfers to users, and what became of them',
    description:
      'As `/tron/deposits`: with `uid` those of one user, otherwise of all. With `txid` those of one transaction, with `address` those to ' +
      'one address, whoever they are for. The cost does not grow with the history.',
    query,
    parameters: {
      uid: { ...docs.uidNote.uid, description: `Only of this user. ${alone}` },
      txid: {
        description: 'Only this transaction. Not allowed with `address`, `uid`, `state` or `cuy`.',
        example: docs.usdtTxid,
      },
      address: {
        description: 'Only to this address. Not allowed with `txid`, `uid`, `state` or `cuy`.',
        example: docs.depositAddress,
      },
      ...parameters,
      state: { ...parameters.state, description: `${parameters.state.description} ${alone}` },
      cuy: { ...parameters.cuy, description: `${parameters.cuy.description} ${alone}` },
      reason: {
        description: 'Only held ones with this reason. Not allowed with `uid`, `txid`, `address` or another `state`.',
        example: 'review',
      },
      after: docs.afterNote('transfers'),
    },
    success: schemas.listBody('LedgerDepositsResponse', ownedDeposit, count),
    examples: [
      { name: 'of a user', given, query: '?uid=7' },
      { name: 'of one transaction', given, query: `?txid=${docs.usdtTxid}` },
      { name: 'to one address', given, query: `?address=${docs.depositAddress}&limit=1` },
      { name: 'held for any user', given, query: '?state=held' },
      {
        name: 'what a person must look at, oldest first',
        given: 'a deposit that is held for review',
        query: '?reason=review&after=0',
      },
    ],
    failures: failures(),
  } satisfies docs.Operation
}
