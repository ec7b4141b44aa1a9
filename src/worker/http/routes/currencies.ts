import { formatBase58 } from '../../chain/address.ts'
import { formatUnits } from '../../common/amount.ts'
import { explorers } from '../../config/chain.ts'
import type { Currency } from '../../ledger/currencies.ts'
import { type CurrencyItem, offerMembers } from '../../schemas/currency.ts'
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
    const list = settings.currencies.offered.map((currency): CurrencyItem => {
      return { ...currencyItem(currency), open: intakes.every(({ open }) => open.has(currency.cuy)) }
    })
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
    success: schemas.dataBody('CurrenciesResponse', offerMembers),
    examples: [{ name: 'two currencies', given: 'two deposits, credited' }],
    failures: [],
  } satisfies docs.Operation
}
