import { assetsSchema } from '../../worker/config/chain.ts'
import { parseBindings } from '../../worker/config/schemas.ts'
import { decimalsSetting, settingOf } from '../../worker/ledger/stored-settings.ts'
import { queryDatabase, quoted, readDatabase } from '../database.ts'
import { commandIn } from '../place.ts'
import { orRefuse, ToolError } from '../tool-error.ts'
import { type Options, readOption, type Work } from './options.ts'

/**
 * `currency`: replaces the wrong decimals of a token in the database by those in `CURRENCIES`. A trigger refuses to change anything else. It also refuses to
 * change the decimals after a deposit of the token was credited, or while a payout of the token is open. Held deposits are then decided by the new decimals.
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
    const { asset, decimals } = currency
    const { name, value } = settingOf(currency)
    const ofName = (setting: string) => `SELECT value FROM stored_setting WHERE name = ${quoted(setting)}`
    const agreedName = asset.kind === 'trc20' ? decimalsSetting(asset.contract) : ''
    const [[row] = [], [agreed] = []] = orRefuse(await readDatabase(place, ofName(name), ofName(agreedName)))
    if (row === undefined) {
      throw new ToolError(`nothing is stored of currency ${cuy}`, 'deploy: what CURRENCIES says is used as it is')
    }
    if (row.value === value) {
      const next = `nothing has to be corrected; if the contract has other decimals, correct CURRENCIES first ("${commandIn(place, 'doctor')}" shows both)`
      throw new ToolError(`currency ${cuy} is stored as it is configured: ${value}`, next)
    }
    // Decimals on which nodes have agreed are stored, and nodes are never asked again. If other decimals were configured, every deposit would be held for good.
    if (agreed !== undefined && Number(agreed.value) !== decimals) {
      const differ = `${agreed.value} decimals of currency ${cuy}, not ${decimals}`
      throw new ToolError(
        `nodes have agreed on ${differ}`,
        `set "decimals": ${agreed.value} in CURRENCIES: it is wrong now`,
      )
    }
    const [, scale] = / scale (\d+)$/.exec(String(row.value)) ?? []
    const isStored = `name = ${quoted(name)} AND value = ${quoted(String(row.value))}`
    const done = await queryDatabase(place, `UPDATE stored_setting SET value = ${quoted(value)} WHERE ${isStored}`)
    if (!done.ok) {
      const { why, next } = done.error
      const ofScale = `name "scale": ${scale} beside its decimals in CURRENCIES, since the scale stays`
      const differ = `${why}; stored is "${row.value}", configured is "${value}"`
      throw new ToolError(differ, currency.scale === Number(scale) ? next : ofScale)
    }
    return `Currency ${cuy} was stored as "${row.value}", and is "${value}" now. Deploy this configuration next.`
  }
}
