import { deriveAddress } from '../../worker/addresses/derive.ts'
import { checkKeyUse } from '../../worker/addresses/issue-address.ts'
import { type Address, formatBase58 } from '../../worker/chain/address.ts'
import { balancesMax } from '../../worker/chain/chain.ts'
import { err, ok } from '../../worker/common/result.ts'
import type { Config } from '../../worker/config/config.ts'
import { type Currency, symbolPattern } from '../../worker/ledger/currencies.ts'
import type { SettingDifference } from '../../worker/ledger/stored-settings.ts'
import type { AlarmKind, AlarmSubject } from '../../worker/platform/alarm-table.ts'
import type { LogFields } from '../../worker/platform/logger.ts'
import { readDecimals } from '../../worker/tron/accounts.ts'
import { firstAnswer } from '../../worker/tron/agreement.ts'
import { askOne } from '../../worker/tron/ask.ts'
import { contractCall, parseResult } from '../../worker/tron/json-rpc.ts'
import type { Pool } from '../../worker/tron/node.ts'
import { type Parsed, parseBytes } from '../../worker/tron/parse/fields.ts'
import type { ReadStored, StoredData } from '../database.ts'
import { readUse, sessionOf } from '../node-pool.ts'
import { describeDifference } from '../stored-differences.ts'
import { attempt } from '../tool-error.ts'
import { notCompared } from './advice.ts'
import { nodeMs } from './check-node.ts'
import { type CheckResult, failed, passed, warned } from './check-settings.ts'

/** How many addresses of the key, from index 0, are compared with `OPERATOR_ADDRESSES`. */
const comparedAddressesMax = 100

/** The settings of which the key is checked. */
type KeyConfig = Pick<Config, 'extendedPublicKey' | 'currencies' | 'firstIndex'>

/** How the stored data is read and compared: see `readStored` and `findCellDifferences`. */
export interface StoredParts {
  readonly readStored: ReadStored
  readonly findDifferences: (stored: StoredData) => Promise<readonly SettingDifference[]>
  /** Says whether the database has the migrations of this folder. */
  readonly checkMigrations: (stored: StoredData) => CheckResult
}

/** Compares the configuration with the stored data. `pool` contains only usable nodes. */
export async function* checkStored(
  config: KeyConfig,
  { readStored, findDifferences, checkMigrations }: StoredParts,
  pool: Pool,
): AsyncGenerator<CheckResult, void> {
  const stored = await readStored()
  if (!stored.ok) {
    const { why, next } = stored.error
    yield failed(`${notCompared}: ${why}; ${next}`)
    return
  }
  yield checkMigrations(stored.value)
  const differences = await attempt(() => findDifferences(stored.value))
  if (!differences.ok) {
    const { why, next } = differences.error
    yield failed(`${notCompared}: ${why}; ${next}`)
    return
  }
  yield* compareSettings(stored.value, differences.value)
  const { lastIndex } = stored.value
  const { firstIndex } = config
  if (lastIndex !== null) {
    const effect = firstIndex === null ? '' : '; TRON_FIRST_INDEX has no effect any more'
    yield passed(`addresses: issued up to index ${lastIndex}${effect}`)
  } else if (firstIndex !== null) {
    yield passed(`addresses: none is issued yet, the first one has index ${firstIndex} (TRON_FIRST_INDEX)`)
  } else yield await checkKeyUnused(config, pool)
}

function* compareSettings(
  { settings }: StoredData,
  differences: readonly SettingDifference[],
): Generator<CheckResult, void> {
  for (const difference of differences) {
    const isGone = difference.configured === 'missing' && difference.setting.startsWith('CURRENCIES.')
    const advice = isGone ? '; keep it with retired: true' : ''
    yield failed(`stored data: ${describeDifference(difference)}: nothing would be served${advice}`)
  }
  if (differences.length > 0) return
  const text = settings.length === 0 ? 'none yet' : 'chain, key and currencies are those of the configuration'
  yield passed(`stored data: ${text}`)
}

/**
 * Checks that nobody has used the first addresses of the key, as the service does before it issues
 * the first address of an empty database.
 */
async function checkKeyUnused({ extendedPublicKey, currencies }: KeyConfig, pool: Pool): Promise<CheckResult> {
  const text = 'addresses: none is issued yet'
  let used = ''
  const alarms = {
    raise: async (_: AlarmKind, __: AlarmSubject, { index, cuy }: LogFields) => {
      const currency = currencies.list.find((one) => one.cuy === cuy)
      used = `index ${index} ${currency === undefined ? 'held something' : `holds ${currency.symbol}`}`
    },
  }
  const chain = readUse(sessionOf(pool, nodeMs))
  const addressAt = (index: number) => deriveAddress(extendedPublicKey, index)
  const keyUse = { wasUsed: false, withoutAccount: 0 }
  const found = pool.nodes.length === 0 ? null : await checkKeyUse({ chain, currencies, addressAt, keyUse, alarms })
  if (!found?.ok) return warned(`${text}; whether the key was used before could not be checked`)
  if (used === '') return passed(`${text}, and the first ${balancesMax} addresses of the key hold nothing`)
  return failed(`${text}, but the key was used before: ${used}; restore its database, or set TRON_FIRST_INDEX`)
}

/**
 * Checks the operator's wallets. If one is missing in the configuration, the service would credit
 * to users the TRX that this wallet sends for gas.
 */
export function* checkOperators(
  { operators, extendedPublicKey }: Pick<Config, 'operators' | 'extendedPublicKey'>,
  isDeployment: boolean,
): Generator<CheckResult, void> {
  if (operators.size === 0 && isDeployment) {
    yield warned('operators: without OPERATOR_ADDRESSES, TRX that is sent to a deposit address for gas is credited')
  }
  if (operators.size === 0) return
  const deposits = Array.from({ length: comparedAddressesMax }, (_, index) => deriveAddress(extendedPublicKey, index))
  for (const operator of operators) {
    const name = `operators: ${formatBase58(operator)}`
    if (!deposits.includes(operator)) yield passed(`${name}: what it sends is never credited`)
    else yield failed(`${name} is the deposit address at index ${deposits.indexOf(operator)} of the key`)
  }
}

/** Time limit for all checks of one token. */
const tokenMs = 30_000
/** Characters of a token's own symbol that are printed. */
const symbolCharsMax = 20
const symbolSelector = '0x95d89b41'
const wordDigits = 64

/**
 * Compares a token with its contract: the decimals on which the nodes of `pool` agree, and the
 * symbol that any of them shows.
 */
export async function* checkToken(
  pool: Pool,
  currency: Currency,
  contract: Address,
): AsyncGenerator<CheckResult, void> {
  const name = `token ${currency.symbol} (${formatBase58(contract)})`
  const session = sessionOf(pool, tokenMs)
  const decimals = await readDecimals(session, contract)
  if (!decimals.ok) {
    const why = decimals.error.kind === 'no-answer' ? `: ${decimals.error.why}` : ''
    yield failed(`${name}: decimals could not be read, is there a contract? (${decimals.error.kind})${why}`)
    return
  }
  const isSame = decimals.value === currency.decimals
  const text = `decimals ${decimals.value}, not ${currency.decimals}: no deposit of this token would be credited`
  yield isSame ? passed(`${name}: decimals ${currency.decimals}`) : failed(`${name}: ${text}`)
  const symbol = await firstAnswer(session, 'rpc', (node) =>
    askOne(session, node, contractCall(contract, symbolSelector), (reply) => parseResult(reply, 'symbol', parseSymbol)),
  )
  const { level, text: found } = symbol.ok
    ? compareSymbols(symbol.value, currency.symbol)
    : warned('its symbol could not be read')
  yield { level, text: `${name}: ${found}` }
}

/**
 * Compares the symbol in the contract with the configured one. A difference is only a warning if
 * `CURRENCIES` could not contain the contract's symbol.
 */
function compareSymbols(actual: string, configured: string): CheckResult {
  if (actual === configured) return passed(`symbol ${configured}`)
  const text = `symbol "${actual.replace(/[^\x20-\x7e]/g, '?').slice(0, symbolCharsMax)}", not "${configured}"`
  return symbolPattern.test(actual) ? failed(`${text}: compare the contract with that of the token`) : warned(text)
}

/** Parses an ABI string (offset, length, bytes), or the 32 bytes that some old tokens return. */
function parseSymbol(value: unknown): Parsed<string> {
  const hex = parseBytes(value)?.slice(2)
  if (hex === undefined) return err('not bytes')
  const numberAt = (at: number) => Number(`0x${hex.slice(at, at + wordDigits)}`) // NaN beyond the end
  const isWord = hex.length === wordDigits
  const start = isWord ? 0 : wordDigits + 2 * numberAt(0)
  const length = isWord ? wordDigits : 2 * numberAt(start - wordDigits)
  const bytes = hex.slice(start, start + length)
  if (bytes.length !== length) return err('not an ABI string')
  const text = Buffer.from(bytes, 'hex').toString().replace(/\0+$/, '')
  return text === '' ? err('empty') : ok(text)
}
