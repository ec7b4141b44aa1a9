import * as z from 'zod/mini'
import { formatBase58 } from '../../chain/address.ts'
import { formatUnits } from '../../common/amount.ts'
import type { Currency } from '../../ledger/currencies.ts'
import type { Route } from '../context.ts'
import { success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'

/** What is accepted, and on which network: requires no token, and reads nothing. */
export const acceptedCurrencies = {
  path: '/currencies',
  rateClass: null,
  handle: async (c) => {
    const { network, settings } = c.env.services
    const list = settings.currencies.list.map(currencyItem)
    return success({ network, list, count: list.length })
  },
} satisfies Route

function currencyItem({ cuy, symbol, name, asset, decimals, minDeposit, retired }: Currency) {
  return {
    ...{ cuy, symbol, name, decimals },
    minDeposit: minDeposit === 0n ? null : formatUnits(minDeposit, decimals),
    contract: asset.kind === 'native' ? null : formatBase58(asset.contract),
    retired,
  }
}

const currency = () =>
  docs.object('Currency', () => ({
    cuy: docs.idSchema('The currency.'),
    symbol: docs.textSchema('Its symbol.'),
    name: docs.textSchema('Its name for people.'),
    decimals: docs.countSchema('Decimals on the chain.'),
    minDeposit: docs.described(z.nullable(z.string()), 'The smallest deposit that is credited; null: any.'),
    contract: docs.described(z.nullable(z.string()), 'The contract of the token; null: TRX.'),
    retired: docs.described(z.boolean(), 'It is no longer accepted; balances stay.'),
  }))

/** The documentation of `GET /currencies`. */
export const currenciesDocs = () => {
  const free = { decimals: 6, minDeposit: null, contract: null, retired: false }
  const trx = { cuy: 1, symbol: 'TRX', name: 'TRX', ...free }
  const usdt = { ...trx, cuy: 2, symbol: 'USDT', name: 'USDT', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }
  return {
    id: 'listCurrencies',
    summary: 'What is accepted',
    description:
      'The configured currencies and their network, for pages and people. Requires no token. Anything that is sent on another ' +
      'network, or of another token, is lost.',
    success: docs.dataBody('CurrenciesResponse', () => ({
      network: docs.described(z.enum(['Tron', 'Nile', 'local']), 'Nile is a test network; local is any other.'),
      list: z.array(currency()),
      count: docs.countSchema('The number of currencies.'),
    })),
    examples: [
      docs.dataExample('two currencies', 'a new caller', '', { network: 'Tron', list: [trx, usdt], count: 2 }),
    ],
    failures: [],
  } satisfies docs.Operation
}
