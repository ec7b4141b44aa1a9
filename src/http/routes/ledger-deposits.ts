import * as z from 'zod/mini'
import { ok, type QueryFailure, type Result } from '../../common/result.ts'
import { type DepositFilter, type DepositKey, type DepositPage, listDeposits } from '../../deposits/deposits.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { addressParam, addressTakes, badInput, nameCurrencies, parseQuery, uidParam } from '../query.ts'
import { deposit, depositDocs, depositItem, depositSelection, depositsQuery } from './tron-deposits.ts'
import { rechargeQuery } from './tron-recharge.ts'

const query = z.object({
  uid: z.optional(uidParam()),
  ...rechargeQuery.shape,
  address: z.optional(addressParam()),
  ...depositsQuery.shape,
})

/** Transfers to users, newest first: of one user, one transaction or one address, or of all users. */
export const ledgerDeposits = {
  path: '/ledger/deposits',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: async (c) => {
    const { currencies } = c.env.services.settings
    const selection = parseLedgerDeposits(c.req.url, currencies)
    if (!selection.ok) return refusal(selection.error)
    const { filter, page } = selection.value
    const { list, count } = await reading(c, (context) => listDeposits(context, filter, page))
    return success({ list: list.map((one) => ({ ...depositItem(one, currencies), uid: one.uid })), count })
  },
} satisfies LedgerRoute

/** Which transfers a URL selects. A transaction or an address is looked up by itself: nothing else may filter it. */
function parseLedgerDeposits(
  url: string,
  currencies: Currencies,
): Result<{ readonly filter: DepositFilter | DepositKey; readonly page: DepositPage }, QueryFailure> {
  const parsed = nameCurrencies(parseQuery(query, url), currencies)
  if (!parsed.ok) return parsed
  const selection = depositSelection(parsed.value, currencies)
  if (!selection.ok) return selection
  const { uid = null, txid, address } = parsed.value
  const { filter, page } = selection.value
  const wanted: DepositKey | null = txid !== undefined ? { txid } : address !== undefined ? { address } : null
  if (wanted === null) return ok({ filter: { ...filter, uid }, page })
  const key = 'txid' in wanted ? 'txid' : 'address'
  const other = (['uid', 'address', 'state', 'cuy'] as const).find(
    (one) => one !== key && parsed.value[one] !== undefined,
  )
  if (other !== undefined) return badInput(other, `not allowed with ${key}`)
  return ok({ filter: wanted, page })
}

const ownedDeposit = () =>
  docs.component('OwnedDeposit', () => z.extend(deposit(), { uid: docs.idSchema('The user.') }))

const failures = () => [
  badQuery('?address=T1', 'address', addressTakes),
  {
    ...badQuery(`?txid=${docs.usdtTxid}&uid=7`, 'uid', 'not allowed with txid'),
    name: 'filtered-key',
    cause: 'A transaction or an address is looked up by itself.',
  },
]

/** The documentation of `GET /ledger/deposits`. */
export const ledgerDepositsDocs = () => {
  const { parameters, count, ...deposits } = depositDocs()
  const trx = { ...deposits.trx, uid: 7 }
  const usdt = { ...deposits.usdt, uid: 7 }
  const given = 'two deposits, credited'
  return {
    id: 'listLedgerDeposits',
    summary: 'Transfers to users, and what became of them',
    description:
      'As `/tron/deposits`: with `uid` those of one user, otherwise of all. With `txid` those of one transaction, with `address` those to ' +
      'one address, whoever they are for. The cost does not grow with the history.',
    query,
    parameters: {
      ...docs.uidNote,
      txid: { description: 'Only this transaction. Not allowed with another filter.', example: docs.usdtTxid },
      address: { description: 'Only to this address. Not allowed with another filter.', example: docs.depositAddress },
      ...parameters,
    },
    success: docs.listBody('LedgerDepositsResponse', ownedDeposit, count),
    examples: [
      docs.dataExample('of a user', given, '?uid=7', { list: [usdt, trx], count: 2 }),
      docs.dataExample('of one transaction', given, `?txid=${docs.usdtTxid}`, { list: [usdt], count: 1 }),
      docs.dataExample('to one address', given, `?address=${docs.depositAddress}&limit=1`, { list: [usdt], count: 2 }),
      docs.dataExample('held for any user', given, '?state=held', { list: [], count: 0 }),
    ],
    failures: failures(),
  } satisfies docs.Operation
}
