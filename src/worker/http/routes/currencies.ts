import * as z from 'zod/mini'
import { formatBase58 } from '../../chain/address.ts'
import { formatUnits } from '../../common/amount.ts'
import { explorers } from '../../config/chain.ts'
import type { Currency } from '../../ledger/currencies.ts'
import * as schemas from '../../schemas/parts.ts'
import type { Route } from '../context.ts'
import { success } from '../envelope.ts'
import type * as docs from '../openapi/docs.ts'

/** The accepted currencies and the network. Requires no token and queries no node. */
export const acceptedCurrencies = {
  path: '/currencies',
  rateClass: null,
  handle: async (c) => {
    const { network, settings } = c.env.services
    const intakes = await Promise.all(c.env.cells.map(({ services }) => services.intake(c.get('invocation'))))
    const late = intakes.flatMap(({ lateSeconds }) => lateSeconds ?? [])
    const list = settings.currencies.offered.map((currency) => ({
      ...currencyItem(currency),
      open: intakes.every(({ open }) => open.has(currency.cuy)),
    }))
    return success({
      network,
      explorer: explorers[network],
      late: late.length === 0 ? null : Math.max(...late),
      list,
      count: list.length,
    })
  },
} satisfies Route

function currencyItem({ cuy, symbol, name, asset, decimals, scale, minDeposit, retired }: Currency) {
  return {
    cuy,
    symbol,
    name,
    decimals,
    scale,
    minDeposit: minDeposit === 0n ? null : formatUnits(minDeposit, decimals),
    contract: asset.kind === 'native' ? null : formatBase58(asset.contract),
    retired,
  }
}

const currency = () =>
  schemas.object('Currency', () => ({
    cuy: schemas.idSchema('The currency.'),
    symbol: schemas.textSchema('Its symbol.'),
    name: schemas.textSchema('Its name for people.'),
    decimals: schemas.countSchema('Decimals on the chain.'),
    scale: schemas.countSchema('Decimals that the ledger keeps.'),
    minDeposit: schemas.described(z.nullable(z.string()), 'The smallest deposit that is credited; null: any.'),
    contract: schemas.described(z.nullable(z.string()), 'The contract of the token; null: TRX.'),
    retired: schemas.described(z.boolean(), 'It is no longer accepted; balances stay.'),
    open: schemas.described(
      z.boolean(),
      'Whether its deposits can be credited now. While they cannot, what arrives is kept, and its amount may be shown wrongly.',
    ),
  }))

/**
 * `GET /currencies` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const currenciesDocs = () => {
  return {
    id: 'listCurrencies',
    summary: 'What is accepted now',
    description:
      'The configured currencies in the order of their configuration, and their network, for pages and people. Requires no token and queries no node; what it says of ' +
      'now is at most two seconds old. Anything that is sent on another network, or of another token, is lost.',
    success: schemas.dataBody('CurrenciesResponse', () => ({
      network: schemas.described(z.enum(['Tron', 'Nile', 'local']), 'Nile is a test network; local is any other.'),
      explorer: schemas.described(
        z.nullable(z.string()),
        'The base of an explorer: `/transaction/<txid>` and `/address/<address>` follow it. Null on a local chain.',
      ),
      late: schemas.described(
        z.nullable(z.int().check(z.minimum(0))),
        'By about how many seconds credits are later than usual; null if they are not. Nothing is lost meanwhile.',
      ),
      list: z.array(currency()),
      count: schemas.countSchema('The number of currencies.'),
    })),
    examples: [{ name: 'two currencies', given: 'two deposits, credited' }],
    failures: [],
  } satisfies docs.Operation
}
