import * as z from 'zod/mini'
import * as schemas from './parts.ts'

/** A currency as everybody sees it. */
export type CurrencyItem = z.output<ReturnType<typeof currency>>

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

/** The schemas of the members of `GET /currencies`: what the service accepts now. */
export const offerMembers = () => ({
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
})
