import * as z from 'zod/mini'
import { balanceAddressesMax, readChainBalance } from '../../addresses/read-balance.ts'
import { type Address, parseAddress } from '../../chain/address.ts'
import { balancesMax } from '../../chain/chain.ts'
import type { CurrencyId } from '../../common/ids.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonAmount } from '../../schemas/written.ts'
import { type Route, reading } from '../context.ts'
import { refusal, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery, chainFailures } from '../openapi/failures.ts'
import { idParam, textParam, unknownCurrency, withQuery } from '../query.ts'

const addressExpected = 'a Tron address (34 characters, starts with T)'

const trx = 1 as CurrencyId // safe: 1 is TRX in the interface

export const balanceQuery = z.object({
  cuy: z.optional(idParam<CurrencyId>()),
  address: z.optional(textParam(addressExpected, /^T[1-9A-HJ-NP-Za-km-z]{33}$/, readAddress)),
})

/** The balance of the user's addresses on the chain now, in one currency. */
export const tronBalance = {
  path: '/tron/balance',
  rateClass: () => 'nodes',
  handle: withQuery(balanceQuery, async (c, { cuy = trx, address = null }) => {
    const { scanner, settings } = c.env.services
    const currency = settings.currencies.byId.get(cuy)
    if (currency === undefined) return refusal(unknownCurrency(settings.currencies))
    const units = await reading(c, (context) =>
      readChainBalance({ ...context, scanner }, c.get('uid'), { currency, address }),
    )
    if (!units.ok) return refusal(units.error)
    // in units of the chain, which can have more decimals than the ledger
    return success({ amt: jsonAmount(units.value, currency.decimals) })
  }),
} satisfies Route

function readAddress(value: string): Address | null {
  const address = parseAddress(value)
  return address.ok ? address.value : null
}

/**
 * `GET /tron/balance` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const tronBalanceDocs = () =>
  ({
    id: 'readBalance',
    summary: 'Your balance on the chain now',
    description:
      'The sum over all of your addresses in one currency, from the newest state of a node. It can include transfers that ' +
      `are not final, so it can differ from the wallet. Without an address it is 0. Each ${balancesMax} addresses cost one request ` +
      `to a node; with more than ${balanceAddressesMax}, \`address\` is required. ` +
      'The same query within 3 seconds has the same answer.',
    query: balanceQuery,
    parameters: {
      cuy: { description: `The currency; the default is 1 (TRX). ${docs.cuyExpected}`, example: 2 },
      address: {
        description: 'One of your own addresses, in Base58Check: only its balance.',
        example: docs.depositAddress,
      },
    },
    success: schemas.dataBody('BalanceResponse', () => ({
      amt: schemas.amountSchema('The balance of the addresses on the chain now, in whole units.'),
    })),
    examples: [
      { name: 'TRX', given: 'two deposits, credited' },
      { name: 'USDT at one address', given: 'two deposits, credited', query: `?cuy=2&address=${docs.depositAddress}` },
    ],
    failures: [
      badQuery('?cuy=3'),
      {
        name: 'unknown-address',
        cause: 'The address is not one of yours.',
        cure: 'Leave `address` out, or use an address from `/tron/generate`.',
        given: 'an address',
        query: '?address=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      },
      ...chainFailures('?cuy=2', 'an address and '),
    ],
  }) satisfies docs.Operation
