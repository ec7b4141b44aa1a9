import { err, ok, type Result } from '../../common/result.ts'
import { assetsSchema } from '../../config/chain.ts'
import { parseBindings } from '../../config/schemas.ts'
import { decimalsSetting, settingOf } from '../../ledger/stored-settings.ts'
import { readConfiguration } from '../configuration.ts'
import { queryDatabase, quoted, readDatabase } from '../database.ts'

/** The currency that is typed, by its number in `CURRENCIES`, or one sentence: what is wrong with it. */
export function parseCurrencyId({ cuy = '' }: { readonly cuy?: string | undefined }): Result<number, string> {
  return /^\d{1,7}$/.test(cuy) ? ok(Number(cuy)) : err('--cuy: the number of a currency in CURRENCIES')
}

/**
 * Stores the decimals that `CURRENCIES` has for a token, in place of wrong ones that the database remembers. A trigger refuses
 * any other change, and also this one once a deposit of it was credited. Held deposits are decided by the new ones.
 */
export async function correctCurrency(cuy: number, env: string | undefined): Promise<Result<string, string>> {
  const source = readConfiguration(env, process.env)
  if (!source.ok) return source
  const assets = parseBindings(assetsSchema, source.value.values)
  if (!assets.ok) return err(assets.error.join('; '))
  const currency = assets.value.currencies.list.find((one) => one.cuy === cuy)
  if (currency === undefined) return err(`CURRENCIES has no currency ${cuy}`)
  const { asset, decimals } = currency
  const { name, value } = settingOf(currency)
  const ofName = (setting: string) => `SELECT value FROM stored_setting WHERE name = ${quoted(setting)}`
  const agreedName = asset.kind === 'trc20' ? decimalsSetting(asset.contract) : ''
  const stored = await readDatabase(env, ofName(name), ofName(agreedName))
  if (!stored.ok) return stored
  const [[row] = [], [agreed] = []] = stored.value
  if (row === undefined) return err(`nothing is stored of currency ${cuy}: what CURRENCIES says is used as it is`)
  if (row.value === value) return err(`currency ${cuy} is stored as it is configured: ${value}`)
  // What was agreed is never asked again: with other decimals everything of it would be held for good.
  if (agreed !== undefined && Number(agreed.value) !== decimals) {
    return err(
      `nodes have agreed on ${agreed.value} decimals of currency ${cuy}, not ${decimals}: CURRENCIES is wrong now`,
    )
  }
  const done = await queryDatabase(
    env,
    `UPDATE stored_setting SET value = ${quoted(value)} WHERE name = ${quoted(name)} AND value = ${quoted(String(row.value))}`,
  )
  const [, scale] = / scale (\d+)$/.exec(String(row.value)) ?? []
  const advice = currency.scale === Number(scale) ? '' : `; name "scale": ${scale} beside its decimals, which stays`
  if (!done.ok) return err(`${done.error}; stored is "${row.value}", configured is "${value}"${advice}`)
  return ok(`Currency ${cuy} was stored as "${row.value}", and is "${value}" now. Deploy this configuration next.`)
}
