import { assetsSchema } from '../../config/chain.ts'
import { parseBindings } from '../../config/schemas.ts'
import { decimalsSetting, settingOf } from '../../ledger/stored-settings.ts'
import { readConfiguration } from '../configuration.ts'
import { queryDatabase, quoted, readDatabase } from '../database.ts'
import { orStop, ToolError } from '../tool-error.ts'
import { type Options, readOption, type Work } from './options.ts'

/**
 * `currency`: stores the decimals that `CURRENCIES` has for a token, in place of wrong ones that the database remembers. A trigger
 * refuses any other change, and also this one once a deposit of it was credited. Held deposits are decided by the new ones.
 */
export function correctCurrency(options: Options): Work {
  const cuy = Number(readOption(options, 'cuy', /^\d{1,7}$/, 'the number of a currency in CURRENCIES'))
  return async (env) => {
    const assets = parseBindings(assetsSchema, orStop(readConfiguration(env, process.env)).values)
    if (!assets.ok) throw new ToolError(assets.error.join('; '))
    const currency = assets.value.currencies.list.find((one) => one.cuy === cuy)
    if (currency === undefined) throw new ToolError(`CURRENCIES has no currency ${cuy}`)
    const { asset, decimals } = currency
    const { name, value } = settingOf(currency)
    const ofName = (setting: string) => `SELECT value FROM stored_setting WHERE name = ${quoted(setting)}`
    const agreedName = asset.kind === 'trc20' ? decimalsSetting(asset.contract) : ''
    const [[row] = [], [agreed] = []] = orStop(await readDatabase(env, ofName(name), ofName(agreedName)))
    if (row === undefined) {
      throw new ToolError(`nothing is stored of currency ${cuy}: what CURRENCIES says is used as it is`)
    }
    if (row.value === value) throw new ToolError(`currency ${cuy} is stored as it is configured: ${value}`)
    // What was agreed is never asked again: with other decimals everything of it would be held for good.
    if (agreed !== undefined && Number(agreed.value) !== decimals) {
      const differ = `${agreed.value} decimals of currency ${cuy}, not ${decimals}`
      throw new ToolError(`nodes have agreed on ${differ}: CURRENCIES is wrong now`)
    }
    const [, scale] = / scale (\d+)$/.exec(String(row.value)) ?? []
    const advice = currency.scale === Number(scale) ? '' : `; name "scale": ${scale} beside its decimals, which stays`
    const isStored = `name = ${quoted(name)} AND value = ${quoted(String(row.value))}`
    const done = await queryDatabase(env, `UPDATE stored_setting SET value = ${quoted(value)} WHERE ${isStored}`)
    orStop(done, `; stored is "${row.value}", configured is "${value}"${advice}`)
    return `Currency ${cuy} was stored as "${row.value}", and is "${value}" now. Deploy this configuration next.`
  }
}
