import { parseAddress } from '../../worker/chain/address.ts'
import { ok, type Result } from '../../worker/common/result.ts'
import type { Config } from '../../worker/config/config.ts'
import { readIssuerState, type StandingRow, type Stop, stopsOf } from '../../worker/issuer/state.ts'
import { standingSql } from '../../worker/issuer/store.ts'
import { type DatabaseRow, readDatabase } from '../database.ts'
import type { Place } from '../place.ts'
import type { ToolRefusal } from '../tool-error.ts'

/**
 * Why the balance of an address (Base58Check) in the currency of this symbol must not be collected
 * now because of an act of the token's issuer: one sentence without its full stop, or null.
 */
export type StopOf = (symbol: string, address: string) => string | null

/** Used where no database was read: then only the token's contract can refuse a transfer. */
export const noStops: StopOf = () => null

/** A deprecated token is still collected, so that nothing is left in it. */
const reasons: Readonly<Record<Stop, string | null>> = {
  frozen: 'its issuer has frozen this address: it stays until it is released',
  paused: 'its issuer has paused the token: collect it when it goes on',
  'fee-unconfirmed': 'its issuer takes a fee that nobody has confirmed (npm run operate -- fee list)',
  deprecated: null,
}

/**
 * Reads from a deployment's database which addresses and tokens the issuers have stopped. The error
 * says why the database cannot be read.
 */
export async function readStops(
  { currencies }: Pick<Config, 'currencies'>,
  place: Place,
): Promise<Result<StopOf, ToolRefusal>> {
  const read = await readDatabase(place, standingSql)
  if (!read.ok) return read
  return ok(stopsOfRows(currencies, read.value[0] ?? []))
}

/**
 * The reasons that follow from rows of `standingSql`. The first currency with the symbol counts,
 * because the symbols of a plan are distinct.
 */
export function stopsOfRows(currencies: Config['currencies'], rows: readonly DatabaseRow[]): StopOf {
  const state = readIssuerState(rows as unknown as readonly StandingRow[]) // safe: `standingSql` selects these columns
  return (symbol, text) => {
    const currency = currencies.list.find((one) => one.symbol === symbol)
    const address = parseAddress(text)
    if (currency === undefined || !address.ok) return null
    return (
      stopsOf(state, currency.cuy, address.value)
        .map((stop) => reasons[stop])
        .find((why) => why !== null) ?? null
    )
  }
}
