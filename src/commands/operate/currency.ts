import { assetsSchema } from '../../worker/config/chain.ts'
import { parseBindings } from '../../worker/config/schemas.ts'
import { type CurrencyMeaning, meaningOfCurrency, settingOf } from '../../worker/ledger/stored-settings.ts'
import { queryDatabase, quoted, readDatabase } from '../database.ts'
import { commandIn } from '../place.ts'
import { orRefuse, ToolError } from '../tool-error.ts'
import { type Options, readOption, type Work } from './options.ts'

/**
 * `currency`: replaces the wrong decimals of a token in the database by those in `CURRENCIES`. A
 * trigger refuses to change anything else. It also refuses to change the decimals after a deposit
 * of the token was credited, or while a payout of the token is open. Held deposits are then decided
 * by the new decimals.
 */
export function correctCurrency(options: Options): Work {
  const cuy = Number(readOption(options, 'cuy', /^\d{1,7}$/, 'the number of a currency in CURRENCIES'))
  return async ({ place, values }) => {
    const assets = parseBindings(assetsSchema, values)
    if (!assets.ok)
      throw new ToolError(
        assets.error.join('; '),
        'correct these settings in wrangler.toml; docs/guides/settings.md says what they take',
      )
    const currency = assets.value.currencies.list.find((one) => one.cuy === cuy)
    if (currency === undefined) {
      const known = assets.value.currencies.list.map((one) => `${one.cuy} (${one.symbol})`).join(', ')
      throw new ToolError(`CURRENCIES has no currency ${cuy}`, `give --cuy one of ${known}, or add it to CURRENCIES`)
    }
    const meaning = meaningOfCurrency(currency)
    const { contract, decimals, scale } = meaning
    const [[row] = [], [agreed] = []] = orRefuse(
      await readDatabase(
        place,
        `SELECT cuy, contract, decimals, scale FROM stored_currency WHERE cuy = ${cuy}`,
        `SELECT decimals FROM agreed_decimals WHERE contract = ${quoted(contract ?? '')}`,
      ),
    )
    if (row === undefined) {
      throw new ToolError(`nothing is stored of currency ${cuy}`, 'deploy: what CURRENCIES says is used as it is')
    }
    const stored = row as unknown as CurrencyMeaning // safe: the columns of the statement
    const [before, value] = [stored, meaning].map((one) => settingOf(one).value)
    if (before === value) {
      const next = `nothing has to be corrected; if the contract has other decimals, correct CURRENCIES first ("${commandIn(place, 'doctor')}" shows both)`
      throw new ToolError(`currency ${cuy} is stored as it is configured: ${value}`, next)
    }
    // Decimals on which nodes have agreed are stored, and nodes are never asked again. If other
    // decimals were configured, every deposit would be held for good.
    if (agreed !== undefined && agreed.decimals !== decimals) {
      const differ = `${agreed.decimals} decimals of currency ${cuy}, not ${decimals}`
      throw new ToolError(
        `nodes have agreed on ${differ}`,
        `set "decimals": ${agreed.decimals} in CURRENCIES: it is wrong now`,
      )
    }
    const valuesOf = (one: CurrencyMeaning) =>
      `(${one.contract === null ? 'NULL' : quoted(one.contract)}, ${one.decimals}, ${one.scale})`
    const isStored = `cuy = ${cuy} AND (contract, decimals, scale) IS ${valuesOf(stored)}`
    const done = await queryDatabase(
      place,
      `UPDATE stored_currency SET (contract, decimals, scale) = ${valuesOf(meaning)} WHERE ${isStored}`,
    )
    if (!done.ok) {
      const { why, next } = done.error
      const ofScale = `name "scale": ${stored.scale} beside its decimals in CURRENCIES, since the scale stays`
      const differ = `${why}; stored is "${before}", configured is "${value}"`
      throw new ToolError(differ, scale === stored.scale ? next : ofScale)
    }
    return `Currency ${cuy} was stored as "${before}", and is "${value}" now. Deploy this configuration next.`
  }
}
