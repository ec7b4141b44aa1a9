import { deriveAddress } from '../../addresses/derive.ts'
import type { Address } from '../../chain/address.ts'
import { formatBase58 } from '../../chain/address.ts'
import { balancesMax } from '../../chain/limits.ts'
import type { Config } from '../../config/config.ts'
import { findDifferences, settingsOf } from '../../ledger/stored-setting.ts'
import { findActivated, findHolder } from '../../tron/used-addresses.ts'
import { type CheckResult, failed, passed, warned } from './check-result.ts'
import { type NodeAccess, type NodeUnderTest, nodeMs, openPool } from './node-under-test.ts'
import type { ReadStored, StoredData } from './read-stored.ts'

/** Addresses of the key that are compared with `OPERATOR_ADDRESSES`. */
const comparedAddressesMax = 100

/** What a check of the settings needs that belong to stored data. */
export type StoredSettingsConfig = Pick<Config, 'chainId' | 'extendedPublicKey' | 'currencies' | 'firstIndex'>

/** Compares the configuration with what the stored data means. `nodes` are the usable ones. */
export async function* checkStored(
  config: StoredSettingsConfig,
  readStored: ReadStored,
  access: NodeAccess,
  nodes: readonly NodeUnderTest[],
): AsyncGenerator<CheckResult, void> {
  const stored = await readStored()
  if (!stored.ok) {
    yield warned(`stored data: not compared with the configuration: ${stored.error}`)
    return
  }
  yield* compareSettings(config, stored.value)
  const { lastIndex } = stored.value
  const { firstIndex } = config
  if (lastIndex !== null) {
    const effect = firstIndex === null ? '' : '; TRON_FIRST_INDEX has no effect any more'
    yield passed(`addresses: issued up to index ${lastIndex}${effect}`)
  } else if (firstIndex !== null) {
    yield passed(`addresses: none is issued yet, the first one has index ${firstIndex} (TRON_FIRST_INDEX)`)
  } else yield await checkKeyUnused(config, access, nodes)
}

function* compareSettings(config: StoredSettingsConfig, { settings }: StoredData): Generator<CheckResult, void> {
  const { chainId, extendedPublicKey, currencies } = config
  const own = settingsOf(chainId, deriveAddress(extendedPublicKey, 0), currencies)
  const differences = findDifferences(own, settings)
  for (const { setting, stored, configured } of differences) {
    const advice = configured === 'missing' ? '; keep it with retired: true' : ''
    yield failed(`stored data: ${setting} is "${configured}", stored is "${stored}": nothing would be served${advice}`)
  }
  if (differences.length > 0) return
  const text = settings.length === 0 ? 'none yet' : 'chain, key and currencies are those of the configuration'
  yield passed(`stored data: ${text}`)
}

/** Asks the nodes as the service does before it issues the first address of an empty database. */
async function checkKeyUnused(
  { extendedPublicKey, currencies }: StoredSettingsConfig,
  access: NodeAccess,
  nodes: readonly NodeUnderTest[],
): Promise<CheckResult> {
  const text = 'addresses: none is issued yet'
  const first = Array.from({ length: balancesMax }, (_, index) => deriveAddress(extendedPublicKey, index))
  const unknown = warned(`${text}; whether the key was used before could not be checked`)
  const used = (index: number, what: string) =>
    failed(
      `${text}, but the key was used before: index ${index} ${what}; restore its database, or set TRON_FIRST_INDEX`,
    )
  if (nodes.length === 0) return unknown
  for (const { asset, symbol } of currencies.list) {
    const holder = await findHolder(openPool(access, nodes, nodeMs), first, asset)
    if (!holder.ok) return unknown
    if (holder.value !== null) return used(holder.value, `holds ${symbol}`)
  }
  const activated = await findActivated(openPool(access, nodes, nodeMs), first)
  if (!activated.ok) return unknown
  if (activated.value !== null) return used(activated.value, 'held something')
  return passed(`${text}, and the first ${balancesMax} addresses of the key hold nothing`)
}

/** The operator's own wallets. Without them, TRX for gas would be the users'. */
export function* checkOperators(
  { operators, extendedPublicKey }: Pick<Config, 'operators' | 'extendedPublicKey'>,
  isDeployment: boolean,
): Generator<CheckResult, void> {
  const issued = new Map<Address, number>()
  if (operators.size === 0) {
    const text = 'operators: without OPERATOR_ADDRESSES, TRX that is sent to a deposit address for gas is credited'
    if (isDeployment) yield warned(text)
    return
  }
  for (let i = 0; i < comparedAddressesMax; i += 1) issued.set(deriveAddress(extendedPublicKey, i), i)
  for (const operator of operators) {
    const index = issued.get(operator)
    const name = `operators: ${formatBase58(operator)}`
    if (index === undefined) yield passed(`${name}: what it sends is never credited`)
    else yield failed(`${name} is the deposit address at index ${index} of the key`)
  }
}
